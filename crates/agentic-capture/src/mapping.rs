//! From the lines of a transcript to entries: one table for each source, in a file of its own.
//!
//! Pure. Bytes of lines come in with their offset, entries go out. What a line says that only later
//! lines decide is held; [`ConversationMapping::state`] takes it along in a cursor. Fed in one piece
//! or line by line, over any number of restores, a transcript gives the same entries.
//!
//! Nothing that a vendor may add is an error: what no table knows becomes `raw`, or `meta.more`.

use agentic_model::{Instant, Map, Value};

use crate::entry::{CapturedEntry, CapturedKind, EntryName, EntryPlace};
use crate::line_json::{LineJson, TextRedactor};
use crate::mapping::claude::ClaudeTable;
use crate::mapping::codex::CodexTable;
use crate::mapping::facts::ConversationFacts;
use crate::mapping::opencode::OpencodeTable;
use crate::{ConversationId, Source};

mod claude;
mod codex;
mod copilot;
mod cursor;
pub mod facts;
mod gemini;
mod opencode;
pub(crate) mod pictures;

pub use crate::mapping::codex::copies::{COPIED_ITEMS_MAX, CopiedItem};

/// The mark that some editors put before the first byte of a text.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Maps the transcript of one conversation, or of one of its subagents.
#[derive(Debug, Clone, PartialEq)]
pub struct ConversationMapping {
    conversation: ConversationId,
    facts: ConversationFacts,
    table: SourceTable,
}

/// What each source holds back between its lines.
#[derive(Debug, Clone, PartialEq)]
enum SourceTable {
    Claude(ClaudeTable),
    Codex(Box<CodexTable>),
    Cursor,
    Gemini,
    Copilot,
    Opencode(OpencodeTable),
}

impl ConversationMapping {
    /// Begins a transcript. A subagent's has the conversation of its parent.
    pub fn new(conversation: ConversationId, subagent: Option<&str>) -> ConversationMapping {
        let table = SourceTable::new(conversation.source);
        ConversationMapping { conversation, facts: ConversationFacts::new(subagent), table }
    }

    /// Goes on where a state was taken; nothing if it is none of ours.
    pub fn restore(conversation: ConversationId, state: &Value) -> Option<ConversationMapping> {
        let facts = ConversationFacts::from_value(state.get("facts")?)?;
        let table = SourceTable::restore(conversation.source, state.get("table")?)?;
        Some(ConversationMapping { conversation, facts, table })
    }

    /// What a cursor keeps, redacted.
    pub fn state(&self) -> Value {
        Value::map([("facts", self.facts.to_value()), ("table", self.table.state())])
    }

    /// Maps one line, which begins at `offset` of the plain text; its line break may be there or not.
    pub fn line(
        &mut self,
        offset: u64,
        bytes: &[u8],
        redactor: &mut TextRedactor<'_>,
    ) -> Vec<CapturedEntry> {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let bytes =
            if offset == 0 { bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes) } else { bytes };
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Vec::new();
        }
        let mut line = MappedLine {
            conversation: &self.conversation,
            facts: &mut self.facts,
            offset,
            length: bytes.len(),
            entries: Vec::new(),
        };
        let read = std::str::from_utf8(bytes).ok().and_then(|text| LineJson::parse(text).ok());
        match read.filter(LineJson::is_object) {
            Some(json) => self.table.line(&mut line, json, redactor),
            None => line.bad(&String::from_utf8_lossy(bytes), redactor),
        }
        line.entries
    }

    /// Notes a line that was too long to be read: where it began and how long it was.
    pub fn skipped(&mut self, offset: u64, length: u64) -> Vec<CapturedEntry> {
        let mut line = MappedLine {
            conversation: &self.conversation,
            facts: &mut self.facts,
            offset,
            length: 0,
            entries: Vec::new(),
        };
        let mut entry = line.entry_at_offset(CapturedKind::Raw, String::new());
        entry.put("bad", Value::Bool(true));
        entry.put_drop("line", usize::try_from(length).unwrap_or(usize::MAX));
        line.entries.push(entry);
        line.entries
    }

    /// Gives what is still held when nothing will follow.
    pub fn end(&mut self) -> Vec<CapturedEntry> {
        match &mut self.table {
            SourceTable::Claude(table) => table.end(&self.conversation),
            SourceTable::Codex(table) => table.end(),
            SourceTable::Opencode(table) => table.end(&self.conversation),
            SourceTable::Cursor | SourceTable::Gemini | SourceTable::Copilot => Vec::new(),
        }
    }

    /// Tells whether the lines so far were only the head of a fork, whose next lines may repeat items
    /// of the conversation that [`ConversationFacts::forked_from`] names.
    pub fn expects_copies(&self) -> bool {
        match &self.table {
            SourceTable::Codex(table) => table.copies.is_expected(),
            SourceTable::Claude(_)
            | SourceTable::Cursor
            | SourceTable::Gemini
            | SourceTable::Copilot
            | SourceTable::Opencode(_) => false,
        }
    }

    /// Says what the next lines may repeat: the parent's items in order, at most
    /// [`COPIED_ITEMS_MAX`]. Lines that do make nothing.
    pub fn expect_copies(&mut self, items: Vec<CopiedItem>) {
        if let SourceTable::Codex(table) = &mut self.table {
            table.copies.take(items);
        }
    }

    /// Says of which conversations the next lines may be copies, though they do not say so.
    pub fn copies_from<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        self.facts.copies_from(names);
    }

    /// Says when lines without a time were written, where a source gives its lines none.
    pub fn saw_time(&mut self, at: Instant) {
        self.facts.saw_time(at);
    }

    /// Whose transcript it is.
    pub fn conversation(&self) -> &ConversationId {
        &self.conversation
    }

    /// What the lines said about the conversation so far.
    pub fn facts(&self) -> &ConversationFacts {
        &self.facts
    }
}

impl SourceTable {
    fn new(source: Source) -> SourceTable {
        match source {
            Source::Claude => SourceTable::Claude(ClaudeTable::default()),
            Source::Codex => SourceTable::Codex(Box::default()),
            Source::Cursor => SourceTable::Cursor,
            Source::Gemini => SourceTable::Gemini,
            Source::Copilot => SourceTable::Copilot,
            Source::Opencode => SourceTable::Opencode(OpencodeTable::default()),
        }
    }

    fn restore(source: Source, state: &Value) -> Option<SourceTable> {
        match SourceTable::new(source) {
            SourceTable::Claude(_) => ClaudeTable::restore(state).map(SourceTable::Claude),
            SourceTable::Codex(_) => {
                CodexTable::restore(state).map(|table| SourceTable::Codex(Box::new(table)))
            }
            SourceTable::Opencode(_) => OpencodeTable::restore(state).map(SourceTable::Opencode),
            whole @ (SourceTable::Cursor | SourceTable::Gemini | SourceTable::Copilot) => {
                Some(whole)
            }
        }
    }

    fn state(&self) -> Value {
        match self {
            SourceTable::Claude(table) => table.state(),
            SourceTable::Codex(table) => table.state(),
            SourceTable::Opencode(table) => table.state(),
            // Every line of theirs is whole in itself.
            SourceTable::Cursor | SourceTable::Gemini | SourceTable::Copilot => Value::Null,
        }
    }

    fn line(
        &mut self,
        line: &mut MappedLine<'_>,
        json: LineJson<'_>,
        redactor: &mut TextRedactor<'_>,
    ) {
        match self {
            SourceTable::Claude(table) => table.line(line, json, redactor),
            SourceTable::Codex(table) => table.line(line, json, redactor),
            SourceTable::Cursor => cursor::line(line, json, redactor),
            SourceTable::Gemini => gemini::line(line, json, redactor),
            SourceTable::Copilot => copilot::line(line, json, redactor),
            SourceTable::Opencode(table) => table.line(line, json, redactor),
        }
    }
}

/// A line on its way to entries.
struct MappedLine<'m> {
    conversation: &'m ConversationId,
    facts: &'m mut ConversationFacts,
    offset: u64,
    /// How long the line is, in bytes, without its break.
    length: usize,
    entries: Vec<CapturedEntry>,
}

impl MappedLine<'_> {
    /// Reads the line's own time; a line without one happened when the line before it did.
    fn take_time(&mut self, time: Option<&str>) {
        if let Some(at) = time.and_then(Instant::parse) {
            self.facts.saw_time(at);
        }
    }

    fn at(&self) -> Instant {
        self.facts.last_at()
    }

    /// Makes an entry under an id of the vendor.
    fn entry(&self, kind: CapturedKind, native: &str, part: usize, text: String) -> CapturedEntry {
        let place = EntryPlace { kind, at: self.at(), native, part };
        let mut entry = CapturedEntry::new(self.conversation, place, text);
        entry.put_known("subagent", self.facts.subagent());
        if native == self.offset_id() {
            entry.named_by = EntryName::Place;
        }
        entry
    }

    /// Makes an entry of a line to which its vendor gave no id.
    fn entry_at_offset(&self, kind: CapturedKind, text: String) -> CapturedEntry {
        self.entry(kind, &self.offset_id(), 0, text)
    }

    /// Names the line by its place, as each source's table says.
    fn offset_id(&self) -> String {
        let native = self.facts.subagent().unwrap_or(&self.conversation.native);
        let offset = self.offset;
        match self.conversation.source {
            Source::Claude => format!("@{native}:{offset}"),
            Source::Codex
            | Source::Cursor
            | Source::Gemini
            | Source::Copilot
            | Source::Opencode => format!("{native}@{offset}"),
        }
    }

    /// Keeps a line that is not one object of JSON.
    fn bad(&mut self, text: &str, redactor: &mut TextRedactor<'_>) {
        let text = redactor(None, text).unwrap_or_else(|| text.to_owned());
        let mut entry = self.entry_at_offset(CapturedKind::Raw, text);
        entry.put("bad", Value::Bool(true));
        self.entries.push(entry);
    }
}

/// Reads whole numbers under their names there into a map with their names here.
fn count_fields(json: &LineJson<'_>, fields: &[(&str, &str)]) -> Value {
    let counts = fields.iter().filter_map(|(theirs, ours)| {
        json.int(theirs).map(|count| ((*ours).to_owned(), Value::Int(count)))
    });
    Value::Map(counts.collect())
}

/// Collects the fields of an object that a table does not know; absent ones say nothing.
fn unknown_fields(json: &LineJson<'_>, known: &[&str]) -> Map {
    let unknown = json
        .members()
        .iter()
        .filter(|(key, value)| !known.contains(&key.as_ref()) && *value != LineJson::Null);
    unknown.map(|(key, value)| (key.clone().into_owned(), value.to_value())).collect()
}

#[cfg(test)]
mod tests;
