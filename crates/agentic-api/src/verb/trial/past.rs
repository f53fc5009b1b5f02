//! What runs have cost so far: for the plan of the next trial.

use agentic_model::Value;
use agentic_session::trial::KnownTrials;

use super::recorded::recorded_result;
use crate::{Caller, Refusal};

/// Returns what a run costs on average, by the runs of earlier trials with one of these behaviours;
/// nothing where none told.
pub(super) fn cost_of_runs(
    caller: &Caller<'_>,
    known: &KnownTrials,
    cids: &[String],
) -> Result<Option<f64>, Refusal> {
    let (mut n_runs, mut cost) = (0_usize, 0.0);
    for trial in known.all() {
        if !trial.is_here || !trial.arms().any(|arm| cids.iter().any(|cid| cid == arm)) {
            continue;
        }
        let Some(result) = recorded_result(caller, &trial.agent)? else { continue };
        let blocks = result.get("blocks").and_then(Value::as_list).unwrap_or_default();
        for block in blocks {
            let runs = block.get("runs").and_then(Value::as_list).unwrap_or_default();
            let known = block.get("unpriced").and_then(Value::as_int) == Some(0);
            let spent = block.get("cost").and_then(Value::as_number).unwrap_or_default();
            if known && spent > 0.0 {
                n_runs += runs.len();
                cost += spent;
            }
        }
    }
    Ok((n_runs > 0).then(|| cost / n_runs as f64))
}
