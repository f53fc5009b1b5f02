//! What a run cost, as its models told: each call counts once.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use agentic_query::QueryValue;
use agentic_session::SessionSpace;

use crate::verb::{AskQuery, QueryOutcome};
use crate::{Caller, Refusal};

/// Every call of a model, with what it cost where that is known.
const CALLS: &str = "? usage(agent: A, at: T, trace: E, request: R, n: N, cost: C).";

/// What calls of models cost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct SpentCost {
    /// What is known of it.
    pub cost: f64,
    /// Of how many calls it is not known.
    pub n_unpriced: u64,
}

/// Sums what was spent in a repository.
pub(super) fn spent_in(space: &SessionSpace, folder: &Path) -> Result<SpentCost, Refusal> {
    let query = AskQuery { text: CALLS.to_owned(), ..AskQuery::default() };
    let outcome = query.ask(&Caller::new(space, folder), &AtomicBool::new(false))?;
    let QueryOutcome::Answered(answered) = outcome else {
        return Err(Refusal::refused("BUG: costs cannot be asked for", "tell us of this"));
    };
    let mut spent = SpentCost::default();
    for row in answered.report.answers.iter().flat_map(|answer| &answer.rows) {
        match row.last() {
            Some(QueryValue::Float(cost)) => spent.cost += cost,
            Some(QueryValue::Int(cost)) => spent.cost += *cost as f64,
            Some(QueryValue::Null | QueryValue::Bool(_) | QueryValue::Text(_)) | None => {
                spent.n_unpriced += 1;
            }
        }
    }
    Ok(spent)
}
