//! Opening a journal: finding its last segment, and cutting off what was never finished.

use std::fs::File;
use std::path::Path;

use super::record::Record;
use super::{Journal, hash, segment};
use crate::layout::{Layout, Stream};
use crate::{Error, Result};

/// What opening a journal found.
#[derive(Debug)]
pub enum Opened {
    /// There is none yet.
    Absent,
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
    pub fn open(layout: &Layout, stream: &Stream) -> Result<Opened> {
        Journal::open_with(layout, stream, segment::repair)
    }

    /// Does the same after the machine stopped, when what was not synced may be there in part. Every
    /// record of the last segment is looked at, not only the last one.
    ///
    /// # Errors
    /// Fails as [`Journal::open`] does.
    pub fn open_after_power_cut(layout: &Layout, stream: &Stream) -> Result<Opened> {
        Journal::open_with(layout, stream, segment::repair_whole)
    }

    fn open_with(
        layout: &Layout,
        stream: &Stream,
        repair: fn(&File, &Path) -> Result<(u64, u64)>,
    ) -> Result<Opened> {
        let dir = layout.journal(stream);
        loop {
            let Some(segment) = segment::list(&dir)?.last().copied() else {
                return Ok(Opened::Absent);
            };
            let path = segment::path(&dir, segment);
            let file = segment::open(&path)?;
            let (length, cut) = repair(&file, &path)?;
            if length == 0 {
                // A segment without a record was never acknowledged.
                std::fs::remove_file(&path).map_err(Error::io("remove", &path))?;
                continue;
            }
            let payload = segment::last_payload(&file, &path, length)?;
            let last = Record::decode(&payload)?;
            let last_hash = *hash(&payload).as_bytes();
            let (synced, unsynced) = (last.synced, Vec::new());
            let rolled = false;
            let journal = Journal {
                dir,
                segment,
                path,
                file,
                length,
                synced,
                unsynced,
                rolled,
                last,
                last_hash,
            };
            return Ok(Opened::Ready { journal: Box::new(journal), cut });
        }
    }
}
