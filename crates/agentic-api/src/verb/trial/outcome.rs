//! What a trial came to: one difference a task, judged as often as was fixed before.

use std::collections::BTreeMap;

use agentic_model::{Object, Value};
use agentic_statistics::sign_test;
use agentic_statistics::trial::{TrialLooks, TrialVerdict, better_p, flip_interval};

use super::fixed::FIXED;
use crate::view::{TrialArmView, TrialView};

/// Which share of blocks may be dropped, and by how much arms may differ in what they lost.
const DROPPED_MAX: f64 = 0.1;
const LOST_APART_MAX: f64 = 0.05;
/// How often intervals may mislead, all of them together.
const INTERVAL_ALPHA: f64 = 0.05;

/// What of a trial was fixed that its judgement goes by.
#[derive(Debug, Clone)]
pub(super) struct TrialTerms {
    /// The behaviours, the one that was there first.
    pub arms: Vec<String>,
    /// How often it may mislead.
    pub alpha: f64,
    n_looks: usize,
    n_blocks: usize,
    seed: u64,
}

/// How a trial stands, by the last look that was reached.
#[derive(Debug, Clone)]
pub(super) struct JudgedTrial {
    /// The look.
    pub look: usize,
    /// How often it might mislead, each arm by itself.
    pub bound: f64,
    /// Each behaviour but the first, against that.
    pub arms: Vec<JudgedArm>,
    /// What all of them say together.
    pub verdict: TrialVerdict,
}

/// One behaviour against the one that was there.
#[derive(Debug, Clone)]
pub(super) struct JudgedArm {
    differences: Vec<f64>,
    p: Option<f64>,
    verdict: TrialVerdict,
}

/// One run, as far as it counts.
struct CountedRun {
    arm: usize,
    score: Option<f64>,
    outcome: RunOutcome,
}

/// What a run counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunOutcome {
    /// With a score, or as one that failed.
    Counted,
    /// As one that failed, for it touched what is protected.
    Tampered,
    /// For nothing: it was lost, or nobody could score it.
    Lost,
}

impl TrialTerms {
    /// Reads them from the briefing of a trial's agent.
    pub fn of(briefing: &Object) -> TrialTerms {
        TrialTerms::of_fixed(briefing.map().get(FIXED))
    }

    /// Reads them from what was fixed.
    pub fn of_fixed(fixed: Option<&Value>) -> TrialTerms {
        let field = |name: &str| fixed.and_then(|fixed| fixed.get(name));
        let whole = |name: &str| {
            let number = field(name).and_then(Value::as_int);
            number.and_then(|number| usize::try_from(number).ok()).unwrap_or(1)
        };
        let list = |name: &str| field(name).and_then(Value::as_list).unwrap_or_default();
        TrialTerms {
            arms: list("arms").iter().filter_map(Value::as_text).map(str::to_owned).collect(),
            alpha: field("alpha").and_then(Value::as_number).unwrap_or_default(),
            n_looks: whole("looks"),
            n_blocks: list("tasks").len().saturating_mul(whole("runs")),
            seed: field("seed").and_then(Value::as_int).unwrap_or(0).unsigned_abs(),
        }
    }

    /// Returns by how many behaviours something is shared that may mislead.
    fn n_compared(&self) -> usize {
        self.arms.len().saturating_sub(1).max(1)
    }

    /// Makes them as sure as trials that are known later want it.
    pub fn with_alpha(self, alpha: f64) -> TrialTerms {
        TrialTerms { alpha, ..self }
    }

    fn looks(&self) -> TrialLooks {
        let alpha = self.alpha / self.n_compared() as f64;
        TrialLooks { alpha, n_looks: self.n_looks }
    }

    /// Judges blocks, at each look that they reach, until one says better or worse. Nothing where they
    /// reach none.
    pub fn judge(&self, blocks: &[Value]) -> Option<JudgedTrial> {
        let looks = self.looks();
        let mut judged: Option<JudgedTrial> = None;
        for look in 1..=self.n_looks {
            let n_seen = looks.n_blocks_at(look, self.n_blocks);
            let Some(seen) = blocks.get(..n_seen).filter(|seen| !seen.is_empty()) else { break };
            let found = self.judge_at(seen, look, looks.alpha_at(look));
            let is_over = matches!(found.verdict, TrialVerdict::Better | TrialVerdict::Worse);
            judged = Some(found);
            if is_over {
                break;
            }
        }
        judged
    }

    fn judge_at(&self, blocks: &[Value], look: usize, bound: f64) -> JudgedTrial {
        // Where too much was lost nothing can be concluded, however sure the figures are.
        let bound_of_arms = Some(bound).filter(|_| !self.is_lossy(blocks));
        let judge = |arm| self.judge_arm(differences(blocks, arm), bound_of_arms);
        let arms: Vec<JudgedArm> = (1..self.arms.len()).map(judge).collect();
        let all = |verdict| !arms.is_empty() && arms.iter().all(|arm| arm.verdict == verdict);
        let verdict = if arms.iter().any(|arm| arm.verdict == TrialVerdict::Better) {
            TrialVerdict::Better
        } else if all(TrialVerdict::Worse) {
            TrialVerdict::Worse
        } else if all(TrialVerdict::Inconclusive) {
            TrialVerdict::Inconclusive
        } else {
            TrialVerdict::NoDifference
        };
        JudgedTrial { look, bound, arms, verdict }
    }

    /// Judges by one difference a task; without a bound nothing is concluded.
    fn judge_arm(&self, differences: Vec<f64>, bound: Option<f64>) -> JudgedArm {
        let p = better_p(&differences, self.seed);
        let opposite: Vec<f64> = differences.iter().map(|one| -one).collect();
        let is_sure = |p: Option<f64>, bound: f64| p.is_some_and(|p| p <= bound);
        let verdict = match bound.filter(|_| !differences.is_empty()) {
            None => TrialVerdict::Inconclusive,
            Some(bound) if is_sure(p, bound) => TrialVerdict::Better,
            Some(bound) if is_sure(better_p(&opposite, self.seed), bound) => TrialVerdict::Worse,
            Some(_) => TrialVerdict::NoDifference,
        };
        JudgedArm { differences, p, verdict }
    }

    /// Says whether too much was lost for anything to be concluded.
    fn is_lossy(&self, blocks: &[Value]) -> bool {
        let n = blocks.len().max(1) as f64;
        let n_dropped = blocks.iter().filter(|block| !is_counted(block)).count() as f64;
        let mut lost = vec![0.0_f64; self.arms.len()];
        for run in blocks.iter().flat_map(runs).filter(|run| run.outcome == RunOutcome::Lost) {
            if let Some(lost) = lost.get_mut(run.arm) {
                *lost += 1.0;
            }
        }
        let most = lost.iter().copied().fold(0.0, f64::max);
        let least = lost.iter().copied().fold(f64::INFINITY, f64::min).min(most);
        n_dropped / n > DROPPED_MAX || (most - least) / n > LOST_APART_MAX
    }

    /// Describes one behaviour against the first.
    fn arm_view(&self, number: usize, judged: &JudgedArm) -> TrialArmView {
        let JudgedArm { differences, p, verdict } = judged;
        let alpha = INTERVAL_ALPHA / self.n_compared() as f64;
        let interval = flip_interval(differences, alpha, self.seed);
        let finite = |end: f64| Some(end).filter(|end| end.is_finite());
        TrialArmView {
            arm: self.arms.get(number).cloned().unwrap_or_default(),
            tasks: differences.len(),
            difference: (!differences.is_empty()).then(|| mean(differences)),
            low: interval.and_then(|it| finite(it.low)),
            high: interval.and_then(|it| finite(it.high)),
            p: *p,
            sign_p: sign_test(differences),
            verdict: verdict.word().to_owned(),
        }
    }
}

impl JudgedTrial {
    /// Returns what it says of one behaviour, by its number among the arms.
    pub fn verdict_of(&self, arm: usize) -> Option<TrialVerdict> {
        self.arms.get(arm.checked_sub(1)?).map(|arm| arm.verdict)
    }
}

/// Judges a trial by what its session gave; without that, says what was fixed before.
pub(super) fn judged(name: &str, terms: &TrialTerms, result: Option<&Value>) -> TrialView {
    let mut view = TrialView { name: name.to_owned(), ..TrialView::of(terms) };
    let Some(result) = result else { return view };
    let blocks = result.get("blocks").and_then(Value::as_list).unwrap_or_default();
    view.blocks = blocks.len();
    view.dropped = blocks.iter().filter(|block| !is_counted(block)).count();
    let is_tampered = |run: &CountedRun| run.outcome == RunOutcome::Tampered;
    view.tampered = blocks.iter().flat_map(runs).filter(is_tampered).count();
    let number = |block: &Value, name: &str| block.get(name).and_then(Value::as_number);
    view.cost = blocks.iter().filter_map(|block| number(block, "cost")).sum();
    view.unpriced = blocks.iter().filter_map(|block| number(block, "unpriced")).sum::<f64>() as u64;
    view.out_of_budget = result.get("out_of_budget").and_then(Value::as_bool) == Some(true);
    let is_open = |run: &&Value| run.get("network").and_then(Value::as_text) == Some("open");
    view.open_scores = blocks.iter().flat_map(run_values).filter(is_open).count();
    // Where no look was reached the figures are told all the same, and say nothing.
    let judged = terms.judge(blocks).or_else(|| {
        (!blocks.is_empty()).then(|| JudgedTrial {
            verdict: TrialVerdict::Inconclusive,
            ..terms.judge_at(blocks, 0, 0.0)
        })
    });
    let mut verdict = judged.as_ref().map_or(TrialVerdict::Inconclusive, |it| it.verdict);
    if view.out_of_budget && !matches!(verdict, TrialVerdict::Better | TrialVerdict::Worse) {
        verdict = TrialVerdict::Inconclusive;
    }
    view.verdict = Some(verdict.word().to_owned());
    if let Some(judged) = judged {
        view.fill(terms, &judged);
    }
    view
}

impl TrialView {
    fn of(terms: &TrialTerms) -> TrialView {
        TrialView {
            arms: terms.arms.clone(),
            alpha: terms.alpha,
            looks: terms.n_looks,
            ..TrialView::default()
        }
    }

    /// Tells figures: those of the behaviour that won, else of the first that was tried.
    fn fill(&mut self, terms: &TrialTerms, judged: &JudgedTrial) {
        (self.look, self.bound) = (judged.look, judged.bound);
        let numbered = judged.arms.iter().enumerate();
        let views = numbered.map(|(at, arm)| terms.arm_view(at + 1, arm));
        self.compared = views.collect();
        let better = TrialVerdict::Better.word();
        let is_better = |arm: &&TrialArmView| arm.verdict == better;
        let by_mean = |left: &&TrialArmView, right: &&TrialArmView| {
            let mean = |arm: &TrialArmView| arm.difference.unwrap_or(f64::NEG_INFINITY);
            mean(left).total_cmp(&mean(right))
        };
        let winner = self.compared.iter().filter(is_better).max_by(by_mean);
        self.winner = winner.map(|arm| arm.arm.clone());
        if let Some(arm) = winner.or(self.compared.first()) {
            (self.tasks, self.difference) = (arm.tasks, arm.difference);
            (self.low, self.high) = (arm.low, arm.high);
            (self.p, self.sign_p) = (arm.p, arm.sign_p);
        }
    }
}

fn differences(blocks: &[Value], arm: usize) -> Vec<f64> {
    differences_by_task(blocks, arm).into_values().collect()
}

/// Returns by how much a behaviour scored more than the first, for each task by its number.
pub(crate) fn differences_by_task(blocks: &[Value], arm: usize) -> BTreeMap<i64, f64> {
    // A run that failed is no hole: it has the lowest score that there is, and no more than nothing.
    let scores = blocks.iter().flat_map(runs).filter_map(|run| run.score);
    let lowest = scores.fold(0.0, f64::min);
    let mut by_task: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
    for block in blocks.iter().filter(|block| is_counted(block)) {
        let runs = runs(block);
        let score = |arm: usize| {
            let run = runs.iter().find(|run| run.arm == arm)?;
            Some(run.score.unwrap_or(lowest))
        };
        let task = block.get("task").and_then(Value::as_int).unwrap_or(0);
        if let (Some(first), Some(second)) = (score(0), score(arm)) {
            by_task.entry(task).or_default().push(second - first);
        }
    }
    by_task.into_iter().map(|(task, all)| (task, mean(&all))).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn is_counted(block: &Value) -> bool {
    block.get("counted").and_then(Value::as_bool) == Some(true)
}

fn run_values(block: &Value) -> &[Value] {
    block.get("runs").and_then(Value::as_list).unwrap_or_default()
}

fn runs(block: &Value) -> Vec<CountedRun> {
    let run = |run: &Value| {
        let outcome = match run.get("outcome").and_then(Value::as_text)? {
            "scored" | "failed" => RunOutcome::Counted,
            "tampered" => RunOutcome::Tampered,
            _ => RunOutcome::Lost,
        };
        let score = run.get("score").and_then(Value::as_number);
        let score = score.filter(|score| score.is_finite() && outcome == RunOutcome::Counted);
        Some(CountedRun { arm: usize::try_from(run.get("arm")?.as_int()?).ok()?, score, outcome })
    };
    run_values(block).iter().filter_map(run).collect()
}
