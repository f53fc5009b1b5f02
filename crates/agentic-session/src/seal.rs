//! Sealing: a session's records and long values as objects of its agent's notes, so that they
//! travel and survive without the folder.

use agentic_model::{AgentName, Object, Value};
use agentic_replay::{HashedRecord, SessionId};
use agentic_space::write::LockedStream;
use agentic_store::Durability;
use agentic_store::journal::{KeptObject, Transaction};

use super::block::{self, PackedSpan};
use super::folder::Folder;
use super::listing::list_local_open;
use super::own::{self, own_records};
use super::segment::{Segments, segment_object};
use crate::{Error, Result, SessionSpace};

/// The most that one object holds of records or of a value, in bytes.
const PART_BYTES_MAX: usize = 512 << 10;

/// Some records as they are sealed.
pub(super) struct SealedPart {
    pub object: Object,
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
    let n_sealed = own::n_sealed(&segments, &folder.id)?;
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

/// Seals what is not sealed yet of the sessions here that are not over and that nobody drives. Whoever
/// takes in what others sealed does that first: so it is known which records were made here.
///
/// # Errors
/// Fails when the records of one cannot be kept.
pub fn seal_open(space: &SessionSpace) -> Result<()> {
    for id in list_local_open(space)? {
        let Some((folder, _lock)) = Folder::try_lock(space, &id)? else { continue };
        // One that is damaged is for whoever goes on with it.
        let Ok(first) = own::first(space, &id) else { continue };
        match seal(space, &first.start.agent, &folder) {
            Ok(_)
            | Err(Error::Space(agentic_space::Error::Store(agentic_store::Error::Damage(_)))) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Cuts records into parts; before them come so many that are sealed.
pub(super) fn record_parts(
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

/// Cuts the long values of a session into objects. Typed objects are kept as they are.
pub(super) fn value_objects(folder: &Folder) -> Result<Vec<Object>> {
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
