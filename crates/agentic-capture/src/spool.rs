//! Facts that are in no transcript and whose agent was busy: they wait in files of their own for the
//! next hook that has the agent's lock. Those of a conversation whose agent could not even be made wait
//! for the one that it gets.
//!
//! A file is durable before the hook ends. It goes after its entries are in the journal; what a crash
//! leaves of both is told apart by the entries' ids.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use agentic_model::{AgentName, Entry, Value, canonical};
use agentic_space::capture::PendingWriter;
use agentic_store::Layout;
use agentic_store::file::{self, Persistence, unique_number};

use crate::conversation::file_name_of;
use crate::{CaptureError, ConversationId};

/// The longest file that is read, in bytes.
const SPOOL_BYTES_MAX: u64 = 64 << 20;
/// How many files are drained at once.
const FILES_MAX: usize = 256;

/// Whose facts wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpoolOwner<'o> {
    /// Those of whoever has this agent.
    Agent(&'o AgentName),
    /// Those of a conversation that has no agent yet.
    Conversation(&'o ConversationId),
}

/// Makes the place where facts of somebody will wait.
///
/// # Errors
/// Fails when the folder cannot be made.
pub fn make_room(layout: &Layout, owner: SpoolOwner<'_>) -> Result<(), CaptureError> {
    let folder = folder(layout, owner);
    std::fs::create_dir_all(folder).map_err(|source| CaptureError::Io { source })
}

/// Tells whether facts of somebody ever waited.
pub fn has_room(layout: &Layout, owner: SpoolOwner<'_>) -> bool {
    folder(layout, owner).exists()
}

/// Puts entries down for the next who may append them to a trace.
///
/// # Errors
/// Fails when the disk does; then nothing was put down.
pub fn put(layout: &Layout, owner: SpoolOwner<'_>, entries: &[Entry]) -> Result<(), CaptureError> {
    if entries.is_empty() {
        return Ok(());
    }
    make_room(layout, owner)?;
    let folder = folder(layout, owner);
    let value = Value::List(entries.iter().map(Entry::to_value).collect());
    let bytes = canonical::encode(&value).map_err(|_| CaptureError::Other { code: "spool" })?;
    let number = (std::process::id(), unique_number());
    // Names sort as they were made, as far as clocks go.
    let at = entries.first().map_or(0, |entry| entry.at.millis());
    let name = format!("{at:016x}-{}-{}", number.0, number.1);
    Ok(file::replace(&folder.join(name), &bytes, Persistence::Synced)?)
}

/// Appends what waits for an agent, and for the conversation that it has, before whoever has its lock
/// appends something else.
///
/// # Errors
/// Fails when the disk does; what waits then goes on waiting.
pub fn drain(
    layout: &Layout,
    agent: &AgentName,
    conversation: &ConversationId,
    writer: &mut PendingWriter<'_>,
) -> Result<(), CaptureError> {
    // What waited while there was no agent came before it.
    let mut files = waiting(layout, SpoolOwner::Conversation(conversation));
    files.extend(waiting(layout, SpoolOwner::Agent(agent)));
    if files.is_empty() {
        return Ok(());
    }
    let known = ids(&writer.pending_entries()?);
    let mut entries = Vec::new();
    for path in &files {
        let read = read(path);
        let new = read.into_iter().filter(|entry| !id(entry).is_some_and(|id| known.contains(id)));
        entries.extend(new);
    }
    if !entries.is_empty() {
        writer.append(entries)?;
    }
    for path in files {
        file::remove(&path)?;
    }
    Ok(())
}

/// Lists the files of somebody that wait, oldest first.
pub fn waiting(layout: &Layout, owner: SpoolOwner<'_>) -> Vec<PathBuf> {
    let found = std::fs::read_dir(folder(layout, owner)).into_iter().flatten().flatten();
    let is_whole = |path: &PathBuf| path.extension().is_none();
    let mut files: Vec<PathBuf> = found.map(|entry| entry.path()).filter(is_whole).collect();
    files.sort();
    files.truncate(FILES_MAX);
    files
}

fn folder(layout: &Layout, owner: SpoolOwner<'_>) -> PathBuf {
    let name = match owner {
        SpoolOwner::Agent(agent) => agent.to_string(),
        // No agent is called like this.
        SpoolOwner::Conversation(id) => format!("_{}", file_name_of(id)),
    };
    layout.capture().join("spool").join(name)
}

/// Reads the entries of a file; none of one that is damaged, which nobody can mend.
pub(crate) fn read(path: &Path) -> Vec<Entry> {
    let bytes = file::read_small(path, SPOOL_BYTES_MAX).unwrap_or_default();
    let value = canonical::decode(&bytes);
    let items = value.as_ref().ok().and_then(Value::as_list).unwrap_or_default();
    items.iter().filter_map(|item| Entry::from_value(item).ok()).collect()
}

/// Collects the ids of entries.
pub(crate) fn ids(entries: &[Entry]) -> BTreeSet<String> {
    entries.iter().filter_map(|entry| id(entry).map(str::to_owned)).collect()
}

fn id(entry: &Entry) -> Option<&str> {
    entry.meta.get("id").and_then(Value::as_text)
}
