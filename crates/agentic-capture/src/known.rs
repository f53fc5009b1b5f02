//! What a conversation has said already: the entries that are pending, and those bound to commits.
//!
//! Entries are known by their ids. Those that are named by their place in a file, since their vendor
//! names no lines, are also known by a keyed hash of what they say: a file that was written anew has
//! them elsewhere. What was purged keeps that hash, since its words are gone. Only numbers are kept, so
//! that a long conversation costs little.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::trace::cid_in_note;
use agentic_model::{AgentName, Cid, Entry, Map, Object, Oid, Value};
use agentic_space::Space;

use crate::cursor::CaptureKey;
use crate::entry::{CapturedEntry, EntryName};
use crate::{CaptureError, ConversationId};

/// How many objects of one agent's traces are read.
const OBJECTS_MAX: usize = 1 << 20;
/// What tells two entries of one text apart.
const TELLING: [&str; 3] = ["call", "tool", "subagent"];

/// Where a purged entry keeps what its line is known by.
const PURGED_LINE: &str = "purged-line";

/// What the place of a line says, where its vendor gives it no id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PlaceNames {
    /// That it is the line which stood there before.
    #[default]
    Hold,
    /// Nothing: the file was written anew, and another line may stand there.
    Moved,
}

/// Entries that make nothing when they are read again.
#[derive(Debug, Default)]
pub struct KnownEntries {
    key: CaptureKey,
    places: PlaceNames,
    ids: Vec<u128>,
    words: Vec<u128>,
    /// What lines are known by whose words were purged.
    purged: Vec<u128>,
    /// How far files were read, as the traces say that were bound.
    reached: BTreeMap<String, u64>,
    /// Whether lines of the conversation are known that are in no bound trace. No trace says how far their file was
    /// read.
    has_pending: bool,
}

impl KnownEntries {
    /// Knows nothing yet.
    pub fn new(key: &CaptureKey, places: PlaceNames) -> KnownEntries {
        KnownEntries { key: *key, places, ..KnownEntries::default() }
    }

    /// Takes in entries in their order; what those of this conversation say is known, too.
    pub fn add(&mut self, conversation: &ConversationId, entries: &[Entry]) {
        let own = conversation.to_string();
        let mut word: Option<blake3::Hasher> = None;
        for entry in entries {
            let meta = |key: &str| entry.meta.get(key).and_then(Value::as_text);
            self.ids.extend(meta("id").and_then(number));
            self.purged.extend(meta(PURGED_LINE).and_then(number));
            if meta("conversation") != Some(own.as_str()) {
                word = None;
                continue;
            }
            let hasher =
                word.get_or_insert_with(|| begin(&self.key, entry.kind.as_str(), &entry.meta));
            hasher.update(body_of(entry));
            if !entry.continues {
                self.words.extend(word.take().map(|hasher| half(&hasher)));
            }
        }
        for numbers in [&mut self.ids, &mut self.words, &mut self.purged] {
            numbers.sort_unstable();
            numbers.dedup();
        }
    }

    /// Takes in entries likewise that are bound to no commit yet.
    pub fn add_pending(&mut self, conversation: &ConversationId, entries: &[Entry]) {
        let own = conversation.to_string();
        let is_own = |entry: &Entry| {
            entry.meta.get("conversation").and_then(Value::as_text) == Some(own.as_str())
        };
        self.has_pending |= entries.iter().any(is_own);
        self.add(conversation, entries);
    }

    /// Takes in what of a conversation is bound in the notes of an agent.
    ///
    /// # Errors
    /// Fails when the notes cannot be read.
    pub fn add_bound(
        &mut self,
        space: &Space,
        agent: &AgentName,
        conversation: &ConversationId,
    ) -> Result<(), CaptureError> {
        each_trace(space, notes_of(space, agent)?, |object| {
            let items = object.map().get("entries").and_then(Value::as_list).unwrap_or_default();
            let entries = items.iter().filter_map(|item| Entry::from_value(item).ok());
            self.add(conversation, &entries.collect::<Vec<Entry>>());
            let said = object.map().get("captured").and_then(Value::as_list).unwrap_or_default();
            for said in said.iter().filter_map(Value::as_map) {
                if let Some((file, to)) = reached(said, conversation) {
                    let known = self.reached.entry(file.to_owned()).or_default();
                    *known = to.max(*known);
                }
            }
        })
    }

    /// Returns how far a file was read, as far as anybody says; nothing if nothing of it is known.
    pub fn reached(&self, file: &str) -> Option<u64> {
        let said = self.reached.get(file).copied().filter(|_| !self.has_pending);
        let knows_lines = !self.words.is_empty() || !self.purged.is_empty();
        said.or_else(|| knows_lines.then_some(u64::MAX))
    }

    /// Tells whether an entry is known.
    pub fn has(&self, entry: &CapturedEntry) -> bool {
        let is_named = entry.named_by == EntryName::Vendor || self.places == PlaceNames::Hold;
        let has_id = || number(entry.id()).is_some_and(|id| self.ids.binary_search(&id).is_ok());
        if is_named && has_id() {
            return true;
        }
        let knows_lines = !self.words.is_empty() || !self.purged.is_empty();
        if entry.named_by == EntryName::Vendor || !knows_lines {
            return false;
        }
        let mut hasher = begin(&self.key, entry.kind.as_str(), &entry.meta);
        hasher.update(entry.text.as_bytes());
        let word = half(&hasher);
        let has_line = || {
            let line = line_of(&self.key, &entry.meta, word);
            line.is_some_and(|line| self.purged.binary_search(&line).is_ok())
        };
        self.words.binary_search(&word).is_ok() || has_line()
    }
}

/// Lets entries that a purge made of the pieces of a line keep what that is known by, if it is one of a
/// conversation.
pub fn keep_line(key: &CaptureKey, before: &[Entry], purged: &mut [Entry]) {
    let (Some(first), Some(kept)) = (before.first(), purged.first_mut()) else { return };
    let mut hasher = begin(key, first.kind.as_str(), &first.meta);
    for entry in before {
        hasher.update(body_of(entry));
    }
    // What was purged before is known already by what it said first.
    let line = match first.meta.get(PURGED_LINE) {
        Some(line) => Some(line.clone()),
        None => {
            line_of(key, &first.meta, half(&hasher)).map(|line| Value::text(format!("{line:032x}")))
        }
    };
    kept.meta.extend(line.map(|line| (PURGED_LINE.to_owned(), line)));
}

/// Returns what a line of a conversation is known by once it is purged: another one for the same words in
/// another conversation.
fn line_of(key: &CaptureKey, meta: &Map, word: u128) -> Option<u128> {
    let mut hasher = blake3::Hasher::new_keyed(key);
    hasher.update(meta.get("conversation").and_then(Value::as_text)?.as_bytes());
    hasher.update(b"\0");
    hasher.update(&word.to_le_bytes());
    Some(half(&hasher))
}

fn begin(key: &CaptureKey, kind: &str, meta: &Map) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new_keyed(key);
    let told = TELLING.map(|key| meta.get(key).and_then(Value::as_text).unwrap_or_default());
    for part in [kind].iter().chain(&told) {
        hasher.update(part.as_bytes());
        hasher.update(b"\0");
    }
    hasher
}

/// Returns the bytes of what an entry says.
pub fn body_of(entry: &Entry) -> &[u8] {
    let text = entry.body.as_text().map(str::as_bytes);
    text.or_else(|| entry.body.as_bytes()).unwrap_or_default()
}

/// Finds the notes of an agent that is open or archived.
///
/// # Errors
/// Fails when refs or the archive cannot be read.
pub fn notes_of(space: &Space, agent: &AgentName) -> Result<Option<Oid>, CaptureError> {
    let repository = space.repository();
    if repository.find_ref(&agent.branch_ref())?.is_some() {
        return Ok(repository.find_ref(&agent.notes_ref())?);
    }
    Ok(repository.archive_entry(agent)?.and_then(|entry| entry.archived.notes))
}

/// Reads the objects of all traces that one state of notes names, one at a time.
///
/// # Errors
/// Fails when the notes cannot be read. An object that is not here is left out.
pub fn each_trace(
    space: &Space,
    tip: Option<Oid>,
    mut visit: impl FnMut(&Object),
) -> Result<(), CaptureError> {
    let notes = space.repository().notes_at(tip)?;
    let named = notes.all_notes()?.into_iter();
    let mut ahead: Vec<Cid> = named.filter_map(|(_, text)| cid_in_note(&text)).collect();
    let mut seen: BTreeSet<Cid> = ahead.iter().copied().collect();
    while let Some(cid) = ahead.pop() {
        let Some(bytes) = notes.object(cid)? else { continue };
        let Ok(object) = Object::decode(&bytes) else { continue };
        visit(&object);
        let parts = object.map().get("parts").and_then(Value::as_list).unwrap_or_default();
        let linked = parts.iter().chain(object.map().get("previous")).filter_map(Value::as_link);
        ahead.extend(linked.filter(|cid| seen.len() < OBJECTS_MAX && seen.insert(*cid)));
    }
    Ok(())
}

/// Returns which file was read how far, if that is said of a conversation.
pub fn reached<'m>(said: &'m Map, conversation: &ConversationId) -> Option<(&'m str, u64)> {
    let text = |key: &str| said.get(key).and_then(Value::as_text);
    let is_it = text("source") == Some(conversation.source.as_str())
        && text("conversation") == Some(&conversation.native);
    let to = said.get("to").and_then(Value::as_int).and_then(|to| u64::try_from(to).ok());
    text("file").filter(|_| is_it).zip(to)
}

fn number(id: &str) -> Option<u128> {
    u128::from_str_radix(id, 16).ok()
}

fn half(hasher: &blake3::Hasher) -> u128 {
    let mut first = [0; 16];
    first.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    u128::from_le_bytes(first)
}

#[cfg(test)]
mod tests;
