//! Whether a trial speaks for an adoption: a session here bears it out, and by all trials that are known
//! now it says that the version is better.

use agentic_model::{Cid, LibraryName, Object, Value};
use agentic_statistics::trial::TrialVerdict;

use super::proof::{ProvenTrial, TrialDoubt};
use super::standing::{TrialStanding, TriedAdoption};
use super::tally::TrialTally;
use crate::{Result, SessionSpace};

/// A trial that speaks for an adoption.
#[derive(Debug, Clone)]
pub struct TrialEvidence {
    /// What its session bears out.
    pub proven: ProvenTrial,
    /// What speaks for less all the same; whoever decides has to know it.
    pub warnings: Vec<String>,
}

impl TrialEvidence {
    /// Looks whether a trial speaks for an adoption, or why not.
    ///
    /// # Errors
    /// Fails when agents cannot be listed, and when the library is damaged.
    pub fn of(
        space: &SessionSpace,
        trial: &Object,
        adoption: TriedAdoption,
    ) -> Result<std::result::Result<TrialEvidence, TrialDoubt>> {
        let proven = match ProvenTrial::of(space, trial) {
            Ok(proven) => proven,
            Err(doubt) => return Ok(Err(doubt)),
        };
        let Some(now) = TrialStanding::now(space, trial, adoption)? else {
            return Ok(Err(TrialDoubt::OtherVersion));
        };
        if !adoption.is_against(&proven) {
            return Ok(Err(TrialDoubt::OtherBaseline));
        }
        if now.verdict != TrialVerdict::Better {
            return Ok(Err(TrialDoubt::NotBetter(now.verdict)));
        }
        let tally = TrialTally::of(&Value::Map(trial.map().clone()));
        Ok(Ok(TrialEvidence { proven, warnings: tally.warnings(now.attempt) }))
    }
}

/// Says what is wrong with the trial of a question that asks a person to adopt; nothing for any other
/// question.
pub(crate) fn doubt_of_question(space: &SessionSpace, shown: &Value) -> Option<String> {
    let cid = |name: &str| Cid::parse(shown.get(name)?.as_text()?).ok();
    let name = shown.get("name").and_then(Value::as_text)?;
    let (to, trial) = (cid("cid")?, cid("trial")?);
    let name = LibraryName::parse(name).ok()?;
    let from = space.behaviour_in_force(&name).ok()?.pointer.map(|pointer| pointer.cid);
    let found = match space.object(trial) {
        Ok(trial) => TrialEvidence::of(space, &trial, TriedAdoption { to, from }).ok()?.err(),
        Err(_) => Some(TrialDoubt::Malformed),
    };
    found.map(|doubt| format!("the trial speaks for no adoption: {doubt}"))
}
