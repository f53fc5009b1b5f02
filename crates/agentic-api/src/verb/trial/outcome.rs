//! What the runs of a trial say: one difference a task, since runs of one task resemble each other.

use std::collections::BTreeMap;

use agentic_model::{Object, Value};
use agentic_statistics::sign_test;
use agentic_statistics::trial::{TrialVerdict, better_p, flip_interval};

use crate::view::TrialView;

/// Which share of blocks may be dropped, and by how much arms may differ in what they lost.
const DROPPED_MAX: f64 = 0.1;
const LOST_APART_MAX: f64 = 0.05;

/// One run, as far as it counts.
struct CountedRun {
    arm: usize,
    score: Option<f64>,
    is_unscored: bool,
    is_tampered: bool,
}

/// Judges a trial by what its session gave; without that, says what was fixed before.
pub(super) fn judged(name: &str, briefing: &Object, result: Option<&Value>) -> TrialView {
    let field = |name: &str| briefing.map().get(name);
    let arms = field("arms").and_then(Value::as_list).unwrap_or_default();
    let alpha = field("alpha").and_then(real).unwrap_or_default();
    let mut view = TrialView {
        name: name.to_owned(),
        arms: arms.iter().filter_map(Value::as_text).map(str::to_owned).collect(),
        attempt: field("attempt").and_then(Value::as_int).unwrap_or(1),
        alpha,
        state: String::new(),
        session: None,
        cid: None,
        blocks: 0,
        dropped: 0,
        tampered: 0,
        tasks: 0,
        difference: None,
        low: None,
        high: None,
        p: None,
        sign_p: None,
        verdict: None,
    };
    if let Some(blocks) = result.and_then(|result| result.get("blocks")?.as_list()) {
        judge(&mut view, blocks);
    }
    view
}

fn judge(view: &mut TrialView, blocks: &[Value]) {
    view.blocks = blocks.len();
    let mut lost = [0.0_f64; 2];
    let mut by_task: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
    let lowest = blocks.iter().flat_map(runs).filter_map(|run| run.score).reduce(f64::min);
    for block in blocks {
        let runs = runs(block);
        view.tampered += runs.iter().filter(|run| run.is_tampered).count();
        for run in runs.iter().filter(|run| run.is_unscored) {
            lost[run.arm] += 1.0;
        }
        if block.get("counted").and_then(Value::as_bool) != Some(true) {
            view.dropped += 1;
            continue;
        }
        // A run that failed has the lowest score: it is no hole.
        let score = |arm: usize| {
            let run = runs.iter().find(|run| run.arm == arm)?;
            run.score.or(lowest).or(Some(0.0))
        };
        let task = block.get("task").and_then(Value::as_int).unwrap_or(0);
        if let (Some(first), Some(second)) = (score(0), score(1)) {
            by_task.entry(task).or_default().push(second - first);
        }
    }
    let mean = |values: &Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    let differences: Vec<f64> = by_task.values().map(mean).collect();
    view.tasks = differences.len();
    let n = blocks.len().max(1) as f64;
    let is_lossy =
        view.dropped as f64 / n > DROPPED_MAX || (lost[0] - lost[1]).abs() / n > LOST_APART_MAX;
    let seed = u64::try_from(view.blocks).unwrap_or(0);
    view.p = better_p(&differences, seed);
    view.sign_p = sign_test(&differences);
    if !differences.is_empty() {
        view.difference = Some(mean(&differences));
    }
    let interval = flip_interval(&differences, 0.05, seed);
    let finite = |end: f64| Some(end).filter(|end| end.is_finite());
    (view.low, view.high) = interval.map_or((None, None), |it| (finite(it.low), finite(it.high)));
    let opposite: Vec<f64> = differences.iter().map(|one| -one).collect();
    let worse_p = better_p(&opposite, seed);
    let is_sure = |p: Option<f64>| p.is_some_and(|p| p <= view.alpha);
    let verdict = match (is_lossy || differences.is_empty(), is_sure(view.p), is_sure(worse_p)) {
        (true, _, _) => TrialVerdict::Inconclusive,
        (false, true, _) => TrialVerdict::Better,
        (false, false, true) => TrialVerdict::Worse,
        (false, false, false) => TrialVerdict::NoDifference,
    };
    view.verdict = Some(verdict.word().to_owned());
}

fn runs(block: &Value) -> Vec<CountedRun> {
    let run = |run: &Value| {
        let why = run.get("why").and_then(Value::as_text).unwrap_or_default();
        Some(CountedRun {
            arm: usize::try_from(run.get("arm")?.as_int()?).ok().filter(|arm| *arm < 2)?,
            score: run.get("score").and_then(real),
            is_unscored: why.starts_with("unscored"),
            is_tampered: why.starts_with("tampered"),
        })
    };
    let list = block.get("runs").and_then(Value::as_list).unwrap_or_default();
    list.iter().filter_map(run).collect()
}

fn real(value: &Value) -> Option<f64> {
    if let Value::Float(number) = value { Some(*number) } else { value.as_int().map(|n| n as f64) }
}
