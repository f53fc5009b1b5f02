//! Appending what is captured, and binding it to commits that plain git made.
//!
//! Whoever captures stands in somebody's way, and would rather come again than wait for a lock.

use std::time::{Duration, Instant as Moment};

use agentic_git::GitWriter;
use agentic_model::{AgentName, Entry, Oid};
use agentic_store::Stream;

use crate::trace::AttachOutcome;
use crate::{Result, Space};

/// How long is waited between two looks at a lock.
const PAUSE: Duration = Duration::from_millis(1);

/// The right to append to the pending trace of an agent. Nobody else writes to the agent meanwhile.
#[must_use = "others wait until this is dropped"]
pub struct PendingWriter<'s> {
    space: &'s Space,
    writer: GitWriter<'s>,
}

impl Space {
    /// Takes the lock of an agent to append to its pending trace; nothing if others hold it for so
    /// long.
    ///
    /// # Errors
    /// Fails when there is no such agent, and when its journal is damaged.
    pub fn pending_writer_within(
        &self,
        agent: &AgentName,
        wait: Duration,
    ) -> Result<Option<PendingWriter<'_>>> {
        // Nothing is made for an agent that is not there.
        let seen = self.head(agent)?;
        let (stream, deadline) = (Stream::Agent(agent.clone()), Moment::now() + wait);
        let mut writer = loop {
            if let Some(writer) = GitWriter::try_open(self.repository(), &stream, self.now())? {
                break writer;
            }
            if Moment::now() >= deadline {
                return Ok(None);
            }
            std::thread::sleep(PAUSE);
        };
        self.journal_from_head(&mut writer, agent, seen)?;
        Ok(Some(PendingWriter { space: self, writer }))
    }
}

impl Space {
    /// Binds the pending entries of an agent to a commit that it made with plain git, on whatever branch.
    /// A trace that was bound before goes on in the new one.
    ///
    /// # Errors
    /// Fails when nothing is pending.
    pub fn link_trace(&self, agent: &AgentName, commit: Oid) -> Result<AttachOutcome> {
        self.bind_pending("trace link", agent, (commit, Vec::new()), |_head| Ok(()))
    }
}

impl PendingWriter<'_> {
    /// Appends entries, all or none, with one sync. Durable when this returns.
    ///
    /// # Errors
    /// Fails when the disk does; then nothing was appended.
    pub fn append(&mut self, entries: Vec<Entry>) -> Result<()> {
        let (now, durability) = (self.space.now(), self.space.durability());
        Ok(self.writer.append_entries(entries, now, durability)?)
    }

    /// Reads the entries that are bound to no commit yet, oldest first.
    ///
    /// # Errors
    /// Fails when the journal is damaged.
    pub fn pending_entries(&self) -> Result<Vec<Entry>> {
        Ok(self.writer.pending_entries()?)
    }

    /// Counts the entries that are bound to no commit yet.
    pub fn n_pending(&self) -> u64 {
        self.writer.standing().map_or(0, |standing| standing.n_pending)
    }
}
