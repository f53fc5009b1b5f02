//! Journals that a command has read already: every record is read, decoded and checked once, however
//! often the command looks.
//!
//! A log only grows. What was appended since is read on from there, and what this process appends
//! itself is taken in as it was made. Where a log does not continue what was read of it, because its
//! end was repaired meanwhile, it is read from the beginning. Errors are not remembered.

use std::sync::Arc;

use agentic_replay::{HashedRecord, RecordChain, SessionId};
use agentic_store::journal;

use super::beginning::FirstRecord;
use super::block;
use super::folder::{Folder, damaged};
use super::known::KnownJournal;
use super::own::{self, OwnRecords};
use crate::error::SessionError;
use crate::{Error, Result, SessionSpace};

/// How many forks of forks are followed.
const FORKS_MAX: usize = 4096;

/// Reads the journal of a session; of a fork, with the records that it shares.
///
/// # Errors
/// Fails when there is no such session or its records are damaged.
pub fn read_journal(space: &SessionSpace, id: &SessionId) -> Result<Arc<RecordChain>> {
    let known = read_known(space, id)?;
    let journal = Arc::clone(&known.journal);
    space.recent().keep(known);
    Ok(journal)
}

/// Reads the bytes of a session's own records from a position among them on, with their hashes.
///
/// # Errors
/// Fails as [`read_journal`] does.
pub fn own_records(space: &SessionSpace, id: &SessionId, from: usize) -> Result<Vec<HashedRecord>> {
    let known = read_known(space, id)?;
    let frames = known.frames.get(from..).unwrap_or_default().to_vec();
    let records = known.journal.last_hashed(frames);
    space.recent().keep(known);
    Ok(records)
}

/// Reads the journal of a session whose lock is held, and puts back what its log lacks of what is
/// sealed: it was fetched, its folder is gone, or its log was cut.
///
/// # Errors
/// Fails as [`read_journal`] does, and when the disk is full.
pub fn restore_journal(space: &SessionSpace, folder: &Folder) -> Result<Arc<RecordChain>> {
    let mut known = read_known(space, &folder.id)?;
    if known.end.is_none() {
        let had_log = folder.exists();
        let put_back = own::put_back(folder, &known.frames)?;
        known.end = Some(put_back.end);
        let id = folder.id.short();
        if put_back.n_cut_bytes > 0 {
            let n_bytes = put_back.n_cut_bytes;
            space.note_mended(format!("session {id}: repaired a tail of {n_bytes} bytes"));
        }
        if had_log && put_back.n_records > 0 {
            let n_records = put_back.n_records;
            space.note_mended(format!("session {id}: put {n_records} sealed records back"));
        }
    }
    let journal = Arc::clone(&known.journal);
    space.recent().keep(known);
    Ok(journal)
}

/// Takes what is known of a session, up to now. Another thread that looks meanwhile reads for itself.
fn read_known(space: &SessionSpace, id: &SessionId) -> Result<KnownJournal> {
    let known = space.recent().take(id).and_then(|known| read_on(known, space));
    known.map_or_else(|| read_whole(space, id), Ok)
}

/// Reads the whole journal of a session.
fn read_whole(space: &SessionSpace, id: &SessionId) -> Result<KnownJournal> {
    let OwnRecords { frames, end } = own::read(space, id)?;
    let journal = chain_of(id, &frames, &|id| Ok(own::read(space, id)?.frames))?;
    Ok(KnownJournal { id: *id, journal: Arc::new(journal), frames, end })
}

/// Joins the records of a session into its journal; of a fork, with those that it shares, which
/// `own` finds as each session's own.
///
/// # Errors
/// Fails when they are damaged, and as `own` does.
pub fn chain_of(
    id: &SessionId,
    frames: &[Vec<u8>],
    own: &dyn Fn(&SessionId) -> Result<Vec<Vec<u8>>>,
) -> Result<RecordChain> {
    if let Ok(journal) = RecordChain::read(frames) {
        return Ok(journal);
    }
    // The records of a fork alone are no journal.
    let shared = shared(id, frames, own)?;
    let journal = RecordChain::read(shared.iter().chain(frames));
    journal.map_err(|error| damaged(id, &error.to_string()))
}

/// Reads on behind what is known; nothing if the log does not continue it.
fn read_on(mut known: KnownJournal, space: &SessionSpace) -> Option<KnownJournal> {
    let log = Folder::of(space, &known.id).log();
    let (frames, end) = journal::payloads_after(&log, known.end?).ok()?;
    let frames = block::expand(frames).ok()?;
    if !frames.is_empty() {
        Arc::make_mut(&mut known.journal).read_on(&frames).ok()?;
        known.frames.extend(frames);
    }
    Some(KnownJournal { end: Some(end), ..known })
}

/// Reads the bytes of the records that a fork shares with those it was forked from, oldest first.
fn shared(
    id: &SessionId,
    frames: &[Vec<u8>],
    own: &dyn Fn(&SessionId) -> Result<Vec<Vec<u8>>>,
) -> Result<Vec<Vec<u8>>> {
    let mut shares: Vec<Vec<Vec<u8>>> = Vec::new();
    let mut parent = beginning(id, frames)?.start.parent;
    while let Some(point) = parent {
        if shares.len() >= FORKS_MAX {
            return Err(damaged(id, "it is a fork of too many forks"));
        }
        let frames = own(&point.session)?;
        let beginning = beginning(&point.session, &frames)?;
        let n = usize::try_from(point.seq.saturating_sub(beginning.seq)).unwrap_or(usize::MAX);
        shares.push(frames.into_iter().take(n).collect());
        parent = beginning.start.parent;
    }
    Ok(shares.into_iter().rev().flatten().collect())
}

fn beginning(id: &SessionId, frames: &[Vec<u8>]) -> Result<FirstRecord> {
    let first = frames
        .first()
        .ok_or_else(|| Error::Session(SessionError::Unknown { id: id.to_string() }))?;
    FirstRecord::from_frame(id, first)
}
