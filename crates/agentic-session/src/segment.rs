//! Sealed segments, and which session each belongs to.
//!
//! A segment is a typed object in the notes of an agent; whose it is and what it holds stands
//! inside. A cache by content id spares the reading of all others, and of all when it is only asked
//! how far a session is sealed: what it says of an id can never become wrong, and what it lacks is
//! read. It also names the state of the notes whose segments are all in it, so that a look at the ref
//! is enough. Whoever seals writes it, and whoever has looked at all notes; whoever has to prove
//! something reads past it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use agentic_model::{AgentName, Cid, Object, Oid, Value, canonical};
use agentic_replay::{RecordHash, SessionId};
use agentic_space::locked;
use agentic_store::file::{self, Persistence};
use agentic_store::journal::ArchivedAgent;

use super::folder::segment_kind;
use crate::{Result, SessionSpace};

/// The prefix of the refs of notes.
pub const NOTES: &str = "refs/notes/agentic/";

/// The segments that one notes ref holds.
pub struct Segments<'a> {
    space: &'a SessionSpace,
    /// The notes ref, and where it was.
    name: String,
    tip: Option<Oid>,
    parts: Arc<BTreeMap<Cid, Part>>,
    /// Whether the cache does not name this state.
    is_new: bool,
}

/// The segments of notes that this process has looked at, by ref: where that was, and what it held.
#[derive(Debug, Default)]
pub struct SeenSegments(Mutex<BTreeMap<String, SeenParts>>);

/// Where a notes ref was, and what it held.
type SeenParts = (Option<Oid>, Arc<BTreeMap<Cid, Part>>);

/// What one segment holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    /// The session that it belongs to.
    session: SessionId,
    /// Which of the session's own records; none in a piece of a long value.
    records: Option<SealedSpan>,
}

/// Some of a session's own records, as they are sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SealedSpan {
    /// The position of the first.
    pub from: usize,
    /// The position behind the last.
    pub end: usize,
    /// The hash of the last. The chain leads from it to all before.
    pub hash: RecordHash,
}

/// What a cache holds: the segments, and the state of the notes that has no others.
#[derive(Debug, Default)]
struct KnownSegments {
    tip: Option<Oid>,
    parts: BTreeMap<Cid, Part>,
}

/// Whether a cache may tell what a segment holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eyes {
    /// It may.
    Usual,
    /// Every segment is read and checked against its id.
    Fresh,
}

impl<'a> Segments<'a> {
    /// Finds the segments in the notes of one agent.
    ///
    /// # Errors
    /// Fails when the notes, or a segment that is not known yet, cannot be read.
    pub fn of(space: &'a SessionSpace, agent: &AgentName) -> Result<Segments<'a>> {
        Segments::at(space, &agent.notes_ref(), Eyes::Usual)
    }

    /// Does the same, and reads every segment anew.
    ///
    /// # Errors
    /// Fails when the notes or a segment cannot be read.
    pub fn read_anew(space: &'a SessionSpace, agent: &AgentName) -> Result<Segments<'a>> {
        Segments::at(space, &agent.notes_ref(), Eyes::Fresh)
    }

    /// Finds those in the notes of every agent.
    ///
    /// # Errors
    /// Fails as [`Segments::of`] does.
    pub fn of_all(space: &'a SessionSpace) -> Result<Vec<Segments<'a>>> {
        let refs = space.repository().list_refs(NOTES)?;
        refs.iter().map(|found| Segments::at(space, &found.name, Eyes::Usual)).collect()
    }

    /// Finds those that one notes ref holds.
    ///
    /// # Errors
    /// Fails as [`Segments::of`] does.
    pub fn of_ref(space: &'a SessionSpace, name: &str) -> Result<Segments<'a>> {
        Segments::at(space, name, Eyes::Usual)
    }

    /// Finds those in the notes that an agent had when it was archived.
    ///
    /// # Errors
    /// Fails as [`Segments::of`] does.
    pub fn of_archived(space: &'a SessionSpace, archived: &ArchivedAgent) -> Result<Segments<'a>> {
        Segments::in_state(space, &archived.agent.notes_ref(), archived.notes, Eyes::Usual)
    }

    fn at(space: &'a SessionSpace, name: &str, eyes: Eyes) -> Result<Segments<'a>> {
        Segments::in_state(space, name, space.repository().find_ref(name)?, eyes)
    }

    fn in_state(
        space: &'a SessionSpace,
        name: &str,
        tip: Option<Oid>,
        eyes: Eyes,
    ) -> Result<Segments<'a>> {
        let name = name.to_owned();
        if eyes == Eyes::Usual
            && let Some(parts) = space.segments().of(&name, tip)
        {
            return Ok(Segments { space, name, tip, parts, is_new: false });
        }
        let known = match (tip, eyes) {
            (Some(_), Eyes::Usual) => read_cache(&cache_of(space, &name)).unwrap_or_default(),
            (None, _) | (_, Eyes::Fresh) => KnownSegments::default(),
        };
        let (parts, is_new) = (Arc::new(known.parts), known.tip != tip);
        let mut segments = Segments { space, name, tip, parts, is_new };
        if is_new {
            segments.look()?;
        }
        space.segments().keep(&segments);
        Ok(segments)
    }

    /// Finds out what there is: forgets what the notes do not hold, and reads what is not known.
    fn look(&mut self) -> Result<()> {
        let notes = self.space.repository().notes_at(self.tip)?;
        let listed = notes.objects(Some(&segment_kind()))?;
        let parts = Arc::make_mut(&mut self.parts);
        parts.retain(|cid, _| listed.binary_search(cid).is_ok());
        if parts.len() < listed.len() {
            let is_new = |cid: &Cid| !parts.contains_key(cid);
            let new = notes.read_wanted_objects(&segment_kind(), &is_new)?;
            let new = new.iter().filter_map(|(cid, bytes)| {
                let object = Object::decode(bytes).ok()?;
                Some((*cid, Part::of(&object)?))
            });
            let new: Vec<_> = new.collect();
            parts.extend(new);
        }
        Ok(())
    }

    /// Returns the space.
    pub fn space(&self) -> &'a SessionSpace {
        self.space
    }

    /// Lists the sessions that have a segment here.
    pub fn sessions(&self) -> impl Iterator<Item = SessionId> {
        self.parts.values().map(|part| part.session)
    }

    /// Lists which of a session's own records are sealed here, in no order.
    pub fn spans(&self, id: &SessionId) -> impl Iterator<Item = SealedSpan> {
        self.parts.values().filter(|part| part.session == *id).filter_map(|part| part.records)
    }

    /// Returns how many of a session's own records are sealed here.
    pub fn n_records(&self, id: &SessionId) -> usize {
        self.spans(id).map(|span| span.end).max().unwrap_or(0)
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
        let notes = self.space.repository().notes_at(self.tip)?;
        let found = notes.read_wanted_objects(&segment_kind(), &is_own)?;
        Ok(found.iter().filter_map(|(_, bytes)| Object::decode(bytes).ok()).collect())
    }

    /// Remembers what these segments hold, beside those that are in the notes.
    pub fn remember(mut self, new: &[Object]) {
        let parts = new.iter().filter_map(|object| Some((object.cid(), Part::of(object)?)));
        Arc::make_mut(&mut self.parts).extend(parts);
        // Somebody else may have sealed something meanwhile.
        let tip = self.space.repository().find_ref(&self.name).ok().flatten();
        let notes = self.space.repository().notes_at(tip);
        let listed = notes.and_then(|notes| notes.objects(Some(&segment_kind())));
        let is_known = listed.is_ok_and(|all| all.iter().all(|cid| self.parts.contains_key(cid)));
        let parts = Arc::unwrap_or_clone(self.parts);
        let known = KnownSegments { tip: tip.filter(|_| is_known), parts };
        known.write(self.space, &self.name);
    }

    /// Remembers for other commands what these segments hold, if none has.
    pub fn remember_seen(&self) {
        if self.is_new {
            let parts = BTreeMap::clone(&self.parts);
            KnownSegments { tip: self.tip, parts }.write(self.space, &self.name);
        }
    }
}

impl SeenSegments {
    /// Returns what a notes ref holds, if it was looked at where it is.
    fn of(&self, name: &str, tip: Option<Oid>) -> Option<Arc<BTreeMap<Cid, Part>>> {
        let seen = locked(&self.0);
        seen.get(name).filter(|(seen, _)| *seen == tip).map(|(_, parts)| Arc::clone(parts))
    }

    fn keep(&self, segments: &Segments<'_>) {
        let seen = (segments.tip, Arc::clone(&segments.parts));
        locked(&self.0).insert(segments.name.clone(), seen);
    }
}

/// Returns the file of the cache of one notes ref. Any ref has a file name this way.
fn cache_of(space: &SessionSpace, name: &str) -> PathBuf {
    let folder = space.repository().layout().cache().join("segments");
    folder.join(Cid::of(name.as_bytes()).to_string())
}

impl SealedSpan {
    /// Reads which records a segment says that it holds; nothing if it holds a piece of a value.
    pub fn of(object: &Object) -> Option<SealedSpan> {
        let map = object.map();
        let number = |name| usize::try_from(map.get(name)?.as_int()?).ok();
        let from = number("from")?;
        if map.contains_key("block") {
            // What is in it is held against this when it is read.
            let end = from.checked_add(number("count").filter(|count| *count > 0)?)?;
            let hash = map.get("head").and_then(Value::as_bytes)?;
            return Some(SealedSpan {
                from,
                end,
                hash: RecordHash::from_bytes(hash.try_into().ok()?),
            });
        }
        let list = map.get("records").and_then(Value::as_list)?;
        let hash = RecordHash::of_record(list.last()?.as_bytes()?);
        Some(SealedSpan { from, end: from.checked_add(list.len())?, hash })
    }
}

impl Part {
    fn of(object: &Object) -> Option<Part> {
        let map = object.map();
        let session = SessionId::parse(map.get("session")?.as_text()?)?;
        Some(Part { session, records: SealedSpan::of(object) })
    }

    fn to_value(self) -> Value {
        let mut items = vec![Value::Bytes(self.session.as_bytes().to_vec())];
        if let Some(SealedSpan { from, end, hash }) = self.records {
            let positions = [from, end].map(|at| Value::Int(i64::try_from(at).unwrap_or(i64::MAX)));
            items.extend(positions);
            items.push(Value::Bytes(hash.as_bytes().to_vec()));
        }
        Value::List(items)
    }

    fn from_value(value: &Value) -> Option<Part> {
        let id = |bytes: &Value| <[u8; 32]>::try_from(bytes.as_bytes()?).ok();
        let position = |at: &Value| usize::try_from(at.as_int()?).ok();
        let (session, records) = match value.as_list()? {
            [session] => (session, None),
            [session, from, end, hash] => {
                let (from, end) = (position(from)?, position(end)?);
                let hash = RecordHash::from_bytes(id(hash)?);
                (session, Some(SealedSpan { from, end, hash }))
            }
            _ => return None,
        };
        Some(Part { session: SessionId::from_bytes(id(session)?), records })
    }
}

impl KnownSegments {
    /// Writes the cache of a notes ref. That nobody can is no failure.
    fn write(&self, space: &SessionSpace, name: &str) {
        let Ok(bytes) = canonical::encode(&self.to_value()) else { return };
        let content = [Cid::of(&bytes).to_string().as_bytes(), b"\n", &bytes].concat();
        let cache = cache_of(space, name);
        let folder = cache.parent().expect("caches stand in a folder");
        let _ = std::fs::create_dir_all(folder);
        let _ = file::replace(&cache, &content, Persistence::Lazy);
    }

    fn to_value(&self) -> Value {
        let tip = self.tip.map_or(Value::Null, |tip| Value::Bytes(tip.as_bytes().to_vec()));
        let parts = self.parts.iter().map(|(cid, part)| (cid.to_string(), part.to_value()));
        Value::map([("tip", tip), ("parts", Value::Map(parts.collect()))])
    }

    fn from_value(value: &Value) -> Option<KnownSegments> {
        let tip = match value.get("tip")? {
            Value::Null => None,
            tip @ (Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::Bytes(_)
            | Value::List(_)
            | Value::Map(_)
            | Value::Link(_)) => Some(Oid::from_bytes(tip.as_bytes()?).ok()?),
        };
        let part =
            |(cid, part): (&String, &Value)| Some((Cid::parse(cid).ok()?, Part::from_value(part)?));
        let parts = value.get("parts")?.as_map()?.iter().map(part).collect::<Option<_>>()?;
        Some(KnownSegments { tip, parts })
    }
}

/// Reads the cache, if it is as it was written. A damaged cache is no cache.
fn read_cache(path: &std::path::Path) -> Option<KnownSegments> {
    let content = std::fs::read(path).ok()?;
    let at = content.iter().position(|byte| *byte == b'\n')?;
    let (sum, bytes) = (&content[..at], &content[at + 1..]);
    if Cid::of(bytes).to_string().as_bytes() != sum {
        return None;
    }
    KnownSegments::from_value(&canonical::decode(bytes).ok()?)
}

#[cfg(test)]
mod tests;
