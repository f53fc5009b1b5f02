//! Opening a journal: finding its last segment, and cutting off what was never finished.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use std::sync::Arc;

use super::record::JournalRecord;
use super::{Journal, frame, hash, segment, succession};
use crate::layout::{Layout, Stream};
use crate::{Error, Result};

/// How much of what others appended is read to go on from there, in bytes; beyond that the journal
/// is opened anew.
const READ_ON_BYTES_MAX: u64 = 256 << 10;

/// What opening a journal found.
#[derive(Debug)]
pub enum OpenedJournal {
    /// There is none yet.
    Absent {
        /// How many bytes of records were removed that were never finished.
        cut: u64,
    },
    /// It is open; `cut` bytes of a record that was never finished were removed.
    Ready {
        /// The journal.
        journal: Box<Journal>,
        /// How many bytes were cut off.
        cut: u64,
    },
}

impl Journal {
    /// Opens a stream's journal for appending and cuts off a torn tail.
    ///
    /// # Errors
    /// Fails when the journal is damaged anywhere but in its last record, or cannot be read.
    pub fn open(layout: &Layout, stream: &Stream) -> Result<OpenedJournal> {
        Journal::open_with(layout, stream, segment::repair)
    }

    /// Does the same after the machine stopped, when what was not synced may be there in part. Every
    /// record of the last segment is looked at, not only the last one.
    ///
    /// # Errors
    /// Fails as [`Journal::open`] does.
    pub fn open_after_power_cut(layout: &Layout, stream: &Stream) -> Result<OpenedJournal> {
        Journal::open_with(layout, stream, segment::repair_whole)
    }

    fn open_with(
        layout: &Layout,
        stream: &Stream,
        repair: fn(&File, &Path) -> Result<(u64, u64)>,
    ) -> Result<OpenedJournal> {
        let dir = layout.journal(stream);
        let mut removed = 0;
        loop {
            let Some(segment) = segment::list(&dir)?.last().copied() else {
                if succession::take_place(layout, stream)? {
                    continue;
                }
                return Ok(OpenedJournal::Absent { cut: removed });
            };
            let path = segment::path(&dir, segment);
            let file = segment::open(&path)?;
            let (length, cut) = repair(&file, &path)?;
            if length == 0 {
                // A segment without a record was never acknowledged.
                std::fs::remove_file(&path).map_err(Error::io("remove", &path))?;
                removed += cut;
                continue;
            }
            let (payload, start) = segment::last_payload(&file, &path, length)?;
            let last = JournalRecord::decode(&payload);
            let is_own = match &last {
                Ok(last) => segment::is_own(&file, &path, last, start)?,
                Err(_) => false,
            };
            if !is_own {
                let torn = match segment::repair_whole(&file, &path) {
                    Ok((_, torn)) => torn,
                    // Then the last record is one of the segment's own, and an append looks at no
                    // other; whoever reads is told of the damage.
                    Err(Error::Damage(_)) => 0,
                    Err(error) => return Err(error),
                };
                removed += torn;
                if torn > 0 {
                    continue;
                }
            }
            let last = last?;
            let last_hash = *hash(&payload).as_bytes();
            let journal = Journal {
                dir,
                segment,
                path,
                file: Arc::new(file),
                length,
                synced: last.synced,
                unsynced: Vec::new(),
                rolled: false,
                marked: false,
                last,
                last_hash,
            };
            return Ok(OpenedJournal::Ready { journal: Box::new(journal), cut: removed + cut });
        }
    }

    /// Goes on with a journal that was open before its lock was given back: reads what others have
    /// appended since. Nothing if it must be opened anew, because it was cut, set aside or
    /// continued in another segment, or does not end with a whole record.
    ///
    /// # Errors
    /// Fails when the journal is damaged, or cannot be read.
    pub fn read_on(mut self) -> Result<Option<Journal>> {
        let failed = |path| Error::io("read", path);
        let found = match std::fs::metadata(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            found => found.map_err(failed(&self.path))?,
        };
        let own = self.file.metadata().map_err(failed(&self.path))?;
        let is_same = (found.dev(), found.ino()) == (own.dev(), own.ino());
        let n_new = found.len().checked_sub(self.length);
        let Some(n_new) = n_new.filter(|n_new| is_same && *n_new <= READ_ON_BYTES_MAX) else {
            return Ok(None);
        };
        if segment::path(&self.dir, self.segment + 1).exists() {
            return Ok(None);
        }
        self.rolled = false;
        if n_new == 0 {
            return Ok(Some(self));
        }
        let mut bytes = vec![0; n_new as usize];
        self.file.read_exact_at(&mut bytes, self.length).map_err(failed(&self.path))?;
        let (mut at, mut newest) = (0, None);
        while let Some((payload, next)) = frame::at(&bytes, at) {
            (at, newest) = (next, Some(payload));
        }
        let Some(payload) = newest.filter(|_| at == bytes.len()) else { return Ok(None) };
        (self.last, self.last_hash) = (JournalRecord::decode(payload)?, *hash(payload).as_bytes());
        (self.length, self.synced) = (found.len(), self.last.synced);
        Ok(Some(self))
    }
}
