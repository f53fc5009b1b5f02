//! Traces: what an agent saw and said, entry by entry, and the object that binds them to a commit.

use crate::object::{OBJECT_BYTES_MAX, ObjectError, ObjectFields};
use crate::{AgentName, Cid, Instant, Kind, Map, Object, Value, canonical};

/// The most that one entry holds, in bytes: 256 KiB. Longer input becomes several pieces.
pub const ENTRY_BYTES_MAX: usize = 256 << 10;
/// The most that all entries of one commit hold, in bytes: 64 MiB.
pub const TRACE_BYTES_MAX: usize = 64 << 20;
/// How many entries the note text shows; the object holds all of them.
const NOTE_ENTRIES_MAX: usize = 20;
/// How many characters of an entry the note text shows.
const NOTE_LINE_CHARS_MAX: usize = 100;
/// Room for the fields of an entry beside body and `meta`, in bytes.
const ENTRY_BYTES_SPARE: usize = 128;
/// Room in an object for the fields beside its entries, in bytes.
const OBJECT_BYTES_SPARE: usize = 64 << 10;

/// The most that the `meta` of one entry holds, in canonical bytes: 16 KiB.
pub const META_BYTES_MAX: usize = 16 << 10;
/// The field of `meta` that says which purge took an entry away.
const PURGED: &str = "purged";
/// The fields of an entry that this binary gives a meaning.
const ENTRY_FIELDS: [&str; 5] = ["kind", "at", "body", "continues", "meta"];
/// The fields of a trace that this binary gives a meaning.
const TRACE_FIELDS: [&str; 6] = ["type", "agent", "entries", "parts", "previous", "captured"];
/// What the note says of entries that an earlier trace holds.
const EARLIER_LINE: &str = "… and those of the trace before: agentic trace show\n";

/// One line of a trace: something that happened, or a piece of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// What sort of thing happened: `log`, `tool`, `model`, `session`, ….
    pub kind: Kind,
    /// When.
    pub at: Instant,
    /// Text or bytes.
    pub body: Value,
    /// Whether the next entry continues this one, which was too long for one piece.
    pub continues: bool,
    /// What is known about the entry beside its text: where it comes from, which tool, which turn.
    /// Empty for entries that nobody captured.
    pub meta: Map,
    /// Fields of other binaries, kept as they were read: they take part in the id.
    pub foreign: Map,
}

impl Entry {
    /// Makes an entry of one piece, of which nothing more is known.
    pub fn new(kind: Kind, at: Instant, body: Value) -> Entry {
        Entry { kind, at, body, continues: false, meta: Map::new(), foreign: Map::new() }
    }

    /// Turns the entry into the map that journals and objects hold.
    pub fn to_value(&self) -> Value {
        let mut map = self.foreign.clone();
        map.insert("kind".to_owned(), Value::text(self.kind.as_str()));
        map.insert("at".to_owned(), Value::Int(self.at.millis()));
        // What was purged has no body any more.
        if self.purged_by().is_none() || self.body_length() > 0 {
            map.insert("body".to_owned(), self.body.clone());
        }
        if self.continues {
            map.insert("continues".to_owned(), Value::Bool(true));
        }
        // Absent when empty, so that traces of before keep their ids.
        if !self.meta.is_empty() {
            map.insert("meta".to_owned(), Value::Map(self.meta.clone()));
        }
        Value::Map(map)
    }

    /// Reads the entry back.
    ///
    /// # Errors
    /// Fails when a field is missing or has the wrong shape.
    pub fn from_value(value: &Value) -> Result<Entry, ObjectError> {
        let map = value.as_map().ok_or(ObjectError::NotAMap { found: value.variant() })?;
        let fields = ObjectFields { kind: "console-trace", map };
        let meta = match map.get("meta") {
            None => Map::new(),
            Some(Value::Map(meta)) => meta.clone(),
            Some(_) => return Err(fields.wrong("meta", "a map")),
        };
        let body = match map.get("body") {
            Some(body @ (Value::Text(_) | Value::Bytes(_))) => body.clone(),
            None if meta.contains_key(PURGED) => Value::text(""),
            _ => return Err(fields.wrong("body", "text or bytes")),
        };
        Ok(Entry {
            kind: Kind::parse(fields.text("kind")?)
                .map_err(|_| fields.wrong("kind", "the name of a kind"))?,
            at: Instant::from_millis(fields.int("at")?),
            body,
            continues: map.get("continues").and_then(Value::as_bool).unwrap_or(false),
            meta,
            foreign: foreign_fields(map, &ENTRY_FIELDS),
        })
    }

    /// Makes what is left of an entry that a purge took away whole: when something happened, of which
    /// sort it was, and under which id.
    pub fn purged(&self, purge: &str) -> Entry {
        let id = self.meta.get("id").map(|id| ("id".to_owned(), id.clone()));
        let purged = (PURGED.to_owned(), Value::text(purge));
        let meta = id.into_iter().chain([purged]).collect();
        Entry { meta, ..Entry::new(self.kind.clone(), self.at, Value::text("")) }
    }

    /// Returns the purge that took the entry away, if one did.
    pub fn purged_by(&self) -> Option<&str> {
        self.meta.get(PURGED).and_then(Value::as_text)
    }

    /// Counts the bytes of the body.
    pub fn body_length(&self) -> usize {
        body_length(&self.body)
    }

    /// Bounds the bytes that the entry takes in an object.
    fn stored_length(&self) -> usize {
        let described = [&self.meta, &self.foreign].into_iter().filter(|map| !map.is_empty());
        let described = described.map(|map| canonical::encode(&Value::Map(map.clone())));
        // What has no canonical form is refused when the object is made.
        let described: usize = described.filter_map(Result::ok).map(|bytes| bytes.len()).sum();
        self.body_length() + ENTRY_BYTES_SPARE + described
    }
}

/// Splits one happening into entries of at most [`ENTRY_BYTES_MAX`] bytes each. Input that is not
/// UTF-8 is kept as bytes.
pub fn split_entry(kind: &Kind, at: Instant, body: &[u8]) -> Vec<Entry> {
    split_described_entry(kind, at, body, &Map::new())
}

/// Splits one happening as [`split_entry`] does; each piece has the `meta` of the whole.
pub fn split_described_entry(kind: &Kind, at: Instant, body: &[u8], meta: &Map) -> Vec<Entry> {
    let bodies: Vec<Value> = match std::str::from_utf8(body) {
        Ok(text) => split_text(text).into_iter().map(Value::text).collect(),
        Err(_) => body.chunks(ENTRY_BYTES_MAX).map(|piece| Value::Bytes(piece.to_vec())).collect(),
    };
    let last = bodies.len().saturating_sub(1);
    let entry = |(n, body)| Entry {
        kind: kind.clone(),
        at,
        body,
        continues: n < last,
        meta: meta.clone(),
        foreign: Map::new(),
    };
    bodies.into_iter().enumerate().map(entry).collect()
}

fn split_text(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while rest.len() > ENTRY_BYTES_MAX {
        let mut at = ENTRY_BYTES_MAX;
        while !rest.is_char_boundary(at) {
            at -= 1;
        }
        let (piece, later) = rest.split_at(at);
        pieces.push(piece);
        rest = later;
    }
    pieces.push(rest);
    pieces
}

/// All entries that led to one commit.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsoleTrace {
    /// Whose trace it is.
    pub agent: AgentName,
    /// The entries, oldest first.
    pub entries: Vec<Entry>,
    /// The trace that was bound before this one and goes on in it.
    pub previous: Option<Cid>,
    /// Which conversations its entries come from, and how far each was read: `source`,
    /// `conversation`, `reason`, `file`, `to`.
    pub captured: Vec<Map>,
    /// Fields of other binaries, kept as they were read: they take part in the id.
    pub foreign: Map,
}

impl ConsoleTrace {
    /// Makes a trace that continues none.
    pub fn new(agent: AgentName, entries: Vec<Entry>) -> ConsoleTrace {
        let (captured, foreign) = (Vec::new(), Map::new());
        ConsoleTrace { agent, entries, previous: None, captured, foreign }
    }

    /// Turns the trace into objects of at most [`OBJECT_BYTES_MAX`] bytes: the parts, if it needs
    /// any, then the one that names it.
    ///
    /// # Errors
    /// Fails when an entry is longer than [`ENTRY_BYTES_MAX`].
    pub fn to_objects(&self) -> Result<Vec<Object>, ObjectError> {
        let groups = self.groups();
        if let [only] = groups.as_slice() {
            return Ok(vec![self.naming("entries", entries_value(only))?]);
        }
        self.to_joined_objects(&[])
    }

    /// Turns the trace into objects as [`ConsoleTrace::to_objects`] does, of which the last also
    /// names objects with entries of before, oldest first.
    ///
    /// # Errors
    /// Fails when an entry is longer than [`ENTRY_BYTES_MAX`].
    pub fn to_joined_objects(&self, before: &[Cid]) -> Result<Vec<Object>, ObjectError> {
        let mut objects = Vec::new();
        for group in &self.groups() {
            objects.push(self.part(entries_value(group))?);
        }
        let before = before.iter().copied().map(Value::Link);
        let parts = before.chain(objects.iter().map(|part| Value::Link(part.cid()))).collect();
        objects.push(self.naming("parts", Value::List(parts))?);
        Ok(objects)
    }

    /// Lists the objects that hold the entries of the trace that `object` names: its parts, or itself.
    ///
    /// # Errors
    /// Fails when a field has the wrong shape.
    pub fn holders(object: &Object) -> Result<Vec<Cid>, ObjectError> {
        let fields = ObjectFields { kind: "console-trace", map: object.map() };
        if !object.map().contains_key("parts") {
            return Ok(vec![object.cid()]);
        }
        let links = fields.list("parts")?.iter();
        let wrong = || fields.wrong("parts", "a list of links");
        links.map(|link| link.as_link().ok_or_else(wrong)).collect()
    }

    /// Reads a trace from the object that names it; `part` reads the objects it refers to.
    ///
    /// # Errors
    /// Fails when a field has the wrong shape, or as `part` does.
    pub fn from_object<E: From<ObjectError>>(
        object: &Object,
        mut part: impl FnMut(Cid) -> Result<Object, E>,
    ) -> Result<ConsoleTrace, E> {
        let fields = ObjectFields { kind: "console-trace", map: object.map() };
        let agent = AgentName::parse(fields.text("agent")?)
            .map_err(|_| fields.wrong("agent", "the name of an agent"))?;
        let mut entries = Vec::new();
        if object.map().contains_key("parts") {
            for link in fields.list("parts")? {
                let cid = link.as_link().ok_or(fields.wrong("parts", "a list of links"))?;
                let object = part(cid)?;
                let fields = ObjectFields { kind: "console-trace", map: object.map() };
                read_entries(fields.list("entries")?, &mut entries)?;
            }
        } else {
            read_entries(fields.list("entries")?, &mut entries)?;
        }
        Ok(ConsoleTrace {
            agent,
            entries,
            previous: match object.map().get("previous") {
                None => None,
                Some(link) => Some(link.as_link().ok_or(fields.wrong("previous", "a link"))?),
            },
            captured: read_captured(&fields)?,
            foreign: foreign_fields(object.map(), &TRACE_FIELDS),
        })
    }

    /// Writes the note that stock git shows: the id, how many entries of which kind, and the
    /// first of them.
    pub fn note_text(&self, cid: Cid) -> String {
        let mut counts = std::collections::BTreeMap::<&Kind, usize>::new();
        for entry in self.entries.iter().filter(|entry| !entry.continues) {
            *counts.entry(&entry.kind).or_default() += 1;
        }
        let total: usize = counts.values().sum();
        let kinds: Vec<String> = counts.iter().map(|(kind, n)| format!("{kind} {n}")).collect();
        let mut text = match kinds.is_empty() {
            true => format!("trace {cid}\nentries {total}\n"),
            false => format!("trace {cid}\nentries {total} ({})\n", kinds.join(", ")),
        };
        for entry in self.entries.iter().take(NOTE_ENTRIES_MAX) {
            text.push_str(&note_line(entry));
        }
        if self.entries.len() > NOTE_ENTRIES_MAX {
            let rest = self.entries.len() - NOTE_ENTRIES_MAX;
            text.push_str(&format!("… {rest} more: agentic trace show\n"));
        }
        if self.previous.is_some() {
            text.push_str(EARLIER_LINE);
        }
        text
    }

    /// Makes the object that names the trace. What is empty is absent, so that traces of before keep
    /// their ids.
    fn naming(&self, field: &str, content: Value) -> Result<Object, ObjectError> {
        let mut map = self.foreign.clone();
        map.insert("type".to_owned(), Value::text("console-trace"));
        map.insert("agent".to_owned(), Value::text(self.agent.as_str()));
        map.insert(field.to_owned(), content);
        if let Some(previous) = self.previous {
            map.insert("previous".to_owned(), Value::Link(previous));
        }
        if !self.captured.is_empty() {
            let captured = self.captured.iter().cloned().map(Value::Map).collect();
            map.insert("captured".to_owned(), Value::List(captured));
        }
        Object::new(map)
    }

    /// Makes an object with entries that another one names.
    fn part(&self, entries: Value) -> Result<Object, ObjectError> {
        Object::new(Map::from([
            ("type".to_owned(), Value::text("console-trace")),
            ("agent".to_owned(), Value::text(self.agent.as_str())),
            ("entries".to_owned(), entries),
        ]))
    }

    /// Cuts the entries into runs that fit an object each; at least one run, maybe empty.
    fn groups(&self) -> Vec<&[Entry]> {
        let mut groups = Vec::new();
        let (mut start, mut bytes) = (0, 0);
        for (at, entry) in self.entries.iter().enumerate() {
            let length = entry.stored_length();
            if bytes + length > OBJECT_BYTES_MAX - OBJECT_BYTES_SPARE && at > start {
                groups.push(&self.entries[start..at]);
                (start, bytes) = (at, 0);
            }
            bytes += length;
        }
        groups.push(&self.entries[start..]);
        groups
    }
}

/// Finds the id of the trace in a note, wherever people have put other text around it.
pub fn cid_in_note(text: &str) -> Option<Cid> {
    text.lines().rev().find_map(|line| Cid::parse(line.strip_prefix("trace ")?.trim()).ok())
}

/// Tells whether a note still says what ours said, whatever else people have put into it.
pub fn holds_note(text: &str, ours: &str) -> bool {
    match cid_in_note(ours) {
        Some(cid) => cids_in_note(text).any(|found| found == cid),
        None => replace_in_note(text, ours) == text,
    }
}

/// Finds the part of a note that is ours, if there is one; of several the last.
pub fn ours_in_note(text: &str) -> Option<String> {
    let mut ours = String::new();
    let mut in_block = false;
    for line in text.lines() {
        if begins_block(line) {
            ours.clear();
        }
        in_block = begins_block(line) || (in_block && is_block_line(line));
        if in_block {
            ours.push_str(line);
            ours.push('\n');
        }
    }
    (!ours.is_empty()).then_some(ours)
}

/// Tells some traces of a note anew: `told` names the trace that takes the place of one, and what is said
/// of it. Of a trace that the note has twice then, the later place counts. Nothing where none of its
/// traces changes; what people wrote stays.
pub fn retell_in_note<E>(
    note: &str,
    mut told: impl FnMut(Cid) -> Result<Option<(Cid, String)>, E>,
) -> Result<Option<String>, E> {
    let mut retold = Vec::new();
    for old in cids_in_note(note) {
        retold.extend(told(old)?.map(|(new, text)| (old, new, text)));
    }
    if retold.is_empty() {
        return Ok(None);
    }
    // Each part is one block of ours, or what stands between them.
    let mut parts: Vec<(Option<usize>, String)> = Vec::new();
    let mut in_block = false;
    for line in note.split_inclusive('\n') {
        let begins = begins_block(line);
        let goes_on = in_block && is_block_line(line);
        let is_new_part = begins || in_block != goes_on || parts.is_empty();
        in_block = begins || goes_on;
        if is_new_part {
            let cid = cids_in_note(line).next().filter(|_| begins);
            let is_it = |(old, new, _): &(Cid, Cid, String)| Some(*old) == cid || Some(*new) == cid;
            parts.push((retold.iter().position(is_it), String::new()));
        }
        if let Some((_, part)) = parts.last_mut() {
            part.push_str(line);
        }
    }
    let target = |at: usize| retold.get(at).map(|(_, new, _)| *new);
    let mut text = String::new();
    for (number, (at, part)) in parts.iter().enumerate() {
        let Some(at) = *at else {
            text.push_str(part);
            continue;
        };
        let comes_again =
            parts[number + 1..].iter().any(|(later, _)| later.and_then(target) == target(at));
        if !comes_again {
            text.push_str(&retold[at].2);
        }
    }
    Ok(Some(text))
}

fn cids_in_note(text: &str) -> impl Iterator<Item = Cid> {
    text.lines().filter_map(|line| Cid::parse(line.strip_prefix("trace ")?.trim()).ok())
}

fn begins_block(line: &str) -> bool {
    line.strip_prefix("trace ").is_some_and(|id| Cid::parse(id.trim()).is_ok())
}

/// Puts our note into one that others may have edited: a block of ours is replaced, everything else
/// stays; without one, ours is appended.
pub fn replace_in_note(existing: &str, ours: &str) -> String {
    if existing.lines().collect::<Vec<_>>() == ours.lines().collect::<Vec<_>>() {
        return existing.to_owned();
    }
    let mut kept = String::new();
    let mut in_block = false;
    // With its line break, so that what people wrote stays byte for byte.
    for line in existing.split_inclusive('\n') {
        in_block = begins_block(line) || (in_block && is_block_line(line));
        if !in_block {
            kept.push_str(line);
        }
    }
    let kept = kept.trim_end();
    if kept.is_empty() {
        return ours.to_owned();
    }
    format!("{kept}\n\n{ours}")
}

fn is_block_line(line: &str) -> bool {
    ["entries ", "- ", "… "].iter().any(|start| line.starts_with(start))
}

fn entries_value(entries: &[Entry]) -> Value {
    Value::List(entries.iter().map(Entry::to_value).collect())
}

fn read_entries(items: &[Value], into: &mut Vec<Entry>) -> Result<(), ObjectError> {
    for item in items {
        into.push(Entry::from_value(item)?);
    }
    Ok(())
}

fn read_captured(fields: &ObjectFields<'_>) -> Result<Vec<Map>, ObjectError> {
    if !fields.map.contains_key("captured") {
        return Ok(Vec::new());
    }
    let wrong = || fields.wrong("captured", "a list of maps");
    let items = fields.list("captured")?.iter();
    items.map(|item| item.as_map().cloned().ok_or_else(wrong)).collect()
}

/// Keeps the fields that this binary gives no meaning.
fn foreign_fields(map: &Map, known: &[&str]) -> Map {
    let foreign = map.iter().filter(|(name, _)| !known.contains(&name.as_str()));
    foreign.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn body_length(body: &Value) -> usize {
    match body {
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::List(_)
        | Value::Map(_)
        | Value::Link(_) => 0,
    }
}

/// One line for a note. Control characters become blanks, so that a trace cannot pose as another
/// line of the note.
fn note_line(entry: &Entry) -> String {
    let body = match &entry.body {
        Value::Text(text) => {
            let shown: String = text.chars().take(NOTE_LINE_CHARS_MAX).collect();
            let more = if shown.len() < text.len() { "…" } else { "" };
            format!("{}{more}", shown.replace(char::is_control, " "))
        }
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Bytes(_)
        | Value::List(_)
        | Value::Map(_)
        | Value::Link(_)) => format!("({} bytes)", body_length(other)),
    };
    format!("- {} {} {body}\n", entry.at, entry.kind)
}

#[cfg(test)]
mod tests;
