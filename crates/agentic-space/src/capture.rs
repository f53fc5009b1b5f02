//! Appending what is captured, and binding it to commits that plain git made.
//!
//! Whoever captures stands in somebody's way, and would rather come again than wait for a lock.

mod fetched;
mod link;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use agentic_git::GitWriter;
use agentic_model::{AgentName, ConsoleTrace, Entry, Map, Object, Oid, Value, canonical};
use agentic_store::file::{self, Persistence};
use agentic_store::journal::{KeptObject, NotesEdit, TakenEntries, Transaction};
use agentic_store::{Layout, Patience, Stream};

use crate::commit::BoundTrace;
use crate::trace::AttachOutcome;
use crate::write::{LockedStream, open_writer_within};
use crate::{Result, Space};

pub use self::fetched::FetchedAgents;
pub(crate) use self::fetched::note_fetched;

/// How many conversations of one agent are remembered.
const CAPTURED_MAX: usize = 256;
/// The longest list of them that is read, in bytes.
const CAPTURED_BYTES_MAX: u64 = 1 << 20;
/// What tells one conversation's file from another.
const CAPTURED_KEYS: [&str; 4] = ["source", "conversation", "subagent", "file"];

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
        let stream = Stream::Agent(agent.clone());
        let opened = open_writer_within(self, &stream, Patience::of(wait))?;
        let Some(mut writer) = opened else { return Ok(None) };
        self.journal_from_head(&mut writer, agent, seen)?;
        Ok(Some(PendingWriter { space: self, writer }))
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

/// Entries that are bound at once.
#[derive(Debug, Clone, Default)]
pub struct AttachedEntries {
    /// They.
    pub entries: Vec<Entry>,
    /// What is said of the conversations that they come from.
    pub captured: Vec<Map>,
    /// Objects that they name.
    pub objects: Vec<Object>,
}

impl<'s> PendingWriter<'s> {
    /// Keeps objects that entries will name, in one write. The lock is given back.
    ///
    /// # Errors
    /// Fails when the disk does; nothing is kept then.
    pub fn keep_objects(self, agent: &AgentName, objects: &[Object]) -> Result<()> {
        let space = self.space;
        let signatures = space.signatures(agent)?;
        let transaction = Transaction::keeping(
            "capture",
            agent.notes_ref(),
            objects.iter().map(KeptObject::from).collect(),
            (signatures.author, signatures.committer),
        );
        let head = space.head(agent)?;
        let locked = LockedStream::of_writer(space, self.writer, head);
        let _written = locked.decide(transaction, None, space.durability())?.follow().written;
        Ok(())
    }

    /// Binds entries that were pending nowhere to a commit of the agent's, in one write. What is pending
    /// stays so. A trace that was bound before goes on in the new one.
    ///
    /// # Errors
    /// Fails when the disk does; nothing is bound then.
    pub fn attach(
        self,
        agent: &AgentName,
        commit: Oid,
        attached: AttachedEntries,
    ) -> Result<AttachOutcome> {
        let AttachedEntries { entries, captured, objects } = attached;
        let (space, n_entries) = (self.space, entries.len() as u64);
        let signatures = space.signatures(agent)?;
        let mut trace = ConsoleTrace::new(agent.clone(), entries);
        trace.captured = captured;
        let goes_on = |trace: &mut ConsoleTrace| space.go_on_from(trace, agent, commit);
        let bound = BoundTrace::of(trace, TakenEntries::default(), goes_on)?;
        let named = objects.iter().map(KeptObject::from);
        let transaction = Transaction {
            notes: Some(NotesEdit {
                name: agent.notes_ref(),
                notes: vec![(commit, bound.note)],
                objects: named.chain(bound.objects).collect(),
            }),
            ..signatures.transaction("import")
        };
        let head = space.head(agent)?;
        let locked = LockedStream::of_writer(space, self.writer, head);
        let written = locked.decide(transaction, None, space.durability())?.follow().written;
        Ok(AttachOutcome { commit, cid: bound.cid, n_entries, written })
    }
}

/// Says how far a conversation of an agent was read, for the trace that its entries will be bound in.
///
/// # Errors
/// Fails when the folder cannot be written.
pub fn note_captured(layout: &Layout, agent: &AgentName, said: Map) -> Result<()> {
    let mut known = read_captured(layout, agent);
    if known.last() == Some(&said) {
        return Ok(());
    }
    let place = |said: &Map| CAPTURED_KEYS.map(|key| said.get(key).cloned());
    known.retain(|other| place(other) != place(&said));
    known.push(said);
    let n_too_many = known.len().saturating_sub(CAPTURED_MAX);
    known.drain(..n_too_many);
    let value = Value::List(known.into_iter().map(Value::Map).collect());
    let Ok(bytes) = canonical::encode(&value) else { return Ok(()) };
    let place = captured_place(layout, agent);
    // Each event comes by here: what many agents have in common is not touched again.
    if let Some(folder) = place.parent().filter(|_| !place.exists()) {
        file::make_private_folder(folder)?;
    }
    Ok(file::replace(&place, &bytes, Persistence::Cache)?)
}

/// Lists what was said of the conversations that entries come from. Of one of which nothing was said, or
/// that is forgotten, its name stays.
pub(crate) fn captured_of(layout: &Layout, agent: &AgentName, entries: &[Entry]) -> Vec<Map> {
    let named = entries.iter().filter_map(|entry| entry.meta.get("conversation")?.as_text());
    let mut named: BTreeSet<&str> = named.collect();
    if named.is_empty() {
        return Vec::new();
    }
    let mut captured = read_captured(layout, agent);
    let name = |said: &Map| {
        let text = |key: &str| said.get(key).and_then(Value::as_text).unwrap_or_default();
        format!("{}:{}", text("source"), text("conversation"))
    };
    captured.retain(|said| named.contains(name(said).as_str()));
    for said in &captured {
        named.remove(name(said).as_str());
    }
    let only_named = named.into_iter().filter_map(|name| name.split_once(':'));
    captured.extend(only_named.map(|(source, conversation)| {
        Map::from([
            ("source".to_owned(), Value::text(source)),
            ("conversation".to_owned(), Value::text(conversation)),
        ])
    }));
    captured
}

/// Lists what was said of the conversations of an agent last; nothing of those that are forgotten.
pub fn read_captured(layout: &Layout, agent: &AgentName) -> Vec<Map> {
    let read = file::read_small(&captured_place(layout, agent), CAPTURED_BYTES_MAX);
    let Ok(bytes) = read else { return Vec::new() };
    let value = canonical::decode(&bytes);
    let said = value.as_ref().ok().and_then(Value::as_list).unwrap_or_default();
    said.iter().filter_map(Value::as_map).cloned().collect()
}

/// Few agents share a folder: whoever writes a file anew waits for all who do so beside it.
fn captured_place(layout: &Layout, agent: &AgentName) -> PathBuf {
    let shard = &agentic_store::hash_hex(agent.as_str().as_bytes())[..2];
    layout.capture().join("reached").join(shard).join(agent.as_str())
}
