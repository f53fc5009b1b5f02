//! Cutting a journal: what git itself holds durably is dropped, and what only the journal holds is
//! carried over.
//!
//! Pending entries and decisions are all that a journal alone knows. A journal at rest begins anew
//! with them, in a segment that appears whole or not at all. One in use loses its oldest segments,
//! after a record of what they said that still counts.

use std::sync::Arc;

use agentic_model::{Entry, Instant, Oid};

use super::{
    EncodedRecords, Journal, JournalBody, JournalRecord, JournalRecordHash, StreamStanding, segment,
};
use crate::file::{self, Persistence};
use crate::{Error, Result, fault};

/// How many decisions are carried over, the newest ones. A session notes a decision when it goes on
/// with it, and asks for nothing that is older.
const DECISIONS_MAX: usize = 4096;

/// What outlives the records that are dropped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CarriedState {
    /// The commits that are decisions because a record says so, oldest first.
    pub decisions: Vec<Oid>,
    /// A state of the notes ref that is durable.
    pub notes: Option<Oid>,
}

impl CarriedState {
    /// Collects the decisions of records that are about to be dropped.
    pub fn from_records(records: &[JournalRecord], notes: Option<Oid>) -> CarriedState {
        let mut decisions: Vec<Oid> = records.iter().flat_map(JournalRecord::decisions).collect();
        let surplus = decisions.len().saturating_sub(DECISIONS_MAX);
        decisions.drain(..surplus);
        CarriedState { decisions, notes }
    }

    /// Makes the records with which a journal begins anew at a number, as it stood last: the decisions,
    /// then the pending entries.
    pub(super) fn into_records(
        self,
        stood: StreamStanding,
        seq: u64,
        pending: Vec<Entry>,
    ) -> Vec<(JournalBody, StreamStanding)> {
        let CarriedState { decisions, notes } = self;
        let mut standing = StreamStanding { taken_before: seq, n_pending: 0, notes, ..stood };
        let mut records = vec![(JournalBody::Open, standing.clone())];
        if !decisions.is_empty() {
            records.push((JournalBody::Cut { before: seq, decisions }, standing.clone()));
        }
        for entry in pending {
            standing.n_pending += 1;
            records.push((JournalBody::Entry(entry), standing.clone()));
        }
        records
    }
}

impl Journal {
    /// Begins a new segment that repeats the pending entries, so that everything before it may be
    /// deleted. The segment appears whole or not at all.
    ///
    /// # Errors
    /// Fails when the segment cannot be written; the journal is then as before.
    pub fn restart(
        &mut self,
        pending: Vec<Entry>,
        carried: CarriedState,
        at: Instant,
    ) -> Result<()> {
        self.sync()?;
        let stood = self.last.standing.clone();
        let records = carried.into_records(stood, self.last.seq + 1, pending);
        let EncodedRecords { bytes, last } = self.encode(records, at, 0)?;
        let Some((last, last_hash)) = last else { return Ok(()) };
        fault::point("before-cut")?;
        let number = self.segment + 1;
        let path = segment::path(&self.dir, number);
        file::replace(&path, &bytes, Persistence::Synced)?;
        let file = segment::open(&path)?;
        let length = bytes.len() as u64;
        *self = Journal {
            dir: self.dir.clone(),
            segment: number,
            path,
            file: Arc::new(file),
            length,
            synced: length,
            unsynced: Vec::new(),
            rolled: false,
            marked: false,
            last,
            last_hash,
        };
        fault::point("after-cut")
    }

    /// Notes durably that the records below the number `before` are about to be deleted, and what
    /// outlives them.
    ///
    /// # Errors
    /// Fails when the disk is full or broken; the journal is then as before.
    pub fn append_cut(&mut self, before: u64, carried: CarriedState, at: Instant) -> Result<()> {
        fault::point("before-cut")?;
        let standing = StreamStanding { notes: carried.notes, ..self.last.standing.clone() };
        let body = JournalBody::Cut { before, decisions: carried.decisions };
        self.append(vec![(body, standing)], at, super::Durability::Full)
    }

    /// Deletes the segments before `number`. What they recorded must be durable in git, or noted by
    /// a later record.
    ///
    /// # Errors
    /// Fails when a file cannot be removed.
    pub fn drop_segments_before(&self, number: u64) -> Result<()> {
        let number = number.min(self.segment);
        for older in segment::list(&self.dir)?.into_iter().filter(|older| *older < number) {
            let path = segment::path(&self.dir, older);
            std::fs::remove_file(&path).map_err(Error::io("remove", &path))?;
            fault::point("segment-dropped")?;
        }
        segment::remove_unfinished(&self.dir)?;
        // Otherwise what was dropped may come back, and be replayed for nothing.
        segment::sync_directory(&self.dir)
    }

    /// Returns the number of the segment that is appended to.
    pub fn segment(&self) -> u64 {
        self.segment
    }

    /// Returns the hash of the last record.
    pub fn last_hash(&self) -> JournalRecordHash {
        self.last_hash
    }
}
