//! A session's own records: those of its log, held against what is sealed of them.
//!
//! The log is the truth while a session runs; what is sealed is its witness. A log that is shorter
//! than what is sealed has lost records, and these count: readers take them from the seal, and
//! whoever holds the session's lock puts them back. A log that says something else is damaged.

use agentic_replay::{RecordHash, SessionId};
use agentic_store::Durability;
use agentic_store::journal::{self, LogFile, LogPlace};

use super::beginning::FirstRecord;
use super::folder::{Folder, damaged};
use super::segment::{SealedSpan, Segments};
use super::{block, seal};
use crate::{Result, SessionSpace};

/// The bytes of a session's own records.
#[derive(Debug)]
pub struct OwnRecords {
    /// Each record, in order.
    pub frames: Vec<Vec<u8>>,
    /// Where they end in the log; nothing if the log lacks some, and they were read from the seal.
    pub end: Option<LogPlace>,
}

/// Reads a session's own records.
///
/// # Errors
/// Fails when they cannot be read, and when the log is not the one that was sealed.
pub fn read(space: &SessionSpace, id: &SessionId) -> Result<OwnRecords> {
    let (frames, end) = Folder::of(space, id).frames(space)?;
    let (Some(first), Some(_)) = (frames.first(), end) else {
        return Ok(OwnRecords { frames, end });
    };
    let agent = FirstRecord::from_frame(id, first)?.start.agent;
    let segments = Segments::of(space, &agent)?;
    let spans: Vec<SealedSpan> = segments.spans(id).collect();
    if reaches(id, &frames, &spans)? {
        return Ok(OwnRecords { frames, end });
    }
    // What was appended and sealed after the log was read is no loss: the log is read once more,
    // now that it is known what is sealed.
    let (frames, end) = Folder::of(space, id).frames(space)?;
    if reaches(id, &frames, &spans)? {
        return Ok(OwnRecords { frames, end });
    }
    let sealed = seal::frames_in(&segments, id)?;
    check_beginning(id, &frames, &sealed)?;
    Ok(OwnRecords { frames: sealed, end: None })
}

/// Compares the records of a log with all that is sealed of them, byte by byte. Returns how many
/// are sealed.
///
/// # Errors
/// Fails when a segment cannot be read, and when the log says something else or less.
pub fn prove(segments: &Segments<'_>, id: &SessionId) -> Result<usize> {
    let sealed = seal::frames_in(segments, id)?;
    let space = segments.space();
    let folder = Folder::of(space, id);
    let (frames, end) = folder.frames(space)?;
    // One that was fetched, or whose folder is gone, has no log that could have lost anything.
    let frames = if end.is_none() && folder.exists() { Vec::new() } else { frames };
    if frames.len() < sealed.len() {
        let reason = format!(
            "its log has {} of {} sealed records; whoever resumes it puts them back",
            frames.len(),
            sealed.len()
        );
        return Err(damaged(id, &reason));
    }
    check_beginning(id, &sealed, &frames)?;
    Ok(sealed.len())
}

/// What was done to a log that lacked records.
#[derive(Debug)]
pub struct PutBack {
    /// How many bytes of a torn end were cut off first.
    pub n_cut_bytes: u64,
    /// How many records were put back.
    pub n_records: usize,
    /// Where the log ends now.
    pub end: LogPlace,
}

/// Puts sealed records back that a log lacks. The session's lock is held.
///
/// # Errors
/// Fails when the disk is full, and when the log is damaged.
pub fn put_back(folder: &Folder, sealed: &[Vec<u8>]) -> Result<PutBack> {
    let (mut log, n_cut_bytes) = LogFile::open(&folder.log())?;
    let there = block::expand(journal::payloads(&folder.log())?)?;
    check_beginning(&folder.id, &there, sealed)?;
    let lost: Vec<&[u8]> = sealed.iter().skip(there.len()).map(Vec::as_slice).collect();
    log.append(&lost, Durability::Full)?;
    Ok(PutBack { n_cut_bytes, n_records: lost.len(), end: log.end() })
}

/// Tells whether a log has every record that is sealed.
fn reaches(id: &SessionId, frames: &[Vec<u8>], spans: &[SealedSpan]) -> Result<bool> {
    let mut reaches = true;
    for span in spans {
        match frames.get(span.end - 1) {
            Some(last) if RecordHash::of_record(last) == span.hash => {}
            Some(_) => return Err(differs(id, span.end - 1)),
            None => reaches = false,
        }
    }
    Ok(reaches)
}

/// Checks that records are the first of others.
fn check_beginning(id: &SessionId, few: &[Vec<u8>], all: &[Vec<u8>]) -> Result<()> {
    for (at, record) in few.iter().enumerate() {
        if all.get(at) != Some(record) {
            return Err(differs(id, at));
        }
    }
    Ok(())
}

fn differs(id: &SessionId, at: usize) -> crate::Error {
    damaged(id, &format!("its own record {at} is not the one that was sealed"))
}

#[cfg(test)]
mod tests;
