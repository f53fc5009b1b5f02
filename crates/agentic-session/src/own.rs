//! The records of a session, and where they come from: decided here alone.
//!
//! - What this process read or appended before is known already: every record is read, decoded and
//!   checked once, however often a command looks. A log only grows, so it is read on from there. Where a
//!   log does not continue what was read of it, because its end was repaired meanwhile, it is read from
//!   the beginning. Errors are not remembered.
//! - The log is the truth while a session runs; what is sealed is its witness. A log that is shorter than
//!   what is sealed has lost records, and these count: readers take them from the seal, and whoever holds
//!   the session's lock puts them back. A log that says something else is damaged.
//! - Two clones may go on with one session. Each keeps its own line, which its log and its seal agree on,
//!   beside what the other one sealed; a log that no seal agrees with is damaged.
//! - A session without a log here was fetched, or its folder is gone: its records are the sealed ones, in
//!   the notes here, or wherever else the caller has sealed ones from.
//! - The records of a fork follow those that it shares with the sessions it was forked from.
//! - How a session began its first own record tells, which names its agent and its key and never changes.
//!   Whoever looks for a session among many reads that of each, and the whole journal only of those that
//!   come into question.

mod split;

use std::sync::Arc;

use agentic_model::{AgentName, Instant};
use agentic_replay::{Body, HashedRecord, Record, RecordChain, SessionId, StartRecord};
use agentic_store::Durability;
use agentic_store::journal::{self, LogFile, LogPlace};

pub use self::split::{OtherLine, n_sealed, other_lines};
use super::folder::{Folder, damaged};
use super::known::KnownJournal;
use super::segment::{SealedLines, SealedSpan, Segments};
use super::{block, foreign, segment};
use crate::error::SessionError;
use crate::{Error, Result, SessionSpace};

/// How many forks of forks are followed.
const FORKS_MAX: usize = 4096;

/// How the sealed records are found of a session that has no log here; none if it is not sealed.
pub type SealedRecords<'a> = dyn Fn(&SessionId) -> Result<Vec<Vec<u8>>> + 'a;

/// The first record that is a session's own.
#[derive(Debug, Clone)]
pub struct FirstRecord {
    /// When it was made.
    pub at: Instant,
    /// Its position in the journal; not 0 in a fork, which shares the records before it.
    pub seq: u64,
    /// What it says.
    pub start: StartRecord,
}

/// The bytes of a session's own records.
struct OwnRecords {
    /// Each record, in order.
    frames: Vec<Vec<u8>>,
    /// Where they end in the log; nothing if the log lacks some, and they were read from the seal.
    end: Option<LogPlace>,
}

/// Reads the journal of a session; of a fork, with the records that it shares.
///
/// # Errors
/// Fails when there is no such session or its records are damaged.
pub fn read_journal(space: &SessionSpace, id: &SessionId) -> Result<Arc<RecordChain>> {
    read_journal_with(space, id, &|id| segment::frames(space, id))
}

/// Reads the journal of a session that may be sealed elsewhere than in the notes here.
///
/// # Errors
/// Fails as [`read_journal`] does, and as `sealed` does.
pub fn read_journal_with(
    space: &SessionSpace,
    id: &SessionId,
    sealed: &SealedRecords<'_>,
) -> Result<Arc<RecordChain>> {
    let known = read_known(space, id, sealed)?;
    let journal = Arc::clone(&known.journal);
    space.recent().keep(known);
    Ok(journal)
}

/// Reads the bytes of a session's own records from a position among them on, with their hashes.
///
/// # Errors
/// Fails as [`read_journal`] does.
pub fn own_records(space: &SessionSpace, id: &SessionId, from: usize) -> Result<Vec<HashedRecord>> {
    let known = read_known(space, id, &|id| segment::frames(space, id))?;
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
    let mut known = read_known(space, &folder.id, &|id| segment::frames(space, id))?;
    if known.end.is_none() {
        let had_log = folder.exists();
        let of_another = |id: &SessionId| segment::frames(space, id);
        let n_there = Folder::of(space, &folder.id).frames(space)?.0.len();
        let n_new = known.frames.len().saturating_sub(n_there);
        let n_before = known.journal.records().len() - known.frames.len();
        foreign::check(space, &known.journal, n_new, &|at| {
            chain_of(&folder.id, &known.frames[..at - n_before], &of_another)
        })?;
        let put_back = put_back(folder, &known.frames)?;
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

/// Reads how a session began: its first own record alone.
///
/// # Errors
/// Fails when there is no such session, or when its first record is damaged.
pub fn first(space: &SessionSpace, id: &SessionId) -> Result<FirstRecord> {
    first_with(space, id, &|id| segment::frames(space, id))
}

/// Reads how a session began that may be sealed elsewhere than in the notes here.
///
/// # Errors
/// Fails as [`first`] does, and as `sealed` does.
pub fn first_with(
    space: &SessionSpace,
    id: &SessionId,
    sealed: &SealedRecords<'_>,
) -> Result<FirstRecord> {
    match Folder::of(space, id).first_frame(space)? {
        Some(first) => FirstRecord::from_frame(id, &first),
        None => beginning(id, &sealed(id)?),
    }
}

/// Tells whether the session of an agent has begun: by its log, or by what is sealed of it in the notes
/// of that agent, which are the only ones to have it.
///
/// # Errors
/// Fails when neither can be read.
pub fn has_begun(space: &SessionSpace, folder: &Folder, agent: &AgentName) -> Result<bool> {
    let is_logged = folder.first_frame(space)?.is_some();
    Ok(is_logged || Segments::of(space, agent)?.n_records(&folder.id) > 0)
}

/// Joins the records of a session into its journal; of a fork, with those that it shares, which
/// `own` finds as each session's own.
///
/// # Errors
/// Fails when they are damaged, and as `own` does.
pub(crate) fn chain_of(
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

/// Compares the records of a log with all that is sealed of them, byte by byte. Returns how many
/// are sealed.
///
/// # Errors
/// Fails when a segment cannot be read, and when the log says something else or less.
pub fn prove(segments: &Segments<'_>, id: &SessionId) -> Result<usize> {
    let lines = segments.lines(id)?;
    let space = segments.space();
    let folder = Folder::of(space, id);
    let (frames, end) = folder.frames(space)?;
    let frames = match end {
        // One that was fetched, or whose folder is gone, has no log that could have lost anything.
        None if !folder.exists() => segment::frames(space, id)?,
        Some(_) | None => frames,
    };
    let sealed = own_line(id, &lines, &frames)?;
    if frames.len() < sealed.len() {
        let reason = format!(
            "its log has {} of {} sealed records; whoever resumes it puts them back",
            frames.len(),
            sealed.len()
        );
        return Err(damaged(id, &reason));
    }
    Ok(sealed.len())
}

/// Takes what is known of a session, up to now. Another thread that looks meanwhile reads for itself.
fn read_known(
    space: &SessionSpace,
    id: &SessionId,
    sealed: &SealedRecords<'_>,
) -> Result<KnownJournal> {
    let known = space.recent().take(id).and_then(|known| read_on(known, space));
    if let Some(known) = known {
        return Ok(known);
    }
    let own = read(space, id, sealed)?;
    let of_another = |id: &SessionId| Ok(read(space, id, sealed)?.frames);
    let journal = Arc::new(chain_of(id, &own.frames, &of_another)?);
    Ok(KnownJournal { id: *id, journal, frames: own.frames, end: own.end })
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

/// Decides where a session's own records come from, and reads them.
fn read(space: &SessionSpace, id: &SessionId, sealed: &SealedRecords<'_>) -> Result<OwnRecords> {
    let (frames, end) = Folder::of(space, id).frames(space)?;
    let Some(first) = frames.first() else {
        // It was fetched, or its folder is gone.
        return Ok(OwnRecords { frames: sealed(id)?, end: None });
    };
    let agent = FirstRecord::from_frame(id, first)?.start.agent;
    let segments = Segments::of(space, &agent)?;
    let spans: Vec<SealedSpan> = segments.spans(id).collect();
    if spans.iter().all(|span| span.is_among(&frames)) {
        return Ok(OwnRecords { frames, end });
    }
    // What was appended and sealed after the log was read is no loss: the log is read once more,
    // now that it is known what is sealed.
    let (frames, end) = Folder::of(space, id).frames(space)?;
    if spans.iter().all(|span| span.is_among(&frames)) {
        return Ok(OwnRecords { frames, end });
    }
    let lines = segments.lines(id)?;
    let sealed = own_line(id, &lines, &frames)?;
    if sealed.len() <= frames.len() {
        return Ok(OwnRecords { frames, end });
    }
    Ok(OwnRecords { frames: sealed.to_vec(), end: None })
}

/// Finds the line of what is sealed that a log agrees with, as far as both reach.
fn own_line<'l>(
    id: &SessionId,
    lines: &'l SealedLines,
    frames: &[Vec<u8>],
) -> Result<&'l [Vec<u8>]> {
    lines.of(frames).ok_or_else(|| differs(id, lines.first_difference(frames)))
}

/// What was done to a log that lacked records.
#[derive(Debug)]
struct PutBack {
    /// How many bytes of a torn end were cut off first.
    n_cut_bytes: u64,
    /// How many records were put back.
    n_records: usize,
    /// Where the log ends now.
    end: LogPlace,
}

/// Puts sealed records back that a log lacks. The session's lock is held.
fn put_back(folder: &Folder, sealed: &[Vec<u8>]) -> Result<PutBack> {
    let (mut log, n_cut_bytes) = LogFile::open(&folder.log())?;
    let there = block::expand(journal::payloads(&folder.log())?)?;
    check_beginning(&folder.id, &there, sealed)?;
    let lost: Vec<&[u8]> = sealed.iter().skip(there.len()).map(Vec::as_slice).collect();
    log.append(&lost, Durability::Full)?;
    Ok(PutBack { n_cut_bytes, n_records: lost.len(), end: log.end() })
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

impl FirstRecord {
    /// Reads how a session began from the bytes of that record.
    ///
    /// # Errors
    /// Fails when they are not those of a start.
    pub fn from_frame(id: &SessionId, frame: &[u8]) -> Result<FirstRecord> {
        let record = Record::from_bytes(frame);
        let record = record.map_err(|error| damaged(id, &error.to_string()))?;
        match record.body {
            Body::Start(start) if start.session != *id || !start.is_named_rightly() => {
                Err(damaged(id, "its id does not follow from how it began"))
            }
            Body::Start(start) => Ok(FirstRecord { at: record.at, seq: record.seq, start: *start }),
            Body::Ask(_)
            | Body::Answer(_)
            | Body::Attempt(_)
            | Body::Signal(_)
            | Body::Escalate(_)
            | Body::Vote(_)
            | Body::Publish(_)
            | Body::Found(_)
            | Body::Permit(_)
            | Body::Upgrade(_)
            | Body::Withdraw(_)
            | Body::Cancel(_)
            | Body::ScopeEnd(_)
            | Body::Continue(_)
            | Body::End(_) => Err(damaged(id, "it does not begin with a start")),
        }
    }

    /// Tells whether the session was started, by nobody's fork, as this agent with this key.
    pub fn has_key(&self, agent: &AgentName, key: &str) -> bool {
        self.start.agent == *agent && self.start.key == key && self.start.parent.is_none()
    }
}

#[cfg(test)]
mod tests;
