//! What a run cost, as its models told: each call counts once.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use agentic_model::AgentName;
use agentic_query::QueryValue;
use agentic_session::SessionSpace;

use crate::verb::{AskQuery, QueryOutcome};
use crate::{Caller, Refusal};

/// Every call of a model, with what it cost where that is known.
const CALLS: &str = "? usage(agent: A, at: T, trace: E, request: R, n: N, cost: C).";
/// Those of one agent.
const CALLS_OF: &str =
    "param $agent: text. ? usage(agent: $agent, at: T, trace: E, request: R, n: N, cost: C).";

/// What calls of models cost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct SpentCost {
    /// What is known of it.
    pub cost: f64,
    /// Of how many calls it is not known.
    pub n_unpriced: u64,
}

/// Sums what was spent in a repository.
pub(super) fn spent_in(space: &SessionSpace, folder: &Path) -> Result<SpentCost, Refusal> {
    let query = AskQuery { text: CALLS.to_owned(), ..AskQuery::default() };
    summed(&Caller::new(space, folder), &query)
}

/// Sums what was spent for an agent.
pub(crate) fn spent_for(caller: &Caller<'_>, agent: &AgentName) -> Result<SpentCost, Refusal> {
    let params = BTreeMap::from([("agent".to_owned(), agent.to_string())]);
    summed(caller, &AskQuery { text: CALLS_OF.to_owned(), params, ..AskQuery::default() })
}

fn summed(caller: &Caller<'_>, query: &AskQuery) -> Result<SpentCost, Refusal> {
    let outcome = query.ask(caller, &AtomicBool::new(false))?;
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
