//! Taking something out of sessions: their records, their long values, and what is sealed of both.
//!
//! A value goes whole, its id stays beside the name of the purge, and the records are chained anew from
//! there; a fork shares records, so it is made again with those that it was forked from. What is sealed
//! is made again in the portions in which it was. Such a session is shown and verified, and says what
//! it lacks; it is never run.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use agentic_model::{AgentName, Cid, Object, Value};
use agentic_replay::{
    Body, HashedRecord, RecordChain, RecordScrub, SessionId, StoredValue, chain_anew, is_scrubbed,
    purged_in, scrub_records,
};
use agentic_store::Lock;
use agentic_store::file;
use agentic_store::journal::LogFile;

use super::block::{self, PackedSpan};
use super::folder::{Folder, damaged, sessions_below};
use super::own::FirstRecord;
use super::segment::{records_in, segment_object};
use crate::{Result, SessionSpace};

/// How many forks of forks are followed.
const FORKS_MAX: usize = 4096;

/// What is taken out.
pub trait SessionScrub {
    /// Names the purge.
    fn id(&self) -> &str;

    /// Tells whether bytes hold it, as they are.
    fn is_in(&self, bytes: &[u8]) -> bool;

    /// Tells whether a value holds it, given its canonical bytes.
    fn holds(&self, bytes: &[u8]) -> bool;

    /// Returns what a text becomes; nothing if it stays.
    fn text(&self, text: &str) -> Option<String>;

    /// Returns which commit stands in the place of one; nothing if it stays.
    fn commit(&self, id: &str) -> Option<String>;

    /// Tells whether a record may name a commit that stands in the place of another.
    fn is_renamed(&self, record: &[u8]) -> bool;
}

/// Whether a purge has begun to change something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PurgeProgress {
    /// Nothing has changed: records that are no chain are damaged.
    Before,
    /// Some records may have been made again, others not.
    Begun,
}

/// What is sealed of sessions anywhere: in notes as they are, as they were, and as others have them.
#[derive(Debug, Default)]
pub struct SealedSessions {
    records: BTreeMap<SessionId, BTreeMap<usize, Vec<u8>>>,
    pieces: BTreeMap<(SessionId, Cid), BTreeMap<i64, Vec<u8>>>,
}

/// A session that is made again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgedSession {
    /// The session.
    pub id: SessionId,
    /// Its agent.
    pub agent: AgentName,
    /// Whether it is over.
    pub is_over: bool,
    /// The positions of its own records out of which something is taken.
    pub changed: Vec<u64>,
    /// The bytes of its own records, as they will be.
    frames: Vec<Vec<u8>>,
    /// The long values that go.
    values: BTreeSet<Cid>,
}

impl SealedSessions {
    /// Takes in a segment.
    ///
    /// # Errors
    /// Fails when there is no memory.
    pub fn take(&mut self, segment: &Object) -> Result<()> {
        let Some(id) = session_of(segment) else { return Ok(()) };
        if let Some((cid, part, bytes)) = piece_of(segment) {
            self.pieces.entry((id, cid)).or_default().insert(part, bytes);
            return Ok(());
        }
        let Some(from) = position_of(segment) else { return Ok(()) };
        let own = self.records.entry(id).or_default();
        for (at, record) in records_in(segment)?.unwrap_or_default().into_iter().enumerate() {
            own.entry(from + at).or_insert(record);
        }
        Ok(())
    }

    fn frames(&self, id: &SessionId) -> Vec<Vec<u8>> {
        let own = self.records.get(id).into_iter().flatten();
        let whole = own.enumerate().take_while(|(n, (at, _))| n == *at);
        whole.map(|(_, (_, record))| record.clone()).collect()
    }

    fn value(&self, id: &SessionId, cid: &Cid) -> Option<Vec<u8>> {
        let pieces = self.pieces.get(&(*id, *cid))?;
        Some(pieces.values().flatten().copied().collect())
    }
}

/// Finds the sessions that have to be made again, whoever began them.
///
/// # Errors
/// Fails when one cannot be read, and when one holds it where nothing can be taken out.
pub fn purged_sessions(
    space: &SessionSpace,
    sealed: &SealedSessions,
    scrub: &dyn SessionScrub,
    progress: PurgeProgress,
) -> Result<Vec<PurgedSession>> {
    let layout = space.repository().layout();
    let mut ids: BTreeSet<SessionId> = sealed.records.keys().copied().collect();
    ids.extend(sessions_below(&layout.open_sessions())?);
    ids.extend(sessions_below(&layout.ended_sessions())?);
    let search = SessionSearch { space, sealed, scrub, progress };
    let mut found = Vec::new();
    for id in ids {
        found.extend(search.session(&id)?);
    }
    Ok(found)
}

/// Takes the right to drive a session; nothing if somebody drives it.
///
/// # Errors
/// Fails when the disk does.
pub fn lock(space: &SessionSpace, id: &SessionId) -> Result<Option<Lock>> {
    Ok(Folder::try_lock(space, id)?.map(|(_, lock)| lock))
}

struct SessionSearch<'s> {
    space: &'s SessionSpace,
    sealed: &'s SealedSessions,
    scrub: &'s dyn SessionScrub,
    progress: PurgeProgress,
}

impl SessionSearch<'_> {
    fn session(&self, id: &SessionId) -> Result<Option<PurgedSession>> {
        let own = self.own(id)?;
        // One of which only values are left, or that never wrote its first record.
        let Some(first) = own.first() else { return Ok(None) };
        let first = FirstRecord::from_frame(id, first)?;
        let (mut frames, mut ids) = self.shared(&first)?;
        ids.push(*id);
        let n_shared = frames.len();
        frames.extend(own);
        let mut values = ValueScrub { search: self, ids, gone: BTreeSet::new() };
        let damage = |error: agentic_replay::Corrupt| damaged(id, &error.to_string());
        let clean = scrub_records(&frames, &mut values).map_err(damage)?;
        let mut values = values.gone;
        values.extend(purged_in(&clean.frames));
        let is_renamed = || clean.frames.iter().any(|frame| self.scrub.is_renamed(frame));
        let is_begun =
            self.progress == PurgeProgress::Begun && (is_scrubbed(&clean.frames) || is_renamed());
        if clean.changed.is_empty() && !is_begun {
            return Ok(None);
        }
        if self.progress == PurgeProgress::Before {
            // What is damaged is not made to look sound.
            RecordChain::read(&frames).map_err(damage)?;
        }
        let mut frames = chain_anew(&clean.frames).map_err(damage)?;
        let is_over = RecordChain::read(&frames).map_err(damage)?.is_over();
        let frames = frames.split_off(n_shared);
        if frames.iter().any(|frame| self.scrub.is_in(frame)) {
            return Err(damaged(
                id,
                "it holds what is purged in a name of its own, such as its key",
            ));
        }
        let changed = clean.changed.into_iter().filter(|at| *at >= n_shared as u64).collect();
        let agent = first.start.agent;
        Ok(Some(PurgedSession { id: *id, agent, is_over, changed, frames, values }))
    }

    /// Reads the bytes of a session's own records, be they a chain or not.
    fn own(&self, id: &SessionId) -> Result<Vec<Vec<u8>>> {
        let (mut own, _) = Folder::of(self.space, id).frames(self.space)?;
        let sealed = self.sealed.frames(id);
        let n_known = own.len().min(sealed.len());
        own.extend(sealed.into_iter().skip(n_known));
        Ok(own)
    }

    /// Reads the bytes of the records that a fork shares with those it was forked from, and which
    /// sessions these are.
    fn shared(&self, first: &FirstRecord) -> Result<(Vec<Vec<u8>>, Vec<SessionId>)> {
        let mut shares: Vec<Vec<Vec<u8>>> = Vec::new();
        let mut ids = Vec::new();
        let mut parent = first.start.parent;
        while let Some(point) = parent {
            let own = self.own(&point.session)?;
            let Some(frame) = own.first().filter(|_| shares.len() < FORKS_MAX) else {
                return Err(damaged(&first.start.session, "what it was forked from is not here"));
            };
            let begun = FirstRecord::from_frame(&point.session, frame)?;
            let n = usize::try_from(point.seq.saturating_sub(begun.seq)).unwrap_or(usize::MAX);
            shares.push(own.into_iter().take(n).collect());
            ids.push(point.session);
            parent = begun.start.parent;
        }
        Ok((shares.into_iter().rev().flatten().collect(), ids))
    }

    /// Finds a long value where one of these sessions keeps it.
    fn value(&self, ids: &[SessionId], cid: &Cid) -> Option<Vec<u8>> {
        ids.iter().find_map(|id| {
            let kept = Folder::of(self.space, id).read_object(cid).ok().flatten();
            kept.or_else(|| self.sealed.value(id, cid))
        })
    }
}

/// Takes values out of records, and remembers which long ones that are.
struct ValueScrub<'s> {
    search: &'s SessionSearch<'s>,
    /// The session, and those whose records it shares.
    ids: Vec<SessionId>,
    gone: BTreeSet<Cid>,
}

impl RecordScrub for ValueScrub<'_> {
    fn id(&self) -> &str {
        self.search.scrub.id()
    }

    fn takes(&mut self, value: &StoredValue) -> bool {
        match value {
            StoredValue::Inline(bytes) => self.search.scrub.holds(bytes),
            StoredValue::Object(cid) => {
                let bytes = self.search.value(&self.ids, cid);
                let is_in = bytes.is_some_and(|bytes| self.search.scrub.holds(&bytes));
                if is_in {
                    self.gone.insert(*cid);
                }
                is_in
            }
            StoredValue::Purged(_) => false,
        }
    }

    fn text(&mut self, text: &str) -> Option<String> {
        self.search.scrub.text(text)
    }

    fn commit(&mut self, id: &str) -> Option<String> {
        self.search.scrub.commit(id)
    }
}

impl PurgedSession {
    /// Returns what a segment of the session becomes; nothing if it stays.
    ///
    /// # Errors
    /// Fails when it has records that the session has not.
    pub fn segment(&self, segment: &Object, purge: &str) -> Result<Option<Object>> {
        let id = ("session", Value::text(self.id.to_string()));
        if let Some((cid, part, _)) = piece_of(segment) {
            if !self.values.contains(&cid) || !segment.map().contains_key("bytes") {
                return Ok(None);
            }
            let (value, part) = (("value", Value::Link(cid)), ("part", Value::Int(part)));
            let purged = ("purged", Value::text(purge));
            return Ok(Some(segment_object([id, value, part, purged])?));
        }
        let (Some(from), Some(old)) = (position_of(segment), records_in(segment)?) else {
            return Ok(None);
        };
        let Some(new) = self.frames.get(from..from + old.len()) else {
            return Err(damaged(&self.id, "a sealed part has records that it has not"));
        };
        if old == new {
            return Ok(None);
        }
        let begin = [id, ("from", Value::Int(from as i64))];
        let records: Vec<_> = new.iter().cloned().map(HashedRecord::new).collect();
        let is_block = segment.map().contains_key("block");
        let packed = is_block.then(|| PackedSpan::of(&records)).transpose()?.flatten();
        let object = match (packed, records.last()) {
            (Some(packed), Some(last)) => segment_object(begin.into_iter().chain([
                ("block", Value::Bytes(packed.block)),
                ("count", Value::Int(records.len() as i64)),
                ("head", Value::Bytes(last.hash().as_bytes().to_vec())),
            ])),
            (None, _) | (_, None) => {
                let list = new.iter().cloned().map(Value::Bytes).collect();
                segment_object(begin.into_iter().chain([("records", Value::List(list))]))
            }
        };
        Ok(Some(object?))
    }

    /// Writes the log of the session again, and takes away the files that hold it. The session's
    /// lock is held.
    ///
    /// # Errors
    /// Fails when the disk does.
    pub fn write(&self, space: &SessionSpace, scrub: &dyn SessionScrub) -> Result<()> {
        let folder = Folder::of(space, &self.id);
        if folder.exists() {
            let (mut log, _) = LogFile::open(&folder.log())?;
            let place = Cell::new(0);
            log.shorten(|_, payloads| self.payloads(payloads, &place))?;
        }
        for cid in folder.object_ids() {
            let bytes = folder.read_object(&cid)?.unwrap_or_default();
            if self.values.contains(&cid) || scrub.holds(&bytes) {
                folder.forget_object(&cid)?;
            }
        }
        for path in folder.passing_files() {
            if std::fs::read(&path).is_ok_and(|bytes| scrub.is_in(&bytes)) {
                file::remove(&path)?;
            }
        }
        Ok(())
    }

    /// Puts the new records in the place of those that one file of the log has.
    fn payloads(
        &self,
        payloads: Vec<Vec<u8>>,
        place: &Cell<usize>,
    ) -> Result<Option<Vec<Vec<u8>>>> {
        let mut new = Vec::new();
        for payload in &payloads {
            let packed = block::records(payload)?;
            let (from, n) = (place.get(), packed.as_ref().map_or(1, Vec::len));
            let frames = self.frames.get(from..from + n);
            let frames = frames.ok_or_else(|| damaged(&self.id, "its log has other records"))?;
            place.set(from + n);
            match packed {
                Some(records) if records == frames => new.push(payload.clone()),
                Some(_) => {
                    let records: Vec<_> = frames.iter().cloned().map(HashedRecord::new).collect();
                    match PackedSpan::of(&records)? {
                        Some(packed) => new.push(packed.block),
                        None => new.extend_from_slice(frames),
                    }
                }
                None => new.extend_from_slice(frames),
            }
        }
        Ok((new != payloads).then_some(new))
    }
}

/// Lists what a session lacks since it was purged, each as a sentence.
pub(crate) fn lacks(journal: &RecordChain) -> Vec<String> {
    let purged = journal.records().iter().flat_map(|record| {
        let values = record.body.values().into_iter().filter_map(StoredValue::purged);
        values
            .map(|purged| format!("the value of record {} was purged ({})", record.seq, purged.by))
    });
    purged.collect()
}

/// Tells whether something was taken out of what a record says.
pub(crate) fn is_purged(body: &Body) -> bool {
    body.values().into_iter().any(|value| value.purged().is_some())
}

fn session_of(segment: &Object) -> Option<SessionId> {
    SessionId::parse(segment.map().get("session")?.as_text()?)
}

fn position_of(segment: &Object) -> Option<usize> {
    usize::try_from(segment.map().get("from")?.as_int()?).ok()
}

fn piece_of(segment: &Object) -> Option<(Cid, i64, Vec<u8>)> {
    let map = segment.map();
    let bytes = map.get("bytes").and_then(Value::as_bytes).unwrap_or_default();
    Some((map.get("value")?.as_link()?, map.get("part")?.as_int()?, bytes.to_vec()))
}
