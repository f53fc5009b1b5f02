//! Archiving agents none of which has a session that is not over.

use std::collections::BTreeSet;

use agentic_model::AgentName;
use agentic_space::archive::{ArchiveOutcome, ArchiveWish, SessionUsers};

use crate::listing::open_sessions_of;
use crate::{Error, Result, SessionSpace};

/// Archives agents: up to [`ARCHIVE_AGENTS_MAX`](agentic_space::archive::ARCHIVE_AGENTS_MAX) of them by
/// one write.
///
/// # Errors
/// Fails when one of them does not exist, is checked out, or has a session that is not over or
/// trace entries that are bound to no commit; none is archived then.
pub fn archive(space: &SessionSpace, wish: ArchiveWish<'_>) -> Result<ArchiveOutcome> {
    Ok(agentic_space::archive::archive(space, wish, space)?)
}

impl SessionUsers for SessionSpace {
    fn open_session(
        &self,
        agents: &BTreeSet<&AgentName>,
    ) -> agentic_space::Result<Option<(AgentName, String)>> {
        let open = open_sessions_of(self, agents).map_err(|error| {
            if let Error::Space(error) = error {
                error
            } else {
                agentic_store::Error::corrupt("the sessions of these agents", error).into()
            }
        })?;
        Ok(open.into_iter().next().map(|(session, agent)| (agent, session.short())))
    }
}
