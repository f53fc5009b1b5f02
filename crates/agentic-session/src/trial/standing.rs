//! What a trial is worth now: it is judged again by the trials that are known by then.

use agentic_model::kind::TRIAL;
use agentic_model::{Cid, Object, Value};
use agentic_statistics::trial::{TrialVerdict, attempt_alpha};

use super::TRIAL_FIXED;
use super::known::{KnownTrial, KnownTrials, in_force_of};
use super::proof::ProvenTrial;
use super::terms::TrialTerms;
use crate::{Result, SessionSpace};

/// What a trial says of a behaviour now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialStanding {
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
    ///
    /// # Errors
    /// Fails when agents cannot be listed, and when the library is damaged.
    pub fn now(
        space: &SessionSpace,
        trial: &Object,
        adoption: TriedAdoption,
    ) -> Result<Option<TrialStanding>> {
        if trial.kind().as_str() != TRIAL {
            return Ok(None);
        }
        let Some(fixed) = trial.map().get("input") else { return Ok(None) };
        let terms = TrialTerms::of_fixed(Some(fixed));
        let arm = terms.arms.iter().position(|arm| *arm == adoption.to.to_string());
        let Some(arm) = arm.filter(|arm| *arm > 0) else { return Ok(None) };
        let mut versions = in_force_of(space, &terms.arms)?;
        versions.extend(adoption.from.map(|from| from.to_string()));
        let known = KnownTrials::read(space)?;
        let is_it = |one: &&KnownTrial| one.briefing.map().get(TRIAL_FIXED) == Some(fixed);
        let attempt = known.attempt(known.all().iter().find(is_it), &versions);
        // It is never less sure than it was to be.
        let alpha = attempt_alpha(attempt).min(terms.alpha);
        // The object has the fields of what its session gave.
        let given = Value::Map(trial.map().clone());
        let judged = terms.with_alpha(alpha).judge_result(&given);
        let verdict = judged.and_then(|judged| judged.verdict_of(arm));
        let verdict = verdict.unwrap_or(TrialVerdict::Inconclusive);
        Ok(Some(TrialStanding { attempt, alpha, verdict }))
    }
}

/// What a behaviour would come in the place of.
#[derive(Debug, Clone, Copy)]
pub struct TriedAdoption {
    /// What would be in force.
    pub to: Cid,
    /// What is.
    pub from: Option<Cid>,
}

impl TriedAdoption {
    /// Says whether a trial was against what is in force. Where nothing is, or the same already, it is.
    pub fn is_against(&self, proven: &ProvenTrial) -> bool {
        let is_first = |from: Cid| proven.arms.first().is_some_and(|arm| *arm == from.to_string());
        self.from.is_none_or(|from| from == self.to || is_first(from))
    }
}
