//! How a session began: its first own record, which names its agent and its key and never changes.
//!
//! Whoever looks for a session among many reads this of each, and the whole journal only of those
//! that come into question.

use agentic_model::{AgentName, Instant, canonical};
use agentic_replay::{Body, Record, SessionId, StartRecord};

use super::folder::{Folder, damaged};
use crate::error::SessionError;
use crate::{Error, Result, SessionSpace};

/// The first record that is a session's own.
#[derive(Debug, Clone)]
pub struct FirstRecord {
    /// When it was made.
    pub at: Instant,
    /// Its position in the journal; not 0 in a fork, which shares the records before it.
    pub seq: u64,
    /// What it says.
    pub start: StartRecord,
}

impl FirstRecord {
    /// Reads how a session began.
    ///
    /// # Errors
    /// Fails when there is no such session, or when its first record is damaged.
    pub fn of(space: &SessionSpace, id: &SessionId) -> Result<FirstRecord> {
        let first = Folder::of(space, id).first_frame(space)?;
        let first =
            first.ok_or_else(|| Error::Session(SessionError::Unknown { id: id.to_string() }))?;
        FirstRecord::from_frame(id, &first)
    }

    /// Reads it from the bytes of the record.
    ///
    /// # Errors
    /// Fails when they are not those of a start.
    pub fn from_frame(id: &SessionId, frame: &[u8]) -> Result<FirstRecord> {
        let entries = canonical::decode_entries(frame);
        let entries = entries.map_err(|error| damaged(id, &error.to_string()))?;
        let record = Record::from_entries(entries);
        let record = record.map_err(|error| damaged(id, &error.to_string()))?;
        match record.body {
            Body::Start(start) if start.session != *id || !start.is_named_rightly() => {
                Err(damaged(id, "its id does not follow from how it began"))
            }
            Body::Start(start) => Ok(FirstRecord { at: record.at, seq: record.seq, start: *start }),
            Body::Ask(_)
            | Body::Answer(_)
            | Body::Attempt(_)
            | Body::Signal(_)
            | Body::Escalate(_)
            | Body::Vote(_)
            | Body::Publish(_)
            | Body::Found(_)
            | Body::Permit(_)
            | Body::Upgrade(_)
            | Body::Withdraw(_)
            | Body::Cancel(_)
            | Body::ScopeEnd(_)
            | Body::Continue(_)
            | Body::End(_) => Err(damaged(id, "it does not begin with a start")),
        }
    }

    /// Tells whether the session was started, by nobody's fork, as this agent with this key.
    pub fn has_key(&self, agent: &AgentName, key: &str) -> bool {
        self.start.agent == *agent && self.start.key == key && self.start.parent.is_none()
    }
}
