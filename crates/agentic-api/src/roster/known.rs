//! What a process that stays knows before anything is read.

use agentic_index::{KnownAgent, SharedLedger};
use agentic_session::{Result, SessionSpace};

/// What a process that stays knows of agents and sessions.
#[derive(Debug, Clone, Default)]
pub struct KnownLedger {
    /// The rows.
    pub rows: SharedLedger,
    /// Whether more are being read.
    pub state: LedgerState,
}

/// How an index of agents is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LedgerState {
    /// There is none.
    #[default]
    Absent,
    /// It is compared with what there is for the first time.
    Checking,
    /// It has everything, but what was written just now.
    Ready,
}

impl KnownLedger {
    /// Returns the rows of all agents, where refs are those with which all were compared.
    pub(super) fn all_rows(&self, space: &SessionSpace) -> Result<Option<Vec<KnownAgent>>> {
        if self.rows.rows().swept.is_none() {
            return Ok(None);
        }
        let now = space.repository().refs_mark()?;
        let rows = self.rows.rows();
        let is_same = rows.swept.is_some_and(|swept| swept.mark == *now.as_bytes());
        Ok(is_same.then(|| rows.agents.iter().collect()))
    }
}
