//! Sealing: a session's records and long values as objects of its agent's notes, so that they
//! travel and survive without the folder.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::{AgentName, Cid, Object, Value};
use agentic_replay::{HashedRecord, RecordHash, SessionId};
use agentic_space::write::LockedStream;
use agentic_store::Durability;
use agentic_store::journal::{KeptObject, Transaction};

use super::block::{self, PackedSpan};
use super::folder::{Folder, damaged, segment_object};
use super::recent::own_records;
use super::segment::{SealedSpan, Segments};
use crate::{Result, SessionSpace};

/// The most that one object holds of records or of a value, in bytes.
const PART_BYTES_MAX: usize = 512 << 10;

/// Some records as they are sealed.
struct SealedPart {
    object: Object,
    /// Nothing if the records stand in the object one by one.
    packed: Option<PackedSpan>,
}

/// Seals what is not sealed yet. Returns what was packed for it.
pub fn seal(space: &SessionSpace, agent: &AgentName, folder: &Folder) -> Result<Vec<PackedSpan>> {
    if space.head(agent).is_err() {
        // Without its agent there is no ref that could keep the session.
        return Ok(Vec::new());
    }
    let segments = Segments::of(space, agent)?;
    let n_sealed = segments.n_records(&folder.id);
    let parts = record_parts(&folder.id, n_sealed, &own_records(space, &folder.id, n_sealed)?)?;
    let (mut objects, mut packed) = (Vec::new(), Vec::new());
    for part in parts {
        objects.push(part.object);
        packed.extend(part.packed);
    }
    let kept = space.repository().notes(&agent.notes_ref())?.objects(None)?;
    let is_kept = |object: &Object| kept.binary_search(&object.cid()).is_ok();
    objects.extend(value_objects(folder)?.into_iter().filter(|object| !is_kept(object)));
    if objects.is_empty() {
        return Ok(Vec::new());
    }
    keep(space, agent, "seal", &objects)?;
    segments.remember(&objects);
    Ok(packed)
}

/// Cuts records into parts; before them come so many that are sealed.
fn record_parts(
    id: &SessionId,
    n_before: usize,
    records: &[HashedRecord],
) -> Result<Vec<SealedPart>> {
    let mut parts = Vec::new();
    let mut rest = records;
    // The log keeps its first record outside of blocks. Sealed apart, it leaves a block that the log
    // can take as it is.
    if n_before == 0 && n_bytes_of(records) >= block::LOG_BYTES_MIN {
        parts.push(record_part(id, 0, &records[..1])?);
        rest = &records[1..];
    }
    while !rest.is_empty() {
        let (part, behind) = rest.split_at(n_records_of_part(rest));
        parts.push(record_part(id, n_before + records.len() - rest.len(), part)?);
        rest = behind;
    }
    Ok(parts)
}

/// Returns how many of these records one part has: one at least.
fn n_records_of_part(records: &[HashedRecord]) -> usize {
    let mut n_bytes = 0;
    let is_behind = |record: &HashedRecord| {
        n_bytes += record.bytes().len();
        n_bytes > PART_BYTES_MAX
    };
    records.iter().position(is_behind).unwrap_or(records.len()).max(1)
}

fn n_bytes_of(records: &[HashedRecord]) -> usize {
    records.iter().map(|record| record.bytes().len()).sum()
}

/// Seals some records, the first of which has a position: as a block if they are long enough, else as
/// they are.
fn record_part(id: &SessionId, from: usize, records: &[HashedRecord]) -> Result<SealedPart> {
    let begin = [("session", Value::text(id.to_string())), ("from", Value::Int(from as i64))];
    let is_long = n_bytes_of(records) >= block::RECORD_BYTES_MIN;
    let packed = is_long.then(|| PackedSpan::of(records)).transpose()?.flatten();
    let object = match (&packed, records.last()) {
        (Some(packed), Some(last)) => segment_object(begin.into_iter().chain([
            ("block", Value::Bytes(packed.block.clone())),
            ("count", Value::Int(records.len() as i64)),
            ("head", Value::Bytes(last.hash().as_bytes().to_vec())),
        ])),
        (None, _) | (_, None) => {
            let records = records.iter().map(|record| Value::Bytes(record.bytes().to_vec()));
            segment_object(begin.into_iter().chain([("records", Value::List(records.collect()))]))
        }
    };
    Ok(SealedPart { object: object?, packed })
}

/// Keeps objects in the notes of an agent.
pub fn keep(space: &SessionSpace, agent: &AgentName, verb: &str, objects: &[Object]) -> Result<()> {
    let signatures = space.signatures(agent)?;
    let (locked, _) = LockedStream::agent(space, agent)?;
    let signed = (signatures.author, signatures.committer);
    let transaction = Transaction::keeping(
        verb,
        agent.notes_ref(),
        objects.iter().map(KeptObject::from).collect(),
        signed,
    );
    // The witness of a record is no less durable than the record.
    locked.decide(transaction, None, Durability::Full)?.follow();
    Ok(())
}

/// Reads the records of a session that was sealed; none if it was not.
pub fn frames(space: &SessionSpace, id: &SessionId) -> Result<Vec<Vec<u8>>> {
    let mut objects = Vec::new();
    for segments in Segments::of_all(space)? {
        objects.extend(segments.read(id)?);
    }
    joined(id, &objects)
}

/// Reads those that the segments of one notes ref hold.
pub fn frames_in(segments: &Segments<'_>, id: &SessionId) -> Result<Vec<Vec<u8>>> {
    joined(id, &segments.read(id)?)
}

/// Joins the records that segments hold. Two clones may have sealed the same ones in different
/// portions.
fn joined(id: &SessionId, segments: &[Object]) -> Result<Vec<Vec<u8>>> {
    let mut joined: Vec<Vec<u8>> = Vec::new();
    for (from, records) in records(segments)? {
        let Some(known) = joined.len().checked_sub(from) else {
            let reason = format!("its sealed record {} is missing", joined.len());
            return Err(damaged(id, &reason));
        };
        let n_common = known.min(records.len());
        if joined[from..from + n_common] != records[..n_common] {
            return Err(damaged(id, "what is sealed of it contradicts itself"));
        }
        joined.extend(records.into_iter().skip(known));
    }
    Ok(joined)
}

/// Reads a long value that was sealed with a session.
pub fn value(space: &SessionSpace, id: &SessionId, cid: &Cid) -> Result<Option<Vec<u8>>> {
    let mut pieces = BTreeMap::new();
    for segments in Segments::of_all(space)? {
        pieces.extend(pieces_of(&segments.read(id)?, cid));
    }
    Ok(whole_value(pieces, cid))
}

/// Reads one that the segments of one notes ref hold.
pub fn value_in(segments: &Segments<'_>, id: &SessionId, cid: &Cid) -> Result<Option<Vec<u8>>> {
    Ok(whole_value(pieces_of(&segments.read(id)?, cid), cid))
}

/// Finds the pieces of a long value among segments.
fn pieces_of(segments: &[Object], cid: &Cid) -> BTreeMap<i64, Vec<u8>> {
    let piece = |object: &Object| {
        let map = object.map();
        let is_piece = map.get("value").and_then(Value::as_link) == Some(*cid);
        let part = map.get("part").and_then(Value::as_int).filter(|_| is_piece)?;
        Some((part, map.get("bytes").and_then(Value::as_bytes)?.to_vec()))
    };
    segments.iter().filter_map(piece).collect()
}

fn whole_value(pieces: BTreeMap<i64, Vec<u8>>, cid: &Cid) -> Option<Vec<u8>> {
    let bytes: Vec<u8> = pieces.into_values().flatten().collect();
    (Cid::of(&bytes) == *cid).then_some(bytes)
}

/// Lists the sessions that were sealed.
pub fn sessions(space: &SessionSpace) -> Result<Vec<SessionId>> {
    let all = Segments::of_all(space)?;
    Ok(distinct(all.iter().flat_map(Segments::sessions)))
}

/// Lists the sessions that were sealed in the notes of one agent.
pub fn sessions_of(space: &SessionSpace, agent: &AgentName) -> Result<Vec<SessionId>> {
    Ok(distinct(Segments::of(space, agent)?.sessions()))
}

fn distinct(ids: impl Iterator<Item = SessionId>) -> Vec<SessionId> {
    ids.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Returns the records that segments hold, with the position of the first of each, in order.
fn records(segments: &[Object]) -> Result<Vec<(usize, Vec<Vec<u8>>)>> {
    let mut parts = Vec::new();
    for object in segments {
        let from = object.map().get("from").and_then(Value::as_int);
        let from = from.and_then(|from| usize::try_from(from).ok());
        if let (Some(from), Some(records)) = (from, records_in(object)?) {
            parts.push((from, records));
        }
    }
    parts.sort();
    Ok(parts)
}

/// Returns the records of one segment; nothing if it has none, or other ones than it says.
fn records_in(object: &Object) -> Result<Option<Vec<Vec<u8>>>> {
    let map = object.map();
    let Some(block) = map.get("block").and_then(Value::as_bytes) else {
        let records = map.get("records").and_then(Value::as_list);
        let bytes = |item: &Value| item.as_bytes().map(<[u8]>::to_vec);
        return Ok(records.map(|records| records.iter().filter_map(bytes).collect()));
    };
    let records = block::records(block)?;
    let span = SealedSpan::of(object);
    Ok(records.filter(|records| {
        let head = records.last().map(|last| RecordHash::of_record(last));
        span.is_some_and(|span| span.end - span.from == records.len() && head == Some(span.hash))
    }))
}

/// Cuts the long values of a session into objects. Typed objects are kept as they are.
fn value_objects(folder: &Folder) -> Result<Vec<Object>> {
    let mut objects = Vec::new();
    for cid in folder.object_ids() {
        let bytes = folder.read_object(&cid)?.unwrap_or_default();
        if let Ok(object) = Object::decode(&bytes) {
            objects.push(object);
            continue;
        }
        for (part, piece) in bytes.chunks(PART_BYTES_MAX).enumerate() {
            objects.push(segment_object([
                ("session", Value::text(folder.id.to_string())),
                ("value", Value::Link(cid)),
                ("part", Value::Int(part as i64)),
                ("bytes", Value::Bytes(piece.to_vec())),
            ])?);
        }
    }
    Ok(objects)
}

#[cfg(test)]
mod tests;
