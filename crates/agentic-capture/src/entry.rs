//! What a line of a transcript becomes: entries with ids that any copy of the line gives again.

use agentic_model::trace::{META_BYTES_MAX, split_described_entry};
use agentic_model::{Entry, Instant, Kind, Map, Value, canonical, json};

use crate::{ConversationId, Source};

/// The longest body of a result or an unknown line, in bytes. What is longer loses its middle.
pub const RESULT_BYTES_MAX: usize = 256 << 10;
/// The longest body of a call, in bytes. What is longer loses its middle.
pub const CALL_BYTES_MAX: usize = 1 << 20;
/// The longest text in `meta`, in bytes: ids of vendors are far shorter.
const META_TEXT_BYTES_MAX: usize = 1024;
/// The most that unknown fields take in `meta`, in canonical bytes.
const MORE_BYTES_MAX: usize = 8 << 10;
/// How deep an unknown field may nest; what nests deeper is kept as text.
const MORE_NESTING_MAX: usize = 32;
/// What `meta` gives up first when it is too long; ids stay.
const META_SPARE: [&str; 6] = ["more", "context", "edit", "image", "drop", "usage"];

/// What sort of thing an entry tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CapturedKind {
    /// What a person said.
    Prompt,
    /// What the model said.
    Reply,
    /// What the model thought.
    Thinking,
    /// What the model asked a tool.
    ToolCall,
    /// What the tool answered.
    ToolResult,
    /// What stands for an earlier part of the conversation.
    Summary,
    /// A picture or a document, described.
    Image,
    /// What a request cost.
    Usage,
    /// Something that happened.
    Event,
    /// A line that no table knows.
    Raw,
}

impl CapturedKind {
    /// All of them.
    pub const ALL: [CapturedKind; 10] = [
        CapturedKind::Prompt,
        CapturedKind::Reply,
        CapturedKind::Thinking,
        CapturedKind::ToolCall,
        CapturedKind::ToolResult,
        CapturedKind::Summary,
        CapturedKind::Image,
        CapturedKind::Usage,
        CapturedKind::Event,
        CapturedKind::Raw,
    ];

    /// Reads a name; nothing if no entry is called so.
    pub fn parse(name: &str) -> Option<CapturedKind> {
        CapturedKind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Returns the name that entries use.
    pub fn as_str(self) -> &'static str {
        match self {
            CapturedKind::Prompt => "prompt",
            CapturedKind::Reply => "reply",
            CapturedKind::Thinking => "thinking",
            CapturedKind::ToolCall => "tool-call",
            CapturedKind::ToolResult => "tool-result",
            CapturedKind::Summary => "summary",
            CapturedKind::Image => "image",
            CapturedKind::Usage => "usage",
            CapturedKind::Event => "event",
            CapturedKind::Raw => "raw",
        }
    }

    /// Returns the kind of the entry in a trace.
    pub fn kind(self) -> Kind {
        Kind::parse(self.as_str()).expect("the names above are names of kinds")
    }

    /// How long a body may be before it loses its middle.
    fn bytes_max(self) -> Option<usize> {
        match self {
            CapturedKind::ToolResult | CapturedKind::Raw => Some(RESULT_BYTES_MAX),
            CapturedKind::ToolCall => Some(CALL_BYTES_MAX),
            CapturedKind::Prompt
            | CapturedKind::Reply
            | CapturedKind::Thinking
            | CapturedKind::Summary
            | CapturedKind::Image
            | CapturedKind::Usage
            | CapturedKind::Event => None,
        }
    }
}

/// Names an entry by the vendor's id of what it tells, never by its content.
///
/// `part` is the place of the block in its line.
pub fn entry_id(source: Source, native: &str, kind: CapturedKind, part: usize) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"agentic-capture-entry-v1\0");
    for piece in [source.as_str(), native, kind.as_str()] {
        hasher.update(piece.as_bytes());
        hasher.update(b"\0");
    }
    hasher.update(part.to_string().as_bytes());
    hasher.finalize().to_hex()[..32].to_owned()
}

/// What the id of an entry is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryName {
    /// An id of the vendor, which every copy of the line has.
    Vendor,
    /// The place of the line in its file.
    Place,
}

/// One thing that a conversation tells, redacted, not yet in a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct CapturedEntry {
    /// What sort of thing.
    pub kind: CapturedKind,
    /// The line's own time.
    pub at: Instant,
    /// The text, whole or without its middle.
    pub text: String,
    /// What is known beside the text.
    pub meta: Map,
    /// What its id is made of.
    pub named_by: EntryName,
}

impl CapturedEntry {
    /// Makes an entry of a conversation; a text that is too long for its kind loses its middle.
    pub fn new(
        conversation: &ConversationId,
        place: EntryPlace<'_>,
        text: String,
    ) -> CapturedEntry {
        let EntryPlace { kind, at, native, part } = place;
        let mut meta = Map::new();
        meta.insert(
            "id".to_owned(),
            Value::Text(entry_id(conversation.source, native, kind, part)),
        );
        let mut entry = CapturedEntry { kind, at, text, meta, named_by: EntryName::Vendor };
        entry.put_text("conversation", &conversation.to_string());
        entry.cut();
        entry
    }

    /// Returns the id.
    pub fn id(&self) -> &str {
        self.meta.get("id").and_then(Value::as_text).unwrap_or_default()
    }

    /// Says something about the entry.
    pub fn put(&mut self, key: &str, value: Value) {
        self.meta.insert(key.to_owned(), value);
    }

    /// Says something about the entry in a text, which is cut where it is longer than any id.
    pub fn put_text(&mut self, key: &str, text: &str) {
        self.put(key, Value::text(&text[..floor(text, META_TEXT_BYTES_MAX)]));
    }

    /// Says something in a text, if it is known.
    pub fn put_known(&mut self, key: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.put_text(key, text);
        }
    }

    /// Keeps fields that no table knows, as many as have room; says how much has none.
    pub fn put_more(&mut self, fields: Map) {
        if fields.is_empty() {
            return;
        }
        let mut kept = match self.meta.remove("more") {
            Some(Value::Map(kept)) => kept,
            Some(_) | None => Map::new(),
        };
        let mut room = MORE_BYTES_MAX.saturating_sub(stored_length(&Value::Map(kept.clone())));
        let mut dropped = 0;
        for (key, value) in fields {
            // A trace nests its entries, and refuses what nests too deep.
            let is_deep = value.nesting() > MORE_NESTING_MAX;
            let value = if is_deep { Value::Text(json::to_text(&value)) } else { value };
            let length = key.len() + stored_length(&value) + 4;
            if length <= room {
                room -= length;
                kept.insert(key, value);
            } else {
                dropped += length;
            }
        }
        if !kept.is_empty() {
            self.put("more", Value::Map(kept));
        }
        if dropped > 0 && !self.meta.contains_key("drop") {
            self.put_drop("fields", dropped);
        }
    }

    /// Says what was left out, and how long it was.
    pub fn put_drop(&mut self, what: &str, bytes: usize) {
        let bytes = Value::Int(i64::try_from(bytes).unwrap_or(i64::MAX));
        self.put("drop", Value::map([("what", Value::text(what)), ("bytes", bytes)]));
    }

    /// Turns it into entries of a trace: pieces, if the text is longer than one entry may be.
    pub fn to_entries(&self) -> Vec<Entry> {
        let mut meta = self.meta.clone();
        for key in META_SPARE {
            if stored_length(&Value::Map(meta.clone())) <= META_BYTES_MAX {
                break;
            }
            meta.remove(key);
        }
        split_described_entry(&self.kind.kind(), self.at, self.text.as_bytes(), &meta)
    }

    /// What a cursor keeps of an entry that is held.
    pub(crate) fn to_state(&self) -> Value {
        Value::map([
            ("kind", Value::text(self.kind.as_str())),
            ("at", Value::Int(self.at.millis())),
            ("text", Value::text(&self.text)),
            ("place", Value::Bool(self.named_by == EntryName::Place)),
            ("meta", Value::Map(self.meta.clone())),
        ])
    }

    pub(crate) fn from_state(state: &Value) -> Option<CapturedEntry> {
        Some(CapturedEntry {
            kind: CapturedKind::parse(state.get("kind")?.as_text()?)?,
            at: Instant::from_millis(state.get("at")?.as_int()?),
            text: state.get("text")?.as_text()?.to_owned(),
            meta: state.get("meta")?.as_map()?.clone(),
            named_by: match state.get("place")?.as_bool()? {
                true => EntryName::Place,
                false => EntryName::Vendor,
            },
        })
    }

    fn cut(&mut self) {
        let Some(limit) = self.kind.bytes_max() else { return };
        if self.text.len() <= limit {
            return;
        }
        let begin = floor(&self.text, limit / 4 * 3);
        let end = ceil(&self.text, self.text.len() - limit / 4);
        let left_out = end - begin;
        let shown =
            format!("{}[… {left_out} bytes left out …]{}", &self.text[..begin], &self.text[end..]);
        self.text = shown;
        self.put("cut", Value::Int(i64::try_from(left_out).unwrap_or(i64::MAX)));
    }
}

/// Where an entry comes from.
#[derive(Debug, Clone, Copy)]
pub struct EntryPlace<'p> {
    /// What sort of thing.
    pub kind: CapturedKind,
    /// When.
    pub at: Instant,
    /// The vendor's id.
    pub native: &'p str,
    /// The place of the block in its line.
    pub part: usize,
}

/// The last place at or before `at` where a text can be cut.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn ceil(text: &str, at: usize) -> usize {
    let mut at = at;
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// Counts the canonical bytes of a value; what has none is too long for anything.
fn stored_length(value: &Value) -> usize {
    canonical::encode(value).map_or(usize::MAX / 2, |bytes| bytes.len())
}

#[cfg(test)]
mod tests;
