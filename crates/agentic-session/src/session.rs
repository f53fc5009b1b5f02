//! What is asked of sessions without running them: which there are, and how one stands.

use std::collections::BTreeSet;

use agentic_model::{AgentName, Instant};
use agentic_replay::{Engine, ProgramFailure, SessionId};

use super::folder::Folder;
use super::language::language_of;
use super::own::read_journal;
use super::shelf::flow_of;
use super::{listing, own, summary};
use crate::{Result, SessionSpace, SessionState, Summary};

impl SessionSpace {
    /// Reads how a session stands, from its records alone.
    ///
    /// # Errors
    /// Fails when there is no such session or its records are damaged.
    pub fn session(&self, id: &SessionId) -> Result<Summary> {
        Ok(self.judged(summary::read(self, id)?))
    }

    /// Finds out whether a session that is not over could go on here at all.
    pub(crate) fn judged(&self, mut summary: Summary) -> Summary {
        if summary.state.is_over() {
            return summary;
        }
        // A pinned program can differ from its records only where its language means another thing.
        let flow = flow_of(self, &Folder::of(self, &summary.id), &summary.flow);
        let here = flow.and_then(|flow| Ok(language_of(&flow)?.engine_since(&summary.engine)));
        if here.is_ok_and(|here| here != summary.engine) {
            let Engine { language, semantics } = &summary.engine;
            let message = format!("nothing here runs version {semantics} of `{language}`");
            summary.state = SessionState::Diverged;
            summary.failure = Some(ProgramFailure::new("ENGINE", message));
        }
        summary
    }

    /// Reads how a session stood after so many records.
    ///
    /// # Errors
    /// Fails as [`Space::session`] does.
    pub fn session_at(&self, id: &SessionId, n_records: u64) -> Result<Summary> {
        let journal = read_journal(self, id)?;
        summary::of_past(self, &journal.up_to(n_records))
    }

    /// Returns when a session stood after so many of its records: the instant of the last of them.
    ///
    /// # Errors
    /// Fails as [`Space::session`] does.
    pub fn instant_of_record(&self, id: &SessionId, n_records: u64) -> Result<Instant> {
        let journal = read_journal(self, id)?.up_to(n_records);
        Ok(journal.records().last().map_or_else(|| self.now(), |record| record.at))
    }

    /// Lists the sessions of this space, oldest first.
    ///
    /// # Errors
    /// Fails when the folders cannot be read.
    pub fn sessions(&self) -> Result<Vec<SessionId>> {
        listing::list_all(self)
    }

    /// Does the same, and tells of which notes some may be left out.
    ///
    /// # Errors
    /// Fails when the folders cannot be read.
    pub fn sessions_telling(&self, tell: &mut dyn FnMut(String)) -> Result<Vec<SessionId>> {
        listing::list_all_telling(self, tell)
    }

    /// Lists the sessions that are not over, oldest first.
    ///
    /// # Errors
    /// Fails when the folders cannot be read.
    pub fn open_sessions(&self) -> Result<Vec<SessionId>> {
        listing::list_open(self)
    }

    /// Does the same, and tells of whom some may be left out.
    ///
    /// # Errors
    /// Fails when the folders cannot be read.
    pub fn open_sessions_telling(&self, tell: &mut dyn FnMut(String)) -> Result<Vec<SessionId>> {
        listing::list_open_telling(self, tell)
    }

    /// Lists the sessions that are not over and that something was recorded of here, in no order.
    ///
    /// # Errors
    /// Fails when the folders cannot be read.
    pub fn open_sessions_here(&self) -> Result<Vec<SessionId>> {
        listing::list_local_open(self)
    }

    /// Returns how long the log of a session is that is not over, in bytes; nothing where it has none
    /// here. As long as that is the same, so are its records.
    pub fn open_log_bytes(&self, id: &SessionId) -> Option<u64> {
        let folder = Folder::open(self, id);
        folder.exists().then(|| folder.log_bytes())
    }

    /// Lists the sessions that have a folder here, whether or not anything was recorded of them.
    ///
    /// # Errors
    /// Fails when the folders cannot be read.
    pub fn sessions_here(&self) -> Result<BTreeSet<SessionId>> {
        listing::list_local(self)
    }

    /// Returns the agent that a session runs as, by its first record.
    ///
    /// # Errors
    /// Fails when there is no such session or that record is damaged.
    pub fn agent_of_session(&self, id: &SessionId) -> Result<AgentName> {
        Ok(own::first(self, id)?.start.agent)
    }

    /// Counts the sessions of this space.
    ///
    /// # Errors
    /// Fails when the folders cannot be read.
    pub fn n_sessions(&self) -> Result<usize> {
        Ok(listing::list_known(self)?.len())
    }

    /// Finds the session that a text names: an id or a unique prefix of eight or more digits, or
    /// an agent's only session that is not over, else its newest.
    ///
    /// # Errors
    /// Fails when there is none, or several.
    pub fn find_session(&self, text: &str) -> Result<SessionId> {
        listing::find(self, text)
    }
}
