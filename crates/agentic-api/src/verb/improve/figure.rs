//! What came of a trial, as the session of an improvement and whoever decides are told it.

use agentic_model::{Object, Value};
use agentic_session::trial::{TrialTally, differences_by_task};

use crate::verb::trial::SpentCost;
use crate::view::TrialView;

/// How many tasks are named that went better, and that went worse.
const EXAMPLES_MAX: usize = 5;

/// What an improvement tells besides what its trial found.
#[derive(Debug, Clone, Copy)]
pub(super) struct ImproveFigures {
    /// By which examples are chosen.
    pub seed: i64,
    /// What it cost to have the version proposed.
    pub model: SpentCost,
}

/// Tells what came of a trial.
pub(super) fn told(view: &TrialView, trial: &Object, of: ImproveFigures) -> Value {
    let ImproveFigures { seed, model } = of;
    let blocks = trial.map().get("blocks").and_then(Value::as_list).unwrap_or_default();
    let differences = differences_by_task(blocks, 1);
    let better = differences.iter().filter(|(_, difference)| **difference > 0.0);
    let worse = differences.iter().filter(|(_, difference)| **difference < 0.0);
    let tally = TrialTally::of(&Value::Map(trial.map().clone()));
    let warnings = tally.warnings(u32::try_from(view.attempt).unwrap_or(u32::MAX));
    Value::map([
        ("cid", view.cid.as_deref().map_or(Value::Null, Value::text)),
        ("verdict", Value::text(view.verdict.as_deref().unwrap_or_default())),
        ("figures", Value::text(figures(view))),
        ("cost", Value::text(cost(view, model))),
        ("warnings", Value::List(warnings.into_iter().map(Value::text).collect())),
        ("better", examples(better.collect(), seed)),
        ("worse", examples(worse.collect(), seed)),
    ])
}

fn figures(view: &TrialView) -> String {
    let figures = &view.figures;
    let number = |it: Option<f64>| it.map_or("?".to_owned(), |it| format!("{it:.3}"));
    format!(
        "difference {} ({} … {}), p {} at α {:.4}, trial number {} with a version in force, {} blocks of {} tasks, scores given with a network in reach {}",
        number(figures.difference),
        number(figures.low),
        number(figures.high),
        number(figures.p),
        view.alpha,
        view.attempt,
        view.blocks,
        figures.tasks,
        view.open_scores
    )
}

/// Says what the model that proposed has cost, and the runs of the trial.
fn cost(view: &TrialView, model: SpentCost) -> String {
    let part = |cost: f64, n_unpriced: u64| match n_unpriced {
        0 => format!("{cost:.4}"),
        1 => format!("{cost:.4} and a call without a price"),
        n => format!("{cost:.4} and {n} calls without a price"),
    };
    let (model, trial) = (part(model.cost, model.n_unpriced), part(view.cost, view.unpriced));
    format!("of the proposal {model}, of the trial {trial}")
}

/// Chooses some tasks by the seed, and says by how much they went otherwise.
fn examples(mut all: Vec<(&i64, &f64)>, seed: i64) -> Value {
    let mut chosen = Vec::new();
    let mut state = seed.unsigned_abs();
    while !all.is_empty() && chosen.len() < EXAMPLES_MAX {
        // Any sequence will do that the seed gives alike each time.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = usize::try_from(state >> 33).unwrap_or(0) % all.len();
        let (task, difference) = all.remove(at);
        chosen.push(Value::text(format!("task {task}: {difference:+.3}")));
    }
    Value::List(chosen)
}
