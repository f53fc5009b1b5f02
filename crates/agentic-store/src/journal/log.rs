//! Logs: payloads that somebody else chains, in the same frames and segments as a journal.
//!
//! A session's records are made and chained by the engine; this file only keeps their bytes.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use agentic_model::{Value, canonical};

use super::frame::{self, Scan};
use super::{Durability, SEGMENT_BYTES_MAX, segment};
use crate::{Error, Result, fault};

/// A log open for appending. Whoever has one holds the lock of what it belongs to.
#[derive(Debug)]
pub struct Log {
    dir: PathBuf,
    segment: u64,
    path: PathBuf,
    file: File,
    length: u64,
}

impl Log {
    /// Opens a log, making it if there is none, and cuts off a torn tail. Returns how many bytes
    /// were cut.
    ///
    /// # Errors
    /// Fails when the log is damaged anywhere but in its last payload.
    pub fn open(dir: &Path) -> Result<(Log, u64)> {
        let Some(number) = segment::list(dir)?.last().copied() else {
            return Ok((Log::begin(dir, 0)?, 0));
        };
        let path = segment::path(dir, number);
        let file = segment::open(&path)?;
        let (length, cut) = segment::repair_synced(&file, &path)?;
        Ok((Log { dir: dir.to_owned(), segment: number, path, file, length }, cut))
    }

    /// Appends payloads in one write and one sync, all or none.
    ///
    /// # Errors
    /// Fails when the disk is full or broken; the log is then as before.
    pub fn append(&mut self, payloads: &[&[u8]], durability: Durability) -> Result<()> {
        if payloads.is_empty() {
            return Ok(());
        }
        if self.length >= SEGMENT_BYTES_MAX {
            *self = Log::begin(&self.dir, self.segment + 1)?;
        }
        // One frame for all of them: a power cut takes the last frame whole, or not at all.
        let list = payloads.iter().map(|payload| Value::Bytes(payload.to_vec())).collect();
        let list = canonical::encode(&Value::List(list))
            .map_err(|error| Error::corrupt("new records of a session", error))?;
        let bytes = frame::encode(&list);
        fault::point("before-session-record")?;
        let written = self.write(&bytes, durability);
        if let Err(error) = written {
            // A record that was refused must not be found later.
            let _ = self.file.set_len(self.length);
            return Err(Error::io("append to", &self.path)(error));
        }
        self.length += bytes.len() as u64;
        fault::point("after-session-record")
    }

    fn write(&self, bytes: &[u8], durability: Durability) -> std::io::Result<()> {
        segment::reserve(&self.file, self.length, bytes.len() as u64)?;
        #[cfg(feature = "crash-points")]
        if fault::is_armed("mid-session-record") {
            self.file.write_all_at(&bytes[..bytes.len() / 2], self.length)?;
            let _ = fault::point("mid-session-record");
        }
        self.file.write_all_at(bytes, self.length)?;
        match durability {
            Durability::Full => self.file.sync_data(),
            Durability::Git => Ok(()),
        }
    }

    fn begin(dir: &Path, number: u64) -> Result<Log> {
        std::fs::create_dir_all(dir).map_err(Error::io("create", dir))?;
        let path = segment::path(dir, number);
        let file = segment::create(&path)?;
        segment::sync_directory(dir)?;
        if let Some(parent) = dir.parent() {
            segment::sync_directory(parent)?;
        }
        Ok(Log { dir: dir.to_owned(), segment: number, path, file, length: 0 })
    }
}

/// Reads all payloads of a log, oldest first, without a lock. A torn last payload is left out.
///
/// # Errors
/// Fails when a payload is damaged or a segment is missing.
pub fn payloads(dir: &Path) -> Result<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    for (at, number) in segment::list(dir)?.into_iter().enumerate() {
        if at as u64 != number {
            let what = format!("the log `{}`", dir.display());
            return Err(Error::corrupt(what, format!("segment {at} is missing")));
        }
        let path = segment::path(dir, number);
        let bytes = std::fs::read(&path).map_err(Error::io("read", &path))?;
        let end = match segment::scan_synced(&bytes) {
            Scan::Whole => bytes.len(),
            Scan::Torn { end } => end,
            Scan::Damaged { start } => return Err(segment::damaged(&path, start)),
        };
        let mut at = 0;
        while let Some((payload, next)) = frame::at(&bytes[..end], at) {
            found.extend(unpack(payload).ok_or_else(|| segment::damaged(&path, at))?);
            at = next;
        }
    }
    Ok(found)
}

fn unpack(payload: &[u8]) -> Option<Vec<Vec<u8>>> {
    let list = canonical::decode(payload).ok()?;
    list.as_list()?.iter().map(|item| item.as_bytes().map(<[u8]>::to_vec)).collect()
}
