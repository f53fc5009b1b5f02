//! How an open hold stands: what it asks of its decision now, and the commits that say they decide it.

use agentic_model::Instant;
use agentic_replay::{OpenHold, RecordChain};

use crate::decide::Policy;
use crate::trust::{self, DecidingCommits, Look};
use crate::{Result, SessionSpace};

/// An open hold with what was found of its decisions.
#[derive(Debug)]
pub(crate) struct HoldStanding {
    /// The hold.
    pub(crate) hold: OpenHold,
    /// What it asks of its decision at this moment.
    pub(crate) policy: Policy,
    /// The commits that say they decide it.
    pub(crate) found: DecidingCommits,
}

impl HoldStanding {
    /// Finds how a hold of a journal stands.
    ///
    /// # Errors
    /// Fails when history or the journal cannot be read.
    pub(crate) fn of(
        space: &SessionSpace,
        journal: &RecordChain,
        hold: OpenHold,
        now: Instant,
    ) -> Result<HoldStanding> {
        let policy = Policy::of_hold(&hold, now);
        let found = trust::find(space, journal, &hold.id, Look::Free)?;
        Ok(HoldStanding { hold, policy, found })
    }

    /// Tells whether it is decided, and only not applied yet: whoever opens the session next does.
    pub(crate) fn is_settled(&self) -> bool {
        self.policy.settle(&self.found.counted).is_some()
    }
}
