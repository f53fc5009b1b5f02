//! Catching up with a transcript: from where its cursor stands to its last whole line, as entries
//! that nobody has yet.
//!
//! What goes wrong between the append of the entries and the cursor costs reading the same lines
//! again: their ids are known by then.

use std::collections::BTreeSet;
use std::fs::File;

use agentic_model::{Entry, Value};

use crate::cursor::{CaptureKey, CursorMatch, CursorOwner, TranscriptCursor, open_at};
use crate::entry::{CapturedEntry, EntryName};
use crate::line_json::TextRedactor;
use crate::mapping::{ConversationMapping, CopiedItem};
use crate::transcript::{TranscriptLine, TranscriptReader};

/// How many bytes of text one go gives; the next goes on.
pub const CAUGHT_UP_BYTES_MAX: usize = 8 << 20;

/// What a conversation has told already.
#[derive(Debug, Default)]
pub struct KnownEntries {
    ids: BTreeSet<[u8; 16]>,
    contents: BTreeSet<u64>,
}

impl KnownEntries {
    /// Takes in entries of a trace; those that nobody captured say nothing here.
    pub fn learn(&mut self, entries: &[Entry]) {
        let mut text = String::new();
        for entry in entries {
            text.push_str(entry.body.as_text().unwrap_or_default());
            if entry.continues {
                continue;
            }
            if let Some(id) = entry.meta.get("id").and_then(Value::as_text).and_then(id_bytes) {
                self.ids.insert(id);
                self.contents.insert(content_hash(entry.kind.as_str(), entry.at.millis(), &text));
            }
            text.clear();
        }
    }

    /// Takes an entry in, if it is not known.
    fn is_new(&mut self, entry: &CapturedEntry, found: CursorMatch) -> bool {
        let Some(id) = id_bytes(entry.id()) else { return true };
        let content = content_hash(entry.kind.as_str(), entry.at.millis(), &entry.text);
        // In a file that was written anew a place names another line than before.
        let moved = found == CursorMatch::Anew
            && entry.named_by == EntryName::Place
            && self.contents.contains(&content);
        let is_new = self.ids.insert(id) && !moved;
        self.contents.insert(content);
        is_new
    }
}

fn id_bytes(id: &str) -> Option<[u8; 16]> {
    u128::from_str_radix(id, 16).ok().filter(|_| id.len() == 32).map(u128::to_be_bytes)
}

fn content_hash(kind: &str, at: i64, text: &str) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(kind.as_bytes());
    hasher.update(&at.to_le_bytes());
    hasher.update(text.as_bytes());
    let mut first = [0; 8];
    first.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    u64::from_le_bytes(first)
}

/// A transcript that is read on.
pub struct CatchingUp<'c> {
    /// Whose it is.
    pub owner: CursorOwner<'c>,
    /// How the file is called below the folder of its vendor.
    pub name: &'c str,
    /// The key with which bytes are hashed.
    pub key: &'c CaptureKey,
    /// What was told already.
    pub known: &'c mut KnownEntries,
    /// What a fork may repeat: the lines of its parent, if they are here.
    pub parent_items: &'c mut dyn FnMut(&str) -> Vec<CopiedItem>,
}

/// Whether more follows what was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TranscriptRest {
    /// There is more to read.
    More,
    /// It was read to its last whole line.
    None,
}

/// What reading on gave.
#[derive(Debug)]
pub struct CaughtUp {
    /// What nobody had yet.
    pub entries: Vec<CapturedEntry>,
    /// How many entries the lines make, those that were known among them.
    pub n_seen: u64,
    /// Where reading stands now.
    pub cursor: TranscriptCursor,
    /// What was mapped: facts, and what is held.
    pub mapping: ConversationMapping,
    /// Whether more follows.
    pub rest: TranscriptRest,
}

impl CatchingUp<'_> {
    /// Reads on from a cursor until the transcript ends, `stop` says so, or
    /// [`CAUGHT_UP_BYTES_MAX`] are read; always at the end of a line.
    ///
    /// # Errors
    /// Fails when the file cannot be read.
    pub fn read_on(
        &mut self,
        file: &mut File,
        cursor: Option<&TranscriptCursor>,
        redactor: &mut TextRedactor<'_>,
        stop: &mut dyn FnMut() -> bool,
    ) -> std::io::Result<CaughtUp> {
        let open = open_at(file.try_clone()?, cursor, self.key)?;
        let conversation = self.owner.conversation;
        let goes_on = cursor.filter(|_| open.found == CursorMatch::GoesOn);
        let restored = goes_on
            .and_then(|cursor| ConversationMapping::restore(conversation.clone(), &cursor.state));
        let mut mapping = restored
            .unwrap_or_else(|| ConversationMapping::new(conversation.clone(), self.owner.subagent));
        // A first reading finds nothing moved.
        let found = if cursor.is_some() { open.found } else { CursorMatch::GoesOn };
        let mut reader = TranscriptReader::new(open.input, open.place);
        let (mut entries, mut n_seen, mut n_bytes) = (Vec::new(), 0, 0);
        let mut rest = TranscriptRest::None;
        loop {
            if n_bytes > CAUGHT_UP_BYTES_MAX || stop() {
                rest = TranscriptRest::More;
                break;
            }
            let made = match reader.next_line()? {
                None => break,
                Some(TranscriptLine::Whole { offset, bytes }) => {
                    n_bytes += bytes.len();
                    mapping.line(offset, bytes, redactor)
                }
                Some(TranscriptLine::TooLong { offset, length }) => mapping.skipped(offset, length),
            };
            n_seen += made.len() as u64;
            entries.extend(made.into_iter().filter(|entry| self.known.is_new(entry, found)));
            if mapping.expects_copies() {
                let parent = mapping.facts().forked_from().map(str::to_owned);
                let items = parent.map(|parent| (self.parent_items)(&parent)).unwrap_or_default();
                mapping.expect_copies(items);
            }
        }
        let cursor = TranscriptCursor::of(file, self.name, reader.place(), self.key)?;
        let cursor = cursor.with_state(mapping.state());
        Ok(CaughtUp { entries, n_seen, cursor, mapping, rest })
    }
}

#[cfg(test)]
mod tests;
