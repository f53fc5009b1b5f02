//! What a trial came to, as it is shown.

use agentic_model::kind::TRIAL;
use agentic_model::{Cid, Object, Value};
use agentic_session::trial::{JudgedArm, JudgedTrial, TrialTally, TrialTerms};
use agentic_statistics::sign_test;
use agentic_statistics::trial::{TrialVerdict, flip_interval};

use crate::view::{TrialArmView, TrialFiguresView, TrialView};

/// How often intervals may mislead, all of them together.
const INTERVAL_ALPHA: f64 = 0.05;

/// Judges a trial by what its session gave; without that, says what was fixed before.
pub(super) fn judged(name: &str, terms: &TrialTerms, result: Option<&Value>) -> TrialView {
    let mut view = TrialView { name: name.to_owned(), ..TrialView::of(terms) };
    let Some(result) = result else { return view };
    view.count(&TrialTally::of(result));
    let judged = terms.judge_result(result);
    let verdict = judged.as_ref().map_or(TrialVerdict::Inconclusive, |it| it.verdict);
    view.verdict = Some(verdict.word().to_owned());
    if let Some(judged) = judged {
        view.fill(terms, &judged);
    }
    view
}

/// Tells what a trial said of a behaviour, by its object; nothing where it is no trial of that.
pub(crate) fn figures_of(trial: &Object, behaviour: &Cid) -> Option<TrialArmView> {
    if trial.kind().as_str() != TRIAL {
        return None;
    }
    let terms = TrialTerms::of_fixed(trial.map().get("input"));
    let number = terms.arms.iter().position(|arm| *arm == behaviour.to_string())?;
    let judged = terms.judge_result(&Value::Map(trial.map().clone()))?;
    Some(arm_view(&terms, number, judged.arms.get(number.checked_sub(1)?)?))
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

    fn count(&mut self, tally: &TrialTally) {
        self.blocks = tally.n_blocks;
        self.dropped = tally.n_dropped;
        self.lost_first = tally.n_lost_first;
        self.tampered = tally.n_tampered;
        self.open_scores = tally.n_open;
        (self.cost, self.unpriced) = (tally.cost, tally.n_unpriced);
        self.out_of_budget = tally.is_out_of_budget;
    }

    /// Tells figures: those of the behaviour that won, else of the first that was tried.
    fn fill(&mut self, terms: &TrialTerms, judged: &JudgedTrial) {
        (self.look, self.bound) = (judged.look, judged.bound);
        let numbered = judged.arms.iter().enumerate();
        self.compared = numbered.map(|(at, arm)| arm_view(terms, at + 1, arm)).collect();
        let better = TrialVerdict::Better.word();
        let is_better = |arm: &&TrialArmView| arm.verdict == better;
        let by_mean = |left: &&TrialArmView, right: &&TrialArmView| {
            let mean = |arm: &TrialArmView| arm.figures.difference.unwrap_or(f64::NEG_INFINITY);
            mean(left).total_cmp(&mean(right))
        };
        let winner = self.compared.iter().filter(is_better).max_by(by_mean);
        self.winner = winner.map(|arm| arm.arm.clone());
        if let Some(arm) = winner.or(self.compared.first()) {
            self.figures = arm.figures.clone();
        }
    }
}

/// Describes one behaviour against the first.
fn arm_view(terms: &TrialTerms, number: usize, judged: &JudgedArm) -> TrialArmView {
    let JudgedArm { differences, p, verdict } = judged;
    let alpha = INTERVAL_ALPHA / terms.n_compared() as f64;
    let interval = flip_interval(differences, alpha, terms.seed);
    let finite = |end: f64| Some(end).filter(|end| end.is_finite());
    let mean = || differences.iter().sum::<f64>() / differences.len() as f64;
    TrialArmView {
        arm: terms.arms.get(number).cloned().unwrap_or_default(),
        figures: TrialFiguresView {
            tasks: differences.len(),
            difference: (!differences.is_empty()).then(mean),
            low: interval.and_then(|it| finite(it.low)),
            high: interval.and_then(|it| finite(it.high)),
            p: *p,
            sign_p: sign_test(differences),
        },
        verdict: verdict.word().to_owned(),
    }
}
