//! Sealed segments, and which session each belongs to.
//!
//! A segment is a typed object in the notes of an agent; whose it is and what it holds stands
//! inside. A cache by content id spares the reading of all others, and of all when it is only asked
//! how far a session is sealed: what it says of an id can never become wrong, and what it lacks is
//! read. It also names the state of the notes whose segments are all in it, so that a look at the ref
//! is enough. Whoever seals writes it, and whoever has looked at all notes; whoever has to prove
//! something reads past it.

mod cache;
mod content;
mod line;
mod sealing;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use agentic_model::{AgentName, Cid, Kind, Map, Object, Oid, Value, guidance};
use agentic_replay::{RecordHash, SessionId};
use agentic_space::locked;
use agentic_store::ground::RefName;
use agentic_store::journal::ArchivedAgent;

use self::cache::{KnownSegments, cache_of, read_cache};
pub use self::content::records_in;
pub(crate) use self::content::{joined, pieces_of, whole_value};
pub use self::line::SealedLines;
use self::sealing::SealingNotes;
pub use self::sealing::notes_with_sessions;
use crate::{Error, Result, SessionSpace};

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
pub struct SeenSegments {
    parts: Mutex<BTreeMap<String, SeenParts>>,
    /// Which notes have any.
    sealing: Mutex<Option<SealingNotes>>,
}

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

/// Whether a cache may tell what a segment holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheUse {
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
        Segments::at(space, &agent.notes_ref(), CacheUse::Usual)
    }

    /// Does the same, and reads every segment anew.
    ///
    /// # Errors
    /// Fails when the notes or a segment cannot be read.
    pub fn read_anew(space: &'a SessionSpace, agent: &AgentName) -> Result<Segments<'a>> {
        Segments::at(space, &agent.notes_ref(), CacheUse::Fresh)
    }

    /// Finds those that one notes ref holds.
    ///
    /// # Errors
    /// Fails as [`Segments::of`] does.
    pub fn of_ref(space: &'a SessionSpace, name: &str) -> Result<Segments<'a>> {
        Segments::at(space, name, CacheUse::Usual)
    }

    /// Finds those that a notes ref holds which was listed.
    fn of_found(space: &'a SessionSpace, found: &RefName) -> Result<Segments<'a>> {
        Segments::in_state(space, &found.name, Some(found.target), CacheUse::Usual)
    }

    /// Finds those in the notes that an agent had when it was archived.
    ///
    /// # Errors
    /// Fails as [`Segments::of`] does.
    pub fn of_archived(space: &'a SessionSpace, archived: &ArchivedAgent) -> Result<Segments<'a>> {
        Segments::in_state(space, &archived.agent.notes_ref(), archived.notes, CacheUse::Usual)
    }

    /// Finds those in a state of notes, whatever ref has it. `name` is what is remembered of it under.
    ///
    /// # Errors
    /// Fails as [`Segments::of`] does.
    pub fn of_state(space: &'a SessionSpace, name: &str, tip: Oid) -> Result<Segments<'a>> {
        Segments::in_state(space, name, Some(tip), CacheUse::Usual)
    }

    fn at(space: &'a SessionSpace, name: &str, eyes: CacheUse) -> Result<Segments<'a>> {
        Segments::in_state(space, name, space.repository().find_ref(name)?, eyes)
    }

    fn in_state(
        space: &'a SessionSpace,
        name: &str,
        tip: Option<Oid>,
        eyes: CacheUse,
    ) -> Result<Segments<'a>> {
        let name = name.to_owned();
        if eyes == CacheUse::Usual
            && let Some(parts) = space.segments().of(&name, tip)
        {
            return Ok(Segments { space, name, tip, parts, is_new: false });
        }
        let known = match (tip, eyes) {
            (Some(_), CacheUse::Usual) => read_cache(&cache_of(space, &name)).unwrap_or_default(),
            (None, _) | (_, CacheUse::Fresh) => KnownSegments::default(),
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

    /// Reads the records of a session that are sealed here, those of the line that counts where no log
    /// tells; none if it is not.
    ///
    /// # Errors
    /// Fails as [`Segments::lines`] does.
    pub fn frames(&self, id: &SessionId) -> Result<Vec<Vec<u8>>> {
        Ok(self.lines(id)?.into_first())
    }

    /// Reads the records of a session that are sealed here, however many clones went on with it.
    ///
    /// # Errors
    /// Fails when some follow none of the others, or one is missing among them.
    pub fn lines(&self, id: &SessionId) -> Result<SealedLines> {
        joined(id, &self.read(id)?)
    }

    /// Reads a long value that is sealed here with a session.
    ///
    /// # Errors
    /// Fails as [`Segments::read`] does.
    pub fn value(&self, id: &SessionId, cid: &Cid) -> Result<Option<Vec<u8>>> {
        Ok(whole_value(pieces_of(&self.read(id)?, cid), cid))
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

    /// Says whether the cache did not name this state of the notes.
    pub fn is_new(&self) -> bool {
        self.is_new
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
        let seen = locked(&self.parts);
        seen.get(name).filter(|(seen, _)| *seen == tip).map(|(_, parts)| Arc::clone(parts))
    }

    fn keep(&self, segments: &Segments<'_>) {
        let seen = (segments.tip, Arc::clone(&segments.parts));
        locked(&self.parts).insert(segments.name.clone(), seen);
    }

    fn sealing(&self) -> Option<SealingNotes> {
        locked(&self.sealing).clone()
    }

    fn set_sealing(&self, known: SealingNotes) {
        *locked(&self.sealing) = Some(known);
    }
}

impl SealedSpan {
    /// Tells whether these records of the session are among some: the last one, and so all before it.
    pub fn is_among(&self, records: &[Vec<u8>]) -> bool {
        let last = records.get(self.end - 1);
        last.is_some_and(|last| RecordHash::of_record(last) == self.hash)
    }

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
}

/// Reads the records of a session that was sealed; none if it was not.
///
/// # Errors
/// Fails when they cannot be read, and when notes are damaged that may hold them. A session is sealed in the
/// notes of one agent: where it is found, it is read beside others that are damaged.
pub fn frames(space: &SessionSpace, id: &SessionId) -> Result<Vec<Vec<u8>>> {
    let found = sealed_in_any(space, id)?;
    Ok(joined(id, &found)?.into_first())
}

/// Reads a long value that was sealed with a session.
///
/// # Errors
/// Fails as [`frames`] does.
pub fn value(space: &SessionSpace, id: &SessionId, cid: &Cid) -> Result<Option<Vec<u8>>> {
    Ok(whole_value(pieces_of(&sealed_in_any(space, id)?, cid), cid))
}

/// Reads what is sealed of a session in the notes of every agent.
fn sealed_in_any(space: &SessionSpace, id: &SessionId) -> Result<Vec<Object>> {
    let listed = space.repository().list_sound_refs_as(AgentName::NOTES_REFS, |name, target| {
        Some(RefName { name: name.to_owned(), target })
    })?;
    let mut damage = listed.damaged.into_iter().next().map(|damaged| Error::from(damaged.why));
    let mut objects = Vec::new();
    for found in &listed.found {
        match Segments::of_found(space, found).and_then(|segments| segments.read(id)) {
            Ok(read) => objects.extend(read),
            Err(why) => damage = damage.or(Some(why)),
        }
    }
    match damage {
        Some(why) if objects.is_empty() => Err(why),
        _ => Ok(objects),
    }
}

/// Lists the sessions that were sealed.
pub fn sessions(space: &SessionSpace) -> Result<Vec<SessionId>> {
    let mut all = Vec::new();
    for name in notes_with_sessions(space)? {
        all.push(Segments::of_ref(space, &name)?);
    }
    Ok(distinct(all.iter().flat_map(Segments::sessions)))
}

/// Does the same, and tells which notes cannot be read.
pub fn sessions_telling(
    space: &SessionSpace,
    tell: &mut dyn FnMut(String),
) -> Result<Vec<SessionId>> {
    let mut all = Vec::new();
    for name in notes_with_sessions(space)? {
        match Segments::of_ref(space, &name) {
            Ok(segments) => all.push(segments),
            Err(why) => {
                tell(format!("sessions in `{name}` are left out: {}", guidance::chain(&why)));
            }
        }
    }
    Ok(distinct(all.iter().flat_map(Segments::sessions)))
}

/// Lists the sessions that were sealed in the notes of one agent.
pub fn sessions_of(space: &SessionSpace, agent: &AgentName) -> Result<Vec<SessionId>> {
    Ok(distinct(Segments::of(space, agent)?.sessions()))
}

fn distinct(ids: impl Iterator<Item = SessionId>) -> Vec<SessionId> {
    ids.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Makes the object that keeps a part of a session in the notes of its agent.
pub fn segment_object(fields: impl IntoIterator<Item = (&'static str, Value)>) -> Result<Object> {
    let mut map: Map = fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    map.insert("type".to_owned(), Value::text("session-segment"));
    Ok(Object::new(map)?)
}

/// The type of these objects.
fn segment_kind() -> Kind {
    Kind::parse("session-segment").expect("a valid name")
}

#[cfg(test)]
mod tests;
