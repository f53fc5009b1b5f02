//! Sealed segments, and which session each belongs to.
//!
//! A segment is a typed object in the notes of an agent; whose it is and what it holds stands
//! inside. A cache by content id spares the reading of all others, and of all when it is only asked
//! how far a session is sealed: what it says of an id can never become wrong, and what it lacks is
//! read. Only whoever seals writes it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use agentic_model::{AgentName, Cid, Object, Value, canonical};
use agentic_replay::SessionId;
use agentic_store::file::{self, Persistence};
use agentic_store::git::Notes;

use super::folder::segment_kind;
use crate::{Result, Space};

/// The prefix of the refs of notes.
const NOTES: &str = "refs/notes/agentic/";

/// The segments that one notes ref holds.
pub struct Segments<'a> {
    notes: Notes<'a>,
    cache: PathBuf,
    parts: BTreeMap<Cid, Part>,
}

/// What one segment holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    /// The session that it belongs to.
    session: SessionId,
    /// Which of the session's own records: the position of the first, and how many. None in a piece
    /// of a long value.
    records: (i64, i64),
}

impl<'a> Segments<'a> {
    /// Finds the segments in the notes of one agent.
    ///
    /// # Errors
    /// Fails when the notes, or a segment that is not known yet, cannot be read.
    pub fn of(space: &'a Space, agent: &AgentName) -> Result<Segments<'a>> {
        Segments::at(space, &agent.notes_ref())
    }

    /// Finds those in the notes of every agent.
    ///
    /// # Errors
    /// Fails as [`Segments::of`] does.
    pub fn of_all(space: &'a Space) -> Result<Vec<Segments<'a>>> {
        let refs = space.repository().list_refs(NOTES)?;
        refs.iter().map(|found| Segments::at(space, &found.name)).collect()
    }

    fn at(space: &'a Space, name: &str) -> Result<Segments<'a>> {
        let folder = space.repository().layout().cache().join("segments");
        // Any ref has a file name this way.
        let cache = folder.join(Cid::of(name.as_bytes()).to_string());
        let notes = space.repository().notes(name)?;
        let listed = notes.objects(Some(&segment_kind()))?;
        let mut parts = match listed.is_empty() {
            true => BTreeMap::new(),
            false => read_cache(&cache).unwrap_or_default(),
        };
        parts.retain(|cid, _| listed.binary_search(cid).is_ok());
        if parts.len() < listed.len() {
            let is_new = |cid: &Cid| !parts.contains_key(cid);
            let new = notes.read_wanted_objects(&segment_kind(), &is_new)?;
            let new = new.iter().filter_map(|(cid, bytes)| {
                let object = Object::decode(bytes).ok()?;
                Some((*cid, Part::of(&object)?))
            });
            parts.extend(new);
        }
        Ok(Segments { notes, cache, parts })
    }

    /// Lists the sessions that have a segment here.
    pub fn sessions(&self) -> impl Iterator<Item = SessionId> {
        self.parts.values().map(|part| part.session)
    }

    /// Counts the records of a session that are sealed here.
    pub fn n_records(&self, id: &SessionId) -> usize {
        let own = self.parts.values().filter(|part| part.session == *id);
        let counts: BTreeMap<i64, i64> = own.map(|part| part.records).collect();
        counts.into_values().map(|count| usize::try_from(count).unwrap_or(0)).sum()
    }

    /// Reads the segments of one session.
    ///
    /// # Errors
    /// Fails when one of them is damaged.
    pub fn read(&self, id: &SessionId) -> Result<Vec<Object>> {
        if !self.sessions().any(|owner| owner == *id) {
            return Ok(Vec::new());
        }
        let is_own = |cid: &Cid| self.parts.get(cid).is_some_and(|part| part.session == *id);
        let found = self.notes.read_wanted_objects(&segment_kind(), &is_own)?;
        Ok(found.iter().filter_map(|(_, bytes)| Object::decode(bytes).ok()).collect())
    }

    /// Remembers what these segments hold, beside those that are in the notes.
    pub fn remember(mut self, new: &[Object]) {
        self.parts.extend(new.iter().filter_map(|object| Some((object.cid(), Part::of(object)?))));
        let entries = self.parts.iter().map(|(cid, part)| (cid.to_string(), part.to_value()));
        let Ok(bytes) = canonical::encode(&Value::Map(entries.collect())) else { return };
        let content = [Cid::of(&bytes).to_string().as_bytes(), b"\n", &bytes].concat();
        let folder = self.cache.parent().expect("caches stand in a folder");
        let _ = std::fs::create_dir_all(folder);
        // It is only a cache.
        let _ = file::replace(&self.cache, &content, Persistence::Lazy);
    }
}

impl Part {
    fn of(object: &Object) -> Option<Part> {
        let map = object.map();
        let session = SessionId::parse(map.get("session")?.as_text()?)?;
        let from = map.get("from").and_then(Value::as_int).unwrap_or(0);
        let count = map.get("records").and_then(Value::as_list).unwrap_or_default().len();
        Some(Part { session, records: (from, i64::try_from(count).ok()?) })
    }

    fn to_value(self) -> Value {
        let (from, count) = self.records;
        Value::List(vec![
            Value::Bytes(self.session.as_bytes().to_vec()),
            Value::Int(from),
            Value::Int(count),
        ])
    }

    fn from_value(value: &Value) -> Option<Part> {
        let [Value::Bytes(session), Value::Int(from), Value::Int(count)] = value.as_list()? else {
            return None;
        };
        let session = SessionId::from_bytes(session.as_slice().try_into().ok()?);
        Some(Part { session, records: (*from, *count) })
    }
}

/// Reads the cache, if it is as it was written. A damaged cache is no cache.
fn read_cache(path: &std::path::Path) -> Option<BTreeMap<Cid, Part>> {
    let content = std::fs::read(path).ok()?;
    let at = content.iter().position(|byte| *byte == b'\n')?;
    let (sum, bytes) = (&content[..at], &content[at + 1..]);
    if Cid::of(bytes).to_string().as_bytes() != sum {
        return None;
    }
    let entries = canonical::decode_entries(bytes).ok()?;
    let part = |(cid, part): (&str, canonical::Part<'_>)| {
        Some((Cid::parse(cid).ok()?, Part::from_value(&part.into_value())?))
    };
    entries.into_iter().map(part).collect()
}
