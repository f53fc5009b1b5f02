//! Journals: append-only, hash-chained records, one folder of segments a stream.
//!
//! The append of a record, made durable by one `fdatasync`, is the moment from which a write is
//! never lost. A writer holds the stream's [`Lock`](crate::Lock); readers take no lock.

mod backwards;
mod cut;
mod edits;
mod fold;
pub mod frame;
mod log;
mod opening;
mod purge;
mod read;
mod record;
mod salvage;
mod segment;
mod succession;
mod transaction;

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use agentic_model::{Entry, Instant, Oid};

pub use self::cut::CarriedState;
pub use self::edits::{CopiedContent, EditFold, LoggedEdits, LoggedNote, logged_edits};
pub use self::fold::{ArchivedAgent, RefFold};
pub use self::log::{LogFile, LogPlace, first_payload, payloads, payloads_after};
pub use self::opening::OpenedJournal;
pub use self::purge::{EntryScrub, scrub_aside};
pub use self::read::{
    Segment, decided, each_record, newest_segments, pending_entries, pending_in, records,
    records_of, segments, tail, tail_with_hash, unfinished,
};
pub use self::record::{JournalBody, JournalRecord, JournalRecordHash, StreamPin, StreamStanding};
pub use self::salvage::{ReadableSegment, Salvage, readable, salvage};
pub use self::segment::sync_directory;
pub use self::succession::{JournalInheritance, begin_beside, change_names, discard, take_place};
pub use self::transaction::{
    BranchMove, Content, DECIDE, Follow, GitKind, GitObject, KeptObject, NotesEdit,
    RECORD_OBJECT_BYTES_MAX, TakenEntries, Transaction,
};
use crate::layout::{Layout, Stream};
use crate::{Error, Result, fault};

/// Records younger than this stay when a log is cut, in milliseconds: ten minutes. A prune that
/// began before them may still be running. Nor does a round begin earlier after the one before.
pub const KEEP_MILLIS: i64 = 10 * 60 * 1000;

/// A segment that has reached this many bytes is not appended to: 1 MiB.
pub const SEGMENT_BYTES_MAX: u64 = 1 << 20;
/// Room that a transaction reserves for the record of its outcome, in bytes.
const OUTCOME_BYTES: u64 = 4 << 10;

/// Whether an append waits until the disk has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Acknowledge only what survives a power cut.
    #[default]
    Full,
    /// As durable as git's own commits: the disk gets it when the system finds the time.
    Git,
}

/// A journal open for appending. Whoever has one holds its stream's lock.
#[derive(Debug)]
pub struct Journal {
    dir: PathBuf,
    segment: u64,
    path: PathBuf,
    file: Arc<File>,
    length: u64,
    /// How many bytes of the segment the disk is known to have.
    synced: u64,
    /// Folders with new names in them that the next durable append makes durable too.
    unsynced: Vec<PathBuf>,
    /// Whether this writer began a new segment because the one before was long enough.
    rolled: bool,
    /// Whether the mark is known to be there that this journal is worth replaying.
    marked: bool,
    last: JournalRecord,
    last_hash: JournalRecordHash,
}

/// In which state of its own notes ref a stream knows all its notes edits to be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ComparedNotes {
    /// What the write's own move of the ref left; never one that was read later.
    pub tip: Option<Oid>,
    /// The commits whose notes a person removed since the last look.
    pub removed: Vec<Oid>,
}

/// Records as frames.
struct EncodedRecords {
    bytes: Vec<u8>,
    /// The last of the records, if there is one.
    last: Option<(JournalRecord, JournalRecordHash)>,
}

impl Journal {
    /// Begins a stream's journal. The caller has made sure that there is none. It is durable with
    /// the first durable append: all names are made first, so that one commit of the filesystem
    /// covers them.
    ///
    /// # Errors
    /// Fails when its folder or first segment cannot be made.
    pub fn create(
        layout: &Layout,
        stream: &Stream,
        standing: StreamStanding,
        at: Instant,
    ) -> Result<Journal> {
        let dir = layout.journal(stream);
        std::fs::create_dir_all(&dir).map_err(Error::io("create", &dir))?;
        let marks = mark_dirty(layout, stream)?;
        let record = JournalRecord {
            seq: 0,
            prev: [0; 32],
            at,
            synced: 0,
            standing,
            body: JournalBody::Open,
        };
        let begun = Journal::begin_segment(dir, 0, record);
        let mut journal = begun.inspect_err(|_| remove_begun(layout, stream))?;
        journal.unsynced.extend([layout.journals(), layout.root().to_owned()]);
        journal.unsynced.extend(marks);
        fault::point("journal-begun").inspect_err(|_| remove_begun(layout, stream))?;
        Ok(journal)
    }

    /// Tells whether this journal was begun by whoever has it, and nothing was ever recorded in it.
    pub fn is_unused(&self) -> bool {
        self.last.seq == 0 && self.synced == 0 && self.last.body == JournalBody::Open
    }

    /// Notes durably, with the next durable append, that this journal holds records which only a
    /// replay makes safe after a power cut.
    ///
    /// # Errors
    /// Fails when the mark cannot be made.
    pub fn mark_dirty(&mut self, layout: &Layout, stream: &Stream) -> Result<()> {
        if !self.marked {
            self.unsynced.extend(mark_dirty(layout, stream)?);
            self.marked = true;
        }
        Ok(())
    }

    /// Makes everything durable that was appended, whoever appended it.
    ///
    /// # Errors
    /// Fails when the disk does.
    pub fn sync(&mut self) -> Result<()> {
        self.file.sync_data().map_err(Error::io("sync", &self.path))?;
        fault::synced(&self.path, self.length);
        for folder in std::mem::take(&mut self.unsynced) {
            segment::sync_directory(&folder)?;
        }
        self.synced = self.length;
        Ok(())
    }

    /// Returns where the stream stands after the last record.
    pub fn standing(&self) -> &StreamStanding {
        &self.last.standing
    }

    /// Returns the last record.
    pub fn last(&self) -> &JournalRecord {
        &self.last
    }

    /// Tells whether this writer began a new segment because the one before was long enough.
    pub fn has_rolled(&self) -> bool {
        self.rolled
    }

    /// Appends trace entries; they are pending from then on.
    ///
    /// # Errors
    /// Fails when the disk is full or broken; the journal is then as before.
    pub fn append_entries(
        &mut self,
        entries: Vec<Entry>,
        at: Instant,
        durability: Durability,
    ) -> Result<()> {
        let standing = |journal: &Journal, n: u64| StreamStanding {
            n_pending: journal.last.standing.n_pending + n,
            ..journal.last.standing.clone()
        };
        let bodies = entries.into_iter().map(JournalBody::Entry).collect::<Vec<_>>();
        let standings = (1..=bodies.len() as u64).map(|n| standing(self, n)).collect::<Vec<_>>();
        self.append(bodies.into_iter().zip(standings).collect(), at, durability)
    }

    /// Appends a transaction, with room for its outcome. Once this returns, the write is decided:
    /// it will be materialised by this process or by the next one.
    ///
    /// # Errors
    /// Fails when the disk is full or broken; then nothing has happened.
    pub fn append_transaction(
        &mut self,
        transaction: Transaction,
        notes: Option<Oid>,
        durability: Durability,
    ) -> Result<()> {
        fault::point("before-record")?;
        let head = transaction.branch.as_ref().map(|branch| branch.new);
        let before = &self.last.standing;
        let standing = StreamStanding {
            genesis: before.genesis,
            head: head.or(before.head),
            taken_before: match transaction.taken.count {
                0 => before.taken_before,
                // Entries stand anywhere before this record; all of them are bound by it.
                _ => self.last.seq + 1,
            },
            n_pending: before.n_pending - transaction.taken.count,
            notes,
            compared: before.compared,
            pin: transaction.pin_after(before),
        };
        let at = transaction.committer.at;
        let body = JournalBody::Transaction(Box::new(transaction));
        self.append(vec![(body, standing)], at, durability)
    }

    /// Notes that the last transaction is materialised, and in which state of its notes ref. Needs no sync: redoing it is harmless.
    ///
    /// # Errors
    /// Fails when the journal cannot be written.
    pub fn append_done(&mut self, compared: ComparedNotes, at: Instant) -> Result<()> {
        let ComparedNotes { tip, removed } = compared;
        let standing = StreamStanding { compared: tip, ..self.last.standing.clone() };
        self.append(vec![(JournalBody::Done { removed }, standing)], at, Durability::Git)
    }

    /// Notes durably that the last transaction was given up; its entries are pending again.
    ///
    /// # Errors
    /// Fails when the journal cannot be written.
    pub fn append_abort(&mut self, found: Option<Oid>, at: Instant) -> Result<()> {
        let JournalBody::Transaction(transaction) = &self.last.body else {
            panic!("BUG: only a transaction is aborted");
        };
        let before = &self.last.standing;
        let standing = StreamStanding {
            genesis: before.genesis,
            head: found,
            taken_before: match transaction.taken.count {
                0 => before.taken_before,
                _ => transaction.taken.from,
            },
            n_pending: before.n_pending + transaction.taken.count,
            notes: before.notes,
            compared: before.compared,
            pin: StreamPin::Unknown,
        };
        self.append(vec![(JournalBody::Abort { found }, standing)], at, Durability::Full)
    }

    fn begin_segment(dir: PathBuf, number: u64, open: JournalRecord) -> Result<Journal> {
        let path = segment::path(&dir, number);
        let file = segment::create(&path)?;
        fault::point("segment-created")?;
        let payload = open.encode()?;
        let frame = frame::encode(&payload);
        if let Err(error) = file.write_all_at(&frame, 0).map_err(Error::io("write", &path)) {
            // An empty segment would only be cleaned up by the next writer.
            let _ = std::fs::remove_file(&path);
            return Err(error);
        }
        fault::point("segment-begun")?;
        Ok(Journal {
            unsynced: vec![dir.clone()],
            dir,
            segment: number,
            path,
            file: Arc::new(file),
            length: frame.len() as u64,
            synced: 0,
            rolled: false,
            marked: false,
            last_hash: *hash(&payload).as_bytes(),
            last: open,
        })
    }

    /// Appends records in one write and one sync, all or none.
    fn append(
        &mut self,
        bodies: Vec<(JournalBody, StreamStanding)>,
        at: Instant,
        durability: Durability,
    ) -> Result<()> {
        if self.length >= SEGMENT_BYTES_MAX {
            self.roll(at)?;
        } else if durability == Durability::Full
            && self.length - self.synced > segment::UNSURE_BYTES_MAX
        {
            // Mostly the disk has it all, and this costs next to nothing.
            self.sync()?;
        }
        let EncodedRecords { bytes, last } = self.encode(bodies, at, self.synced)?;
        let Some((last, last_hash)) = last else { return Ok(()) };
        self.write(&bytes, durability, matches!(last.body, JournalBody::Transaction(_)))?;
        (self.last, self.last_hash) = (last, last_hash);
        Ok(())
    }

    /// Makes the frames of records that follow the last one; returns the last of them too.
    fn encode(
        &self,
        bodies: Vec<(JournalBody, StreamStanding)>,
        at: Instant,
        synced: u64,
    ) -> Result<EncodedRecords> {
        encode_from(self.last.seq + 1, self.last_hash, bodies, at, synced)
    }

    /// Begins a new segment because the current one is long enough. The chain must not break where
    /// the old one ends, so its last records, which may not be synced yet, are.
    fn roll(&mut self, at: Instant) -> Result<()> {
        self.sync()?;
        let open = JournalRecord {
            seq: self.last.seq + 1,
            prev: self.last_hash,
            at,
            synced: 0,
            standing: self.last.standing.clone(),
            body: JournalBody::Open,
        };
        *self = Journal::begin_segment(self.dir.clone(), self.segment + 1, open)?;
        self.rolled = true;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8], durability: Durability, reserve: bool) -> Result<()> {
        let before = self.length;
        let outcome = self.try_write(bytes, durability, reserve);
        if outcome.is_err() {
            // A record that was refused must not be found and redone later.
            self.length = before;
            let _ = self.file.set_len(before);
        }
        outcome
    }

    fn try_write(&mut self, bytes: &[u8], durability: Durability, reserve: bool) -> Result<()> {
        let write = || {
            if reserve {
                crate::os::reserve(&self.file, self.length, bytes.len() as u64 + OUTCOME_BYTES)?;
            }
            self.write_bytes(bytes)
        };
        write().map_err(Error::io("append to", &self.path))?;
        self.length += bytes.len() as u64;
        fault::point("record-written")?;
        match durability {
            Durability::Full => self.sync(),
            Durability::Git => Ok(()),
        }
    }

    fn write_bytes(&self, bytes: &[u8]) -> std::io::Result<()> {
        if !fault::ARMED {
            return self.file.write_all_at(bytes, self.length);
        }
        let (first, second) = bytes.split_at(bytes.len() / 2);
        self.file.write_all_at(first, self.length)?;
        fault::point("half-record").map_err(std::io::Error::other)?;
        self.file.write_all_at(second, self.length + first.len() as u64)
    }
}

/// Makes the frames of records, the first with a number and naming the hash of the one before.
fn encode_from(
    first: u64,
    mut prev: JournalRecordHash,
    bodies: Vec<(JournalBody, StreamStanding)>,
    at: Instant,
    synced: u64,
) -> Result<EncodedRecords> {
    let mut bytes = Vec::new();
    let mut last = None;
    for (seq, (body, standing)) in (first..).zip(bodies) {
        let record = JournalRecord { seq, prev, at, synced, standing, body };
        let payload = record.encode()?;
        prev = *hash(&payload).as_bytes();
        bytes.extend_from_slice(&frame::encode(&payload));
        last = Some((record, prev));
    }
    Ok(EncodedRecords { bytes, last })
}

/// Removes a journal in which nothing was ever recorded. One that stays is used by the next write.
pub(crate) fn remove_begun(layout: &Layout, stream: &Stream) {
    let dir = layout.journal(stream);
    let _may_be_absent = std::fs::remove_file(segment::path(&dir, 0));
    if std::fs::remove_dir(&dir).is_ok() {
        let _may_be_absent = std::fs::remove_file(layout.dirty(stream));
    }
}

/// Returns the file of a segment.
pub fn segment_path(layout: &Layout, stream: &Stream, number: u64) -> PathBuf {
    segment::path(&layout.journal(stream), number)
}

/// Makes the mark of a stream unless it is there; returns the folder that is to be synced then.
fn mark_dirty(layout: &Layout, stream: &Stream) -> Result<Option<PathBuf>> {
    let mark = layout.dirty(stream);
    if mark.exists() {
        return Ok(None);
    }
    let marks = layout.dirty_marks();
    std::fs::create_dir_all(&marks).map_err(Error::io("create", &marks))?;
    File::create(&mark).map_err(Error::io("create", &mark))?;
    Ok(Some(marks))
}

fn hash(payload: &[u8]) -> blake3::Hash {
    blake3::hash(payload)
}

#[cfg(test)]
mod tests;
