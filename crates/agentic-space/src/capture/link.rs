//! Binding commits that plain git made to the agent whose they are.

use agentic_model::{AgentName, Cid, ConsoleTrace, Object, Oid, Value};
use agentic_store::journal::{NotesEdit, TakenEntries, Transaction};

use crate::commit::BoundTrace;
use crate::error::CommitError;
use crate::trace::AttachOutcome;
use crate::write::LockedStream;
use crate::{Error, Result, Space};

/// The verb under which the journal has it.
const VERB: &str = "trace link";
/// How many commits back a trace is looked for in which a commit without entries goes on.
const COMMITS_BACK_MAX: usize = 64;

impl Space {
    /// Binds the pending entries of an agent to a commit that it made with plain git, on whatever branch.
    /// A trace that was bound before goes on in the new one.
    ///
    /// Where nothing is pending, the commit gets a trace without entries, for whose it is is known all
    /// the same. That goes on in the trace of the newest commit of the agent's at `before`, where the
    /// head was when the commit was made.
    ///
    /// # Errors
    /// Fails when there is no such agent, and when the notes cannot be written.
    pub fn link_trace(
        &self,
        agent: &AgentName,
        commit: Oid,
        before: Option<Oid>,
    ) -> Result<AttachOutcome> {
        match self.link_pending(agent, commit)? {
            Some(bound) => Ok(bound),
            None => self.link_without_entries(agent, commit, before),
        }
    }

    /// Binds the pending entries of an agent to such a commit; nothing where nothing is pending.
    ///
    /// # Errors
    /// Fails when there is no such agent, and when the notes cannot be written.
    pub fn link_pending(&self, agent: &AgentName, commit: Oid) -> Result<Option<AttachOutcome>> {
        match self.bind_pending(VERB, agent, (commit, Vec::new()), |_head| Ok(())) {
            Ok(bound) => Ok(Some(bound)),
            Err(Error::Commit(CommitError::NoTrace { .. })) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Tells whether a commit was linked to an agent before there was an entry to bind.
    ///
    /// # Errors
    /// Fails when the notes cannot be read.
    pub fn awaits_entries(&self, agent: &AgentName, commit: Oid) -> Result<bool> {
        let notes_ref = agent.notes_ref();
        let Some(cid) = self.bound_cid(&notes_ref, commit)? else { return Ok(false) };
        let Some(bytes) = self.repository().notes(&notes_ref)?.object(cid)? else {
            return Ok(false);
        };
        let object = Object::decode(&bytes)?;
        let entries = object.map().get("entries").and_then(Value::as_list);
        Ok(entries.is_some_and(<[Value]>::is_empty))
    }

    fn link_without_entries(
        &self,
        agent: &AgentName,
        commit: Oid,
        before: Option<Oid>,
    ) -> Result<AttachOutcome> {
        let signatures = self.signatures(agent)?;
        let (locked, _head) = LockedStream::agent(self, agent)?;
        let earlier = match self.bound_cid(&agent.notes_ref(), commit)? {
            Some(bound) => Some(bound),
            None => self.newest_bound(agent, before)?,
        };
        let goes_on = |trace: &mut ConsoleTrace| {
            earlier.map_or(Ok(Vec::new()), |earlier| self.go_on(trace, agent, earlier))
        };
        let trace = ConsoleTrace::new(agent.clone(), Vec::new());
        let bound = BoundTrace::of(trace, TakenEntries::default(), goes_on)?;
        let transaction = Transaction {
            notes: Some(NotesEdit {
                name: agent.notes_ref(),
                notes: vec![(commit, bound.note)],
                objects: bound.objects,
            }),
            ..signatures.transaction(VERB)
        };
        let written = locked.decide(transaction, None, self.durability())?.follow().written;
        Ok(AttachOutcome { commit, cid: bound.cid, n_entries: 0, written })
    }

    /// Finds the trace of the newest commit with one of the agent's, from a commit on backwards.
    fn newest_bound(&self, agent: &AgentName, from: Option<Oid>) -> Result<Option<Cid>> {
        let notes_ref = agent.notes_ref();
        let mut next = from;
        for _ in 0..COMMITS_BACK_MAX {
            let Some(commit) = next else { break };
            if let Some(cid) = self.bound_cid(&notes_ref, commit)? {
                return Ok(Some(cid));
            }
            next = self.read_commit(commit)?.parents.first().copied();
        }
        Ok(None)
    }
}
