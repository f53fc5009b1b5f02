//! Blocks: many records as one compressed byte string.
//!
//! A session's records are made durable one by one. Once they are sealed nobody appends between them
//! any more, and most of their bytes are those of their neighbours. So the seal, and the log
//! behind it, hold them in blocks. A block stands in a log where its records stood; a record is a
//! map, and a block is a list, by which they are told apart.

use std::ops::Range;

use agentic_git::{deflate, inflate};
use agentic_model::{Value, canonical};
use agentic_replay::{HashedRecord, join_records, part_records};
use agentic_store::journal::LogFile;

use super::folder::Folder;
use crate::{Result, SessionSpace};

/// From how many bytes of records on a block is worth its while.
pub const RECORD_BYTES_MIN: usize = 4 << 10;
/// From how many bytes of records on, outside of blocks, a log is written anew, which takes two syncs.
pub const LOG_BYTES_MIN: usize = 16 << 10;
/// The most that a block holds when its records stand behind each other, in bytes: several times
/// what a segment of a log or of the notes has.
const BLOCK_BYTES_MAX: usize = 16 << 20;
/// How a list begins in canonical bytes that has two items.
const LIST_OF_TWO: u8 = 0x82;

/// A block, with what tells which records it has: the chain leads from the last one to all others.
#[derive(Debug)]
pub struct PackedSpan {
    /// The block.
    pub block: Vec<u8>,
    /// How many records it has.
    n_records: usize,
    /// The bytes of the last one.
    last: Vec<u8>,
}

impl PackedSpan {
    /// Packs records that follow each other; nothing if they are too long for one block.
    ///
    /// # Errors
    /// Fails when there is no memory.
    pub fn of(records: &[HashedRecord]) -> Result<Option<PackedSpan>> {
        let Some(last) = records.last() else { return Ok(None) };
        let (n_records, last) = (records.len(), last.bytes().to_vec());
        Ok(make(records)?.map(|block| PackedSpan { block, n_records, last }))
    }

    /// Finds the records of the block among others; nothing if not all of them are there.
    fn place_in(&self, frames: &[Vec<u8>]) -> Option<Range<usize>> {
        let end = frames.iter().position(|frame| *frame == self.last)? + 1;
        Some(end.checked_sub(self.n_records)?..end)
    }
}

/// Makes a block of records that follow each other; nothing if they are too long for one.
fn make(records: &[HashedRecord]) -> Result<Option<Vec<u8>>> {
    let joined = join_records(records);
    let Some(n_bytes) =
        i64::try_from(joined.len()).ok().filter(|_| joined.len() <= BLOCK_BYTES_MAX)
    else {
        return Ok(None);
    };
    let item = Value::List(vec![Value::Int(n_bytes), Value::Bytes(deflate(&joined)?)]);
    Ok(Some(canonical::encode(&item).expect("a number and bytes have a canonical form")))
}

/// Reads the records of a block; nothing if the bytes are no block.
///
/// # Errors
/// Fails when there is no memory.
pub fn records(block: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
    let Ok(Value::List(items)) = canonical::decode(block) else { return Ok(None) };
    let [Value::Int(n_bytes), Value::Bytes(stream)] = items.as_slice() else { return Ok(None) };
    let n_bytes = usize::try_from(*n_bytes).ok().filter(|n_bytes| *n_bytes <= BLOCK_BYTES_MAX);
    let Some(n_bytes) = n_bytes else { return Ok(None) };
    Ok(inflate(stream, n_bytes)?.and_then(|joined| part_records(&joined)))
}

/// Replaces the blocks among what a log holds by their records. What is no block stays as it is.
///
/// # Errors
/// Fails when there is no memory.
pub fn expand(payloads: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>> {
    if !payloads.iter().any(|payload| is_block(payload)) {
        return Ok(payloads);
    }
    let mut frames = Vec::new();
    for payload in payloads {
        match is_block(&payload).then(|| records(&payload)).transpose()?.flatten() {
            Some(records) => frames.extend(records),
            None => frames.push(payload),
        }
    }
    Ok(frames)
}

/// Puts the records of a log into blocks, if that are enough. All of them are sealed, and the
/// session's lock is held. What the seal has packed is not packed again.
///
/// # Errors
/// Fails when the log cannot be read or written.
pub fn shorten(
    space: &SessionSpace,
    folder: &Folder,
    log: &mut LogFile,
    packed: &[PackedSpan],
) -> Result<()> {
    if log.segment_bytes() < LOG_BYTES_MIN as u64 {
        return Ok(());
    }
    let before = log.end();
    log.shorten(|segment, payloads| shorter(segment, &payloads, packed))?;
    space.recent().moved(&folder.id, before, log.end());
    Ok(())
}

/// Puts what one segment of a log holds into blocks; nothing if it is too little. The first record of
/// the first one stays outside: it is read alone to find a session among many.
fn shorter(
    segment: u64,
    payloads: &[Vec<u8>],
    packed: &[PackedSpan],
) -> Result<Option<Vec<Vec<u8>>>> {
    let is_loose = |payload: &&Vec<u8>| !is_block(payload);
    if payloads.iter().filter(is_loose).map(Vec::len).sum::<usize>() < LOG_BYTES_MIN {
        return Ok(None);
    }
    let n_first = usize::from(segment == 0);
    let (first, rest) = payloads.split_at(n_first.min(payloads.len()));
    let mut shorter = first.to_vec();
    for run in rest.chunk_by(|one, next| !is_block(one) && !is_block(next)) {
        match run {
            [block] if is_block(block) => shorter.push(block.clone()),
            run => push_packed(run, packed, &mut shorter)?,
        }
    }
    Ok(Some(shorter))
}

/// Appends records that follow each other: those that are packed as their blocks, the others as new
/// ones.
fn push_packed(run: &[Vec<u8>], packed: &[PackedSpan], shorter: &mut Vec<Vec<u8>>) -> Result<()> {
    let mut rest = run;
    for span in packed {
        // One that begins in the segment before is packed again, as far as it stands here.
        let Some(place) = span.place_in(rest) else { continue };
        push_block(&rest[..place.start], shorter)?;
        shorter.push(span.block.clone());
        rest = &rest[place.end..];
    }
    push_block(rest, shorter)
}

/// Appends records as one block, or as they are if that is not worth its while.
fn push_block(run: &[Vec<u8>], shorter: &mut Vec<Vec<u8>>) -> Result<()> {
    let is_long = run.iter().map(Vec::len).sum::<usize>() >= RECORD_BYTES_MIN;
    let block = is_long.then(|| {
        let records: Vec<_> = run.iter().cloned().map(HashedRecord::new).collect();
        make(&records)
    });
    match block.transpose()?.flatten() {
        Some(block) => shorter.push(block),
        None => shorter.extend_from_slice(run),
    }
    Ok(())
}

fn is_block(payload: &[u8]) -> bool {
    payload.first() == Some(&LIST_OF_TWO)
}

#[cfg(test)]
mod tests;
