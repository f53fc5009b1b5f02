//! What of a trial was fixed, and how it is judged by that: one difference a task, as often as was fixed
//! before.

use std::collections::BTreeMap;

use agentic_model::{Object, Value};
use agentic_statistics::trial::{TrialLooks, TrialVerdict, better_p};

use super::TRIAL_FIXED;
use super::tally::{CountedRun, RunOutcome, is_counted, is_out_of_budget};

/// Which share of blocks may be dropped, and by how much arms may differ in what they lost.
const DROPPED_MAX: f64 = 0.1;
const LOST_APART_MAX: f64 = 0.05;
/// How often a trial is looked at, at most, whatever was fixed.
const LOOKS_MAX: usize = 4;

/// What of a trial was fixed that its judgement goes by.
#[derive(Debug, Clone)]
pub struct TrialTerms {
    /// The behaviours, the one that was there first.
    pub arms: Vec<String>,
    /// How often it may mislead.
    pub alpha: f64,
    /// How often it is looked at.
    pub n_looks: usize,
    /// Where draws begin.
    pub seed: u64,
    n_blocks: usize,
}

/// How a trial stands, by the last look that was reached.
#[derive(Debug, Clone)]
pub struct JudgedTrial {
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
pub struct JudgedArm {
    /// By how much it scored more, a task each.
    pub differences: Vec<f64>,
    /// How likely chance alone makes it as much better.
    pub p: Option<f64>,
    /// What that says.
    pub verdict: TrialVerdict,
}

impl TrialTerms {
    /// Reads them from the briefing of a trial's agent.
    pub fn of(briefing: &Object) -> TrialTerms {
        TrialTerms::of_fixed(briefing.map().get(TRIAL_FIXED))
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
            n_looks: whole("looks").clamp(1, LOOKS_MAX),
            n_blocks: list("tasks").len().saturating_mul(whole("runs")),
            seed: field("seed").and_then(Value::as_int).unwrap_or(0).unsigned_abs(),
        }
    }

    /// Returns among how many behaviours is shared how often all may mislead.
    pub fn n_compared(&self) -> usize {
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

    /// Judges what the session of a trial gave. Where no look was reached the figures are told all the
    /// same, and say nothing; nothing where there is not even a block.
    pub fn judge_result(&self, result: &Value) -> Option<JudgedTrial> {
        let blocks = result.get("blocks").and_then(Value::as_list).unwrap_or_default();
        let inconclusive = |judged| JudgedTrial { verdict: TrialVerdict::Inconclusive, ..judged };
        let judged = self.judge(blocks).or_else(|| {
            (!blocks.is_empty()).then(|| inconclusive(self.judge_at(blocks, 0, 0.0)))
        })?;
        // One that ran out of its budget had not enough to say that there is no difference.
        Some(match judged.verdict {
            TrialVerdict::NoDifference if is_out_of_budget(result) => inconclusive(judged),
            TrialVerdict::Better
            | TrialVerdict::Worse
            | TrialVerdict::NoDifference
            | TrialVerdict::Inconclusive => judged,
        })
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
        let runs = blocks.iter().flat_map(CountedRun::of_block);
        let runs = runs.filter(|run| run.outcome == RunOutcome::Lost);
        // What was lost first was lost, too, whatever came of a second try.
        for run in runs.chain(blocks.iter().flat_map(CountedRun::lost_first)) {
            if let Some(lost) = lost.get_mut(run.arm) {
                *lost += 1.0;
            }
        }
        let most = lost.iter().copied().fold(0.0, f64::max);
        let least = lost.iter().copied().fold(f64::INFINITY, f64::min).min(most);
        n_dropped / n > DROPPED_MAX || (most - least) / n > LOST_APART_MAX
    }
}

impl JudgedTrial {
    /// Returns what it says of one behaviour, by its number among the arms.
    pub fn verdict_of(&self, arm: usize) -> Option<TrialVerdict> {
        // Of one that says nothing as a whole, no behaviour is better.
        let arm = self.arms.get(arm.checked_sub(1)?)?;
        Some(if self.verdict == TrialVerdict::Inconclusive { self.verdict } else { arm.verdict })
    }
}

fn differences(blocks: &[Value], arm: usize) -> Vec<f64> {
    differences_by_task(blocks, arm).into_values().collect()
}

/// Returns by how much a behaviour scored more than the first, for each task by its number.
pub fn differences_by_task(blocks: &[Value], arm: usize) -> BTreeMap<i64, f64> {
    // A run that failed is no hole: it has the lowest score that there is, and no more than nothing.
    let scores = blocks.iter().flat_map(CountedRun::of_block).filter_map(|run| run.score);
    let lowest = scores.fold(0.0, f64::min);
    let mut by_task: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
    for block in blocks.iter().filter(|block| is_counted(block)) {
        let runs = CountedRun::of_block(block);
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
