//! Traces: what an agent saw and said, appended as it happens, bound to the commit it led to.

use agentic_git::{GitWriter, KeptLeaf};
use agentic_model::trace::{TRACE_BYTES_MAX, cid_in_note, split_entry};
use agentic_model::{AgentName, Cid, ConsoleTrace, Entry, Instant, Kind, Map, Object, Oid, Value};
use agentic_store::journal::{self, ArchivedAgent, NotesEdit, Transaction};
use agentic_store::{PendingAside, Stream};

use crate::commit::BoundTrace;
use crate::error::CommitError;
use crate::write::{LockedStream, begin_journal, open_writer};
use crate::written::WriteNotices;
use crate::{AgentBranch, Error, Result, Space};

/// How many traces go on in one another; then one object names all that hold entries.
pub const TRACE_CHAIN_MAX: usize = 64;
/// How many traces that others have chained are followed.
const TRACES_FOLLOWED_MAX: usize = 10_000;

/// How many whole entries are pending after one was added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddedEntries {
    /// When the entry was added.
    pub at: Instant,
    /// How many entries are pending, pieces of long ones counted one by one.
    pub n_pending: u64,
}

/// What binding the pending trace to a commit gave.
#[derive(Debug)]
pub struct AttachOutcome {
    /// The commit.
    pub commit: Oid,
    /// The id of the trace.
    pub cid: Cid,
    /// How many entries it has.
    pub n_entries: u64,
    /// Whether everything is visible.
    pub written: WriteNotices,
}

/// A trace that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownTrace {
    /// The commit it is bound to, if it was found by a commit.
    pub commit: Option<Oid>,
    /// Its id.
    pub cid: Cid,
    /// What it says.
    pub trace: ConsoleTrace,
}

/// One binding that a commit has had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastBinding {
    /// The trace; nothing if the note names none.
    pub cid: Option<Cid>,
    /// When it was bound.
    pub at: Instant,
    /// The notes commit that bound it.
    pub note_commit: Oid,
}

impl Space {
    /// Appends one entry to an agent's pending trace. Durable when this returns.
    ///
    /// # Errors
    /// Fails when there is no such agent, and when the entry alone is longer than a commit can bind.
    pub fn add_trace(&self, agent: &AgentName, kind: &Kind, body: &[u8]) -> Result<AddedEntries> {
        self.add_traces(agent, &[(kind, body)])
    }

    /// Appends entries to an agent's pending trace, all or none, with one sync. Durable when this
    /// returns.
    ///
    /// # Errors
    /// Fails as [`Space::add_trace`] does.
    pub fn add_traces(
        &self,
        agent: &AgentName,
        entries: &[(&Kind, &[u8])],
    ) -> Result<AddedEntries> {
        let n_bytes: usize = entries.iter().map(|(_, body)| body.len()).sum();
        if n_bytes > TRACE_BYTES_MAX {
            return Err(Error::Commit(CommitError::TraceTooLong { agent: agent.clone() }));
        }
        let at = self.now();
        let entries = entries.iter().flat_map(|(kind, body)| split_entry(kind, at, body)).collect();
        let mut writer = self.trace_writer(agent)?;
        writer.append_entries(entries, at, self.durability())?;
        let n_pending = writer.standing().map_or(0, |standing| standing.n_pending);
        Ok(AddedEntries { at, n_pending })
    }

    /// Appends entries to an agent's pending trace, in one write. Durable when this returns.
    pub fn add_entries(&self, agent: &AgentName, entries: Vec<Entry>) -> Result<()> {
        let mut writer = self.trace_writer(agent)?;
        Ok(writer.append_entries(entries, self.now(), self.durability())?)
    }

    /// Reads the entries that are bound to no commit yet, oldest first.
    ///
    /// # Errors
    /// Fails when there is no such agent or its journal is damaged.
    pub fn pending_trace(&self, agent: &AgentName) -> Result<Vec<Entry>> {
        self.head(agent)?;
        let stream = Stream::Agent(agent.clone());
        Ok(journal::pending_entries(self.repository().layout(), &stream)?)
    }

    /// Reads the pending entries of earlier journals of an agent's name of which nobody knows whether
    /// they belong to its branch as it is now.
    ///
    /// # Errors
    /// Fails when the journals that were set aside cannot be listed.
    pub fn pending_aside(&self, agent: &AgentName) -> Result<Vec<PendingAside>> {
        let layout = self.repository().layout();
        let mut found = agentic_store::pending_aside(layout, agent)?;
        if let Some(earlier) = self.renamed_from(agent)? {
            let entries = journal::pending_entries(layout, &Stream::Agent(earlier.clone()))?;
            let folder = format!("journal/{earlier}");
            found.extend((!entries.is_empty()).then_some(PendingAside { folder, entries }));
        }
        Ok(found)
    }

    /// Binds the pending entries to a commit that the agent has already made. A trace that was
    /// bound before goes on in the new one.
    ///
    /// # Errors
    /// Fails when nothing is pending or the commit is not one of the agent's.
    pub fn attach_trace(&self, agent: &AgentName, commit: Oid) -> Result<AttachOutcome> {
        self.attach_captured(agent, commit, Vec::new())
    }

    /// Binds the pending entries as [`Space::attach_trace`] does, and says which conversations they
    /// come from and how far each was read.
    ///
    /// # Errors
    /// Fails as [`Space::attach_trace`] does.
    pub fn attach_captured(
        &self,
        agent: &AgentName,
        commit: Oid,
        captured: Vec<Map>,
    ) -> Result<AttachOutcome> {
        self.bind_pending("trace attach", agent, (commit, captured), |head| {
            if self.repository().is_ancestor(commit, head)? {
                return Ok(());
            }
            Err(Error::Commit(CommitError::Foreign { commit, agent: agent.clone() }))
        })
    }

    /// Binds the pending entries to a commit that may have them as the agent's head is now, in one
    /// transaction of a verb.
    pub(crate) fn bind_pending(
        &self,
        verb: &str,
        agent: &AgentName,
        (commit, captured): (Oid, Vec<Map>),
        may_have: impl FnOnce(Oid) -> Result<()>,
    ) -> Result<AttachOutcome> {
        let signatures = self.signatures(agent)?;
        let (locked, head) = LockedStream::agent(self, agent)?;
        may_have(head)?;
        let goes_on = |trace: &mut ConsoleTrace| {
            if !captured.is_empty() {
                trace.captured = captured;
            }
            self.go_on_from(trace, agent, commit)
        };
        let bound = BoundTrace::append(self, locked.writer(), agent, goes_on)?;
        let bound = bound
            .ok_or(Error::Commit(CommitError::NoTrace { what: format!("agent `{agent}`") }))?;
        let n_entries = bound.taken.count;
        let transaction = Transaction {
            notes: Some(NotesEdit {
                name: agent.notes_ref(),
                notes: vec![(commit, bound.note)],
                objects: bound.objects,
            }),
            taken: bound.taken,
            ..signatures.transaction(verb)
        };
        let written = locked.decide(transaction, None, self.durability())?.follow().written;
        Ok(AttachOutcome { commit, cid: bound.cid, n_entries, written })
    }

    /// Finds the id of the trace that an agent's own notes bind to a commit.
    ///
    /// # Errors
    /// Fails when the notes cannot be read.
    pub fn bound_trace(&self, agent: &AgentName, commit: Oid) -> Result<Option<Cid>> {
        self.bound_cid(&agent.notes_ref(), commit)
    }

    /// Finds the trace that is bound to a commit, in the notes of whichever agent has it.
    ///
    /// # Errors
    /// Fails when the commit has none.
    pub fn trace_of_commit(&self, commit: Oid) -> Result<ShownTrace> {
        let claimed = self.claimed_agent(commit)?;
        let bound = |name: &str| {
            let cid = self.bound_cid(name, commit)?;
            Ok(cid.map(|cid| (name.to_owned(), cid)))
        };
        let leaf = KeptLeaf::Note(commit);
        if let Some((name, cid)) = self.find_in_notes(Some(&leaf), claimed.as_ref(), bound)? {
            let tip = self.repository().find_ref(&name)?;
            return self.trace_in_notes(tip, cid, commit);
        }
        Err(Error::Commit(CommitError::NoTrace { what: format!("commit `{commit}`") }))
    }

    /// Finds the trace of the newest commit on an agent's branch that has one.
    ///
    /// # Errors
    /// Fails when there is no such branch, or none of its commits has a trace.
    pub fn trace_of_branch(&self, branch: &AgentBranch) -> Result<ShownTrace> {
        let head = self.branch_head(branch)?;
        let notes = self.repository().find_ref(&branch.notes_ref())?;
        let found = self.newest_trace(&branch.agent, head, notes)?;
        let none = || CommitError::NoTrace { what: format!("agent `{branch}`") };
        found.ok_or_else(|| Error::Commit(none()))
    }

    /// Finds the trace of the newest commit of an archived agent that has one.
    ///
    /// # Errors
    /// Fails when none of its commits has a trace.
    pub fn trace_of_archived(&self, archived: &ArchivedAgent) -> Result<ShownTrace> {
        let ArchivedAgent { agent, head, notes } = archived;
        let found = self.newest_trace(agent, *head, *notes)?;
        let none = || CommitError::NoTrace { what: format!("agent `{agent}`") };
        found.ok_or_else(|| Error::Commit(none()))
    }

    fn newest_trace(
        &self,
        agent: &AgentName,
        head: Oid,
        notes_tip: Option<Oid>,
    ) -> Result<Option<ShownTrace>> {
        let notes = self.repository().notes_at(notes_tip)?;
        for commit in self.own_commits(agent, head)? {
            if let Some(cid) = notes.note(commit.oid)?.as_deref().and_then(cid_in_note) {
                return self.trace_in_notes(notes_tip, cid, commit.oid).map(Some);
            }
        }
        Ok(None)
    }

    /// Reads a trace by its id, from the notes of a branch if they keep it, which may be a remote's.
    ///
    /// # Errors
    /// Fails when it is not stored here or is no trace.
    pub fn trace_on_branch(
        &self,
        branch: &AgentBranch,
        cid: Cid,
        commit: Oid,
    ) -> Result<ShownTrace> {
        self.trace_in_notes(self.repository().find_ref(&branch.notes_ref())?, cid, commit)
    }

    /// Reads a trace by its id, from one state of notes if that keeps it: of a remote's or of an
    /// archived agent's.
    ///
    /// # Errors
    /// Fails when it is not stored here or is no trace.
    pub fn trace_in_notes(
        &self,
        notes_tip: Option<Oid>,
        cid: Cid,
        commit: Oid,
    ) -> Result<ShownTrace> {
        let notes = self.repository().notes_at(notes_tip)?;
        let read = |cid: Cid| match notes.object(cid)? {
            Some(bytes) => Ok(Object::decode(&bytes)?),
            None => self.object(cid),
        };
        Ok(ShownTrace { commit: Some(commit), cid, trace: whole_trace(cid, read)? })
    }

    /// Reads a trace by its id.
    ///
    /// # Errors
    /// Fails when it is not stored here or is no trace.
    pub fn trace_by_cid(&self, cid: Cid, commit: Option<Oid>) -> Result<ShownTrace> {
        Ok(ShownTrace { commit, cid, trace: whole_trace(cid, |cid| self.object(cid))? })
    }

    /// Lists the bindings that a commit has had, newest first.
    ///
    /// # Errors
    /// Fails when the history of the notes cannot be read.
    pub fn trace_history(&self, commit: Oid) -> Result<Vec<PastBinding>> {
        let claimed = self.claimed_agent(commit)?;
        // Who knows what notes keep does not know what they have kept.
        let versions = self.find_in_notes(None, claimed.as_ref(), |name| {
            let versions = self.repository().notes(name)?.history(commit)?;
            Ok((!versions.is_empty()).then_some(versions))
        })?;
        let binding = |version: agentic_git::NoteVersion| PastBinding {
            cid: version.text.as_deref().and_then(cid_in_note),
            at: version.note_commit.at,
            note_commit: version.note_commit.oid,
        };
        Ok(versions.into_iter().flatten().map(binding).collect())
    }

    /// Makes a trace go on where the one ends that is bound to a commit, if there is one.
    pub(crate) fn go_on_from(
        &self,
        trace: &mut ConsoleTrace,
        agent: &AgentName,
        commit: Oid,
    ) -> Result<Vec<Cid>> {
        let bound = self.bound_cid(&agent.notes_ref(), commit)?;
        bound.map_or(Ok(Vec::new()), |bound| self.go_on(trace, agent, bound))
    }

    /// Makes a trace go on where another ends: it names that one, or, where a reader would have to
    /// follow too many, all objects with entries, which are returned, oldest first.
    pub(crate) fn go_on(
        &self,
        trace: &mut ConsoleTrace,
        agent: &AgentName,
        bound: Cid,
    ) -> Result<Vec<Cid>> {
        let notes = self.repository().notes(&agent.notes_ref())?;
        let (mut holders, mut captured) = (Vec::new(), Vec::new());
        let (mut length, mut next) = (0, Some(bound));
        while let Some(cid) = next.filter(|_| length < TRACES_FOLLOWED_MAX) {
            let read = match notes.object(cid)? {
                Some(bytes) => Object::decode(&bytes).map_err(Error::from),
                None => self.object(cid),
            };
            // What is not here is named, and nothing else.
            let Ok(object) = read else { break };
            holders.push(ConsoleTrace::holders(&object)?);
            let said = object.map().get("captured").and_then(Value::as_list).unwrap_or_default();
            captured.push(said.iter().filter_map(Value::as_map).cloned().collect::<Vec<Map>>());
            next = object.map().get("previous").and_then(Value::as_link);
            length += 1;
        }
        if length < TRACE_CHAIN_MAX || next.is_some() {
            trace.previous = Some(bound);
            return Ok(Vec::new());
        }
        let mut captured: Vec<Map> = captured.into_iter().rev().flatten().collect();
        captured.append(&mut trace.captured);
        trace.captured = last_captured(captured);
        Ok(holders.into_iter().rev().flatten().collect())
    }

    /// Returns the id of the trace that a note of this ref names for a commit.
    pub(crate) fn bound_cid(&self, notes_ref: &str, commit: Oid) -> Result<Option<Cid>> {
        let note = self.repository().notes(notes_ref)?.note(commit)?;
        Ok(note.as_deref().and_then(cid_in_note))
    }

    /// Returns the agent that a commit names as its own.
    fn claimed_agent(&self, commit: Oid) -> Result<Option<AgentName>> {
        Ok(agentic_model::commit::Claims::read(&self.read_commit(commit)?.message).agent)
    }

    /// Opens the journal for an entry; looks no further into history than the journal's last record.
    fn trace_writer(&self, agent: &AgentName) -> Result<GitWriter<'_>> {
        // What goes wrong with it is found by `doctor`; this write is not about it.
        let _ = self.rest();
        let stream = Stream::Agent(agent.clone());
        // Nothing is made for an agent that is not there.
        let seen = self.head(agent)?;
        let mut writer = open_writer(self, &stream)?;
        self.journal_from_head(&mut writer, agent, seen)?;
        Ok(writer)
    }

    /// Begins a journal anew if it does not end with the head that was seen, nor with the head as it is now.
    pub(crate) fn journal_from_head(
        &self,
        writer: &mut GitWriter<'_>,
        agent: &AgentName,
        seen: Oid,
    ) -> Result<()> {
        let journalled = writer.standing().and_then(|standing| standing.head);
        if journalled != Some(seen) {
            // It may have moved while this waited for the lock.
            let head = self.head(agent)?;
            if journalled != Some(head) {
                begin_journal(self, writer, agent, head)?;
            }
        }
        self.note_found(writer.report());
        Ok(())
    }
}

/// Reads a trace with all that it goes on from, oldest first.
fn whole_trace(cid: Cid, read: impl Fn(Cid) -> Result<Object>) -> Result<ConsoleTrace> {
    let mut whole = ConsoleTrace::from_object::<Error>(&read(cid)?, &read)?;
    let mut earlier = Vec::new();
    let mut next = whole.previous;
    while let Some(cid) = next.filter(|_| earlier.len() < TRACES_FOLLOWED_MAX) {
        let trace = ConsoleTrace::from_object::<Error>(&read(cid)?, &read)?;
        next = trace.previous;
        earlier.push(trace);
    }
    if earlier.is_empty() {
        return Ok(whole);
    }
    let (mut entries, mut captured) = (Vec::new(), Vec::new());
    for trace in earlier.into_iter().rev() {
        entries.extend(trace.entries);
        captured.extend(trace.captured);
    }
    entries.append(&mut whole.entries);
    captured.append(&mut whole.captured);
    (whole.entries, whole.captured) = (entries, last_captured(captured));
    Ok(whole)
}

/// Keeps of each file of a conversation what was said of it last.
fn last_captured(all: Vec<Map>) -> Vec<Map> {
    let place = |said: &Map| {
        ["source", "conversation", "file"]
            .map(|name| said.get(name).map(|value| format!("{value:?}")))
    };
    let mut kept: Vec<Map> = Vec::new();
    for said in all {
        match kept.iter_mut().find(|earlier| place(earlier) == place(&said)) {
            Some(earlier) => *earlier = said,
            None => kept.push(said),
        }
    }
    kept
}
