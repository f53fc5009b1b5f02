//! Commits of agents that were read for what they decide: one walk for each open hold meets the same.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use agentic_model::Oid;
use agentic_space::locked;

use crate::decision::{Decision, claims_of_decision};
use crate::{Result, SessionSpace};

/// How many commits are remembered; all are forgotten where that is reached.
const COMMITS_MAX: usize = 4_096;

/// What commits say they decide. A commit never changes, so what was read of one stays true.
#[derive(Debug, Default)]
pub(crate) struct DecidingLine(Mutex<BTreeMap<Oid, Arc<DecidingCommit>>>);

/// A commit on an agent's branch.
#[derive(Debug)]
pub(crate) struct DecidingCommit {
    /// The one before it on its branch.
    pub(crate) parent: Option<Oid>,
    /// The decision that it says it is.
    pub(crate) decision: Option<Decision>,
}

impl DecidingLine {
    /// Reads a commit, hashed the first time: whatever stands there may decide, or hide what does.
    ///
    /// # Errors
    /// Fails when it is missing or damaged.
    pub(crate) fn commit(&self, space: &SessionSpace, oid: Oid) -> Result<Arc<DecidingCommit>> {
        if let Some(known) = locked(&self.0).get(&oid) {
            return Ok(Arc::clone(known));
        }
        let commit = space.repository().read_sound_commit(oid)?;
        let claims = claims_of_decision(&commit.message);
        let is_claimed = claims.is_some();
        let of_claims = |claims| Decision::of_claims(space, claims, &commit.message);
        let decision = claims.and_then(of_claims);
        // Fields that are an object of their own may come later.
        let is_whole = decision.is_some() == is_claimed;
        let parent = commit.parents.first().copied();
        let read = Arc::new(DecidingCommit { parent, decision });
        if is_whole {
            let mut known = locked(&self.0);
            if known.len() >= COMMITS_MAX {
                known.clear();
            }
            known.insert(oid, Arc::clone(&read));
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{agent_in, repository, temporary_folder};

    #[test]
    fn a_commit_is_read_once_until_too_many_are_known() {
        let folder = temporary_folder();
        let space = repository(folder.path());
        let head = space.head(&agent_in(&space, "alice")).expect("it was spawned");
        let line = DecidingLine::default();
        let first = line.commit(&space, head).expect("it is there");
        assert!(first.decision.is_none());
        let again = line.commit(&space, head).expect("it is there");
        assert!(Arc::ptr_eq(&first, &again));
        let other = |n: usize| Oid::parse(&format!("{n:040x}")).expect("40 digits");
        let fill = (1..COMMITS_MAX).map(|n| (other(n), Arc::clone(&first)));
        locked(&line.0).extend(fill);
        locked(&line.0).remove(&head);
        locked(&line.0).insert(other(0), Arc::clone(&first));
        let anew = line.commit(&space, head).expect("it is there");
        assert!(!Arc::ptr_eq(&first, &anew));
        assert_eq!(locked(&line.0).len(), 1, "the others are forgotten");
    }

    #[test]
    fn a_decision_whose_fields_are_missing_is_looked_for_again() {
        let folder = temporary_folder();
        let space = repository(folder.path());
        let head = space.head(&agent_in(&space, "alice")).expect("it was spawned");
        let message = format!(
            "Approve\n\nAgentic-Kind: decision\nAgentic-Fields: blake3:{}\n",
            "0".repeat(64),
        );
        assert!(claims_of_decision(&message).is_some(), "{message}");
        let repository = space.repository();
        let arguments = ["commit-tree", &format!("{head}^{{tree}}"), "-m", &message];
        let made = repository.git(&arguments).expect("git runs").stdout;
        let oid = Oid::parse(made.trim()).expect("git names it");
        let line = DecidingLine::default();
        assert!(line.commit(&space, oid).expect("it is there").decision.is_none());
        assert!(locked(&line.0).is_empty());
    }
}
