//! What a trial is worth now: it is judged again by the trials that are known by then.

use std::collections::BTreeSet;

use agentic_model::kind::TRIAL;
use agentic_model::{Cid, Object, Value};
use agentic_statistics::trial::{TrialVerdict, attempt_alpha};

use super::attempt::{KnownTrial, KnownTrials, adopted_of};
use super::fixed::FIXED;
use super::outcome::TrialTerms;
use crate::view::TriedView;
use crate::{Caller, Refusal};

/// What a trial says of a behaviour now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TrialStanding {
    /// The how manieth it is of those with an arm that was in force.
    pub attempt: u32,
    /// How often it may mislead.
    pub alpha: f64,
    /// What it says of the behaviour.
    pub verdict: TrialVerdict,
}

impl TrialStanding {
    /// Judges a trial again, by its object, for a behaviour that may come in another's place. Nothing where
    /// the object is no trial of that behaviour.
    pub fn now(
        caller: &Caller<'_>,
        trial: &Object,
        behaviour: &Cid,
        from: Option<Cid>,
    ) -> Result<Option<TrialStanding>, Refusal> {
        if trial.kind().as_str() != TRIAL {
            return Ok(None);
        }
        let Some(fixed) = trial.map().get("input") else { return Ok(None) };
        let terms = TrialTerms::of_fixed(Some(fixed));
        let arm = terms.arms.iter().position(|arm| *arm == behaviour.to_string());
        let Some(arm) = arm.filter(|arm| *arm > 0) else { return Ok(None) };
        let mut versions = adopted_of(caller, &terms.arms)?;
        versions.extend(from.map(|from| from.to_string()));
        let known = KnownTrials::read(caller)?;
        let is_it = |one: &&KnownTrial| one.briefing.map().get(FIXED) == Some(fixed);
        let attempt = known.attempt(known.all().iter().find(is_it), &versions);
        // It is never less sure than it was to be.
        let alpha = attempt_alpha(attempt).min(terms.alpha);
        let blocks = trial.map().get("blocks").and_then(Value::as_list).unwrap_or_default();
        let judged = terms.with_alpha(alpha).judge(blocks);
        let verdict = judged.and_then(|judged| judged.verdict_of(arm));
        let verdict = verdict.unwrap_or(TrialVerdict::Inconclusive);
        Ok(Some(TrialStanding { attempt, alpha, verdict }))
    }
}

/// Lists the trials that a behaviour was in, as far as they are known here.
pub(crate) fn tried(caller: &Caller<'_>, behaviour: &Cid) -> Result<Vec<TriedView>, Refusal> {
    let known = KnownTrials::read(caller)?;
    let mut views = Vec::new();
    for trial in known.of(behaviour) {
        let arms: Vec<String> = trial.arms().map(str::to_owned).collect();
        let versions: BTreeSet<String> = adopted_of(caller, &arms)?;
        let shown = if trial.is_here { Some(super::shown(caller, trial)?.answer) } else { None };
        views.push(TriedView {
            trial: trial.label.clone(),
            attempt: known.attempt(Some(trial), &versions),
            arms,
            cid: shown.as_ref().and_then(|shown| shown.cid.clone()),
            verdict: shown.and_then(|shown| shown.verdict),
        });
    }
    Ok(views)
}
