//! What came of a trial, as the session of an improvement and whoever decides are told it.

use agentic_model::{Object, Value};

use crate::verb::trial::differences_by_task;
use crate::view::TrialView;

/// How many tasks are named that went better, and that went worse.
const EXAMPLES_MAX: usize = 5;

/// Tells what came of a trial.
pub(super) fn told(view: &TrialView, trial: &Object, seed: i64) -> Value {
    let blocks = trial.map().get("blocks").and_then(Value::as_list).unwrap_or_default();
    let differences = differences_by_task(blocks, 1);
    let better = differences.iter().filter(|(_, difference)| **difference > 0.0);
    let worse = differences.iter().filter(|(_, difference)| **difference < 0.0);
    Value::map([
        ("cid", view.cid.as_deref().map_or(Value::Null, Value::text)),
        ("verdict", Value::text(view.verdict.as_deref().unwrap_or_default())),
        ("figures", Value::text(figures(view))),
        ("warnings", Value::List(warnings(view).into_iter().map(Value::text).collect())),
        ("better", examples(better.collect(), seed)),
        ("worse", examples(worse.collect(), seed)),
    ])
}

fn figures(view: &TrialView) -> String {
    let number = |it: Option<f64>| it.map_or("?".to_owned(), |it| format!("{it:.3}"));
    format!(
        "difference {} ({} … {}), p {} at α {:.4}, trial number {} with a version in force, {} blocks of {} tasks, cost {:.4}",
        number(view.difference),
        number(view.low),
        number(view.high),
        number(view.p),
        view.alpha,
        view.attempt,
        view.blocks,
        view.tasks,
        view.cost
    )
}

fn warnings(view: &TrialView) -> Vec<String> {
    let mut warnings = Vec::new();
    if view.attempt > 1 {
        warnings.push(format!("this is attempt number {}", view.attempt));
    }
    if view.dropped > 0 {
        warnings.push(format!("{} blocks were dropped", view.dropped));
    }
    if view.tampered > 0 {
        warnings.push(format!("{} runs touched what is protected", view.tampered));
    }
    warnings
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
