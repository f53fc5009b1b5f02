//! The trace of a commit: entries that wait to be bound, and the objects that they become.

use agentic_git::GitWriter;
use agentic_model::{AgentName, Cid, ConsoleTrace};
use agentic_store::Stream;
use agentic_store::journal::{self, KeptObject, TakenEntries};

use crate::capture::captured_of;
use crate::{Result, Space};

/// Whether there are trace entries to bind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PendingTrace {
    Some,
    None,
}

impl PendingTrace {
    /// Tells whether an agent has trace entries that are bound to no commit, as far as that can be told
    /// without its lock.
    pub(super) fn of(space: &Space, agent: &AgentName) -> Result<PendingTrace> {
        let tail = journal::tail(space.repository().layout(), &Stream::Agent(agent.clone()))?;
        Ok(match tail.is_some_and(|record| record.standing.n_pending > 0) {
            true => PendingTrace::Some,
            false => PendingTrace::None,
        })
    }
}

/// The pending trace, ready to be bound.
pub(crate) struct BoundTrace {
    /// The id of the trace.
    pub cid: Cid,
    /// What the note of the commit says.
    pub note: String,
    /// The objects that the trace is made of.
    pub objects: Vec<KeptObject>,
    /// Which entries are bound.
    pub taken: TakenEntries,
}

impl BoundTrace {
    /// Collects the pending entries of a stream into the objects of a trace.
    pub(crate) fn take(
        space: &Space,
        writer: &GitWriter<'_>,
        agent: &AgentName,
    ) -> Result<Option<BoundTrace>> {
        BoundTrace::append(space, writer, agent, |_| Ok(Vec::new()))
    }

    /// Collects them into a trace that `goes_on` from another: it says which, or which objects hold
    /// the entries of before.
    pub(crate) fn append(
        space: &Space,
        writer: &GitWriter<'_>,
        agent: &AgentName,
        goes_on: impl FnOnce(&mut ConsoleTrace) -> Result<Vec<Cid>>,
    ) -> Result<Option<BoundTrace>> {
        let entries = writer.pending_entries()?;
        if entries.is_empty() {
            return Ok(None);
        }
        let from = writer.standing().map_or(0, |standing| standing.taken_before);
        let taken = TakenEntries { from, count: entries.len() as u64 };
        let mut trace = ConsoleTrace::new(agent.clone(), entries);
        trace.captured = captured_of(space.repository().layout(), agent, &trace.entries);
        BoundTrace::of(trace, taken, goes_on).map(Some)
    }

    /// Makes the objects of a trace that may go on from another.
    pub(crate) fn of(
        mut trace: ConsoleTrace,
        taken: TakenEntries,
        goes_on: impl FnOnce(&mut ConsoleTrace) -> Result<Vec<Cid>>,
    ) -> Result<BoundTrace> {
        let holders = goes_on(&mut trace)?;
        let objects = match holders.is_empty() {
            true => trace.to_objects()?,
            false => trace.to_joined_objects(&holders)?,
        };
        let cid = objects.last().expect("a trace has a naming object").cid();
        let note = trace.note_text(cid);
        let objects = objects.iter().map(KeptObject::from).collect();
        Ok(BoundTrace { cid, note, objects, taken })
    }
}
