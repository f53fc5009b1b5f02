//! What people decided, by program and place in it: a rule that ships says it.

use agentic_query::QueryValue;

use super::case_facts::{number, real};
use super::cases::ask;
use super::holds::text;
use crate::shipped::ShippedRules;
use crate::view::HoldPlaceView;
use crate::{Caller, Refusal};

/// The name of the rule.
const RULE: &str = "hold-outcomes";

/// Asks it.
pub(super) fn holds_by_place(
    caller: &Caller<'_>,
    left_out: &mut Vec<String>,
) -> Result<Vec<HoldPlaceView>, Refusal> {
    let rule = ShippedRules::find(RULE).expect("BUG: the rule of holds ships");
    let rows = ask(caller, rule.text, left_out)?.into_iter().flatten();
    Ok(rows.filter_map(|row| view(&row)).collect())
}

fn view(row: &[QueryValue]) -> Option<HoldPlaceView> {
    let [flow, path, approved, rejected, open, wait] = row else { return None };
    let whole = |value| number(value).unwrap_or_default();
    Some(HoldPlaceView {
        behaviour: text(flow).to_owned(),
        path: text(path).to_owned(),
        approved: whole(approved),
        rejected: whole(rejected),
        open: whole(open),
        wait_ms: real(wait).unwrap_or_default(),
    })
}
