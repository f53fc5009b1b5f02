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

/// The folder that holds everything of ours; the names below it are made durable with a log.
const ROOT: &str = "agentic";

/// A place in a log, behind one of its payloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Place {
    segment: u64,
    offset: u64,
}

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
        let (length, cut) = segment::repair_log(&file, &path)?;
        Ok((Log { dir: dir.to_owned(), segment: number, path, file, length }, cut))
    }

    /// Returns the place behind the last payload.
    pub fn end(&self) -> Place {
        Place { segment: self.segment, offset: self.length }
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
        // Each frame says what the disk had before this append: a good frame after a bad one is
        // damage only if the bad one had been synced.
        let synced = i64::try_from(self.length).unwrap_or(i64::MAX);
        let mut bytes = Vec::new();
        for payload in payloads {
            let item = Value::List(vec![Value::Int(synced), Value::Bytes(payload.to_vec())]);
            let item = canonical::encode(&item)
                .map_err(|error| Error::corrupt("a new record of a session", error))?;
            bytes.extend_from_slice(&frame::encode(&item));
        }
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
        for folder in dir.ancestors() {
            segment::sync_directory(folder)?;
            if folder.ends_with(ROOT) {
                break;
            }
        }
        Ok(Log { dir: dir.to_owned(), segment: number, path, file, length: 0 })
    }
}

/// Reads all payloads of a log, oldest first, without a lock. A torn last payload is left out.
///
/// # Errors
/// Fails when a payload is damaged or a segment is missing.
pub fn payloads(dir: &Path) -> Result<Vec<Vec<u8>>> {
    Ok(payloads_after(dir, Place::default())?.0)
}

/// Reads the payloads behind a place, and returns the place behind the last of them.
///
/// # Errors
/// Fails as [`payloads`] does, and when the log does not reach that far: what was there has been cut
/// off.
pub fn payloads_after(dir: &Path, place: Place) -> Result<(Vec<Vec<u8>>, Place)> {
    let (mut found, mut end) = (Vec::new(), place);
    let numbers = segment::list(dir)?;
    if place != Place::default() && !numbers.contains(&place.segment) {
        return Err(segment::damaged(&segment::path(dir, place.segment), 0));
    }
    for (at, number) in numbers.into_iter().enumerate() {
        if at as u64 != number {
            let what = format!("the log `{}`", dir.display());
            return Err(Error::corrupt(what, format!("segment {at} is missing")));
        }
        if number > end.segment {
            end = Place { segment: number, offset: 0 };
        }
        if number == end.segment {
            end.offset = read_segment(&segment::path(dir, number), end.offset, &mut found)?;
        }
    }
    Ok((found, end))
}

/// Reads the payloads of a segment from an offset on; returns where the last one ends.
fn read_segment(path: &Path, offset: u64, found: &mut Vec<Vec<u8>>) -> Result<u64> {
    let bytes = segment::read_after(path, offset)?;
    let mut at = 0;
    while let Some((payload, next)) = frame::at(&bytes, at) {
        found.push(unpack(payload).ok_or_else(|| segment::damaged(path, at))?);
        at = next;
    }
    let end = offset + at as u64;
    if at < bytes.len() {
        // Whether the rest is torn or damaged shows in the whole segment.
        let whole = segment::read_after(path, 0)?;
        if let Scan::Damaged { start } = segment::scan_log(&whole) {
            return Err(segment::damaged(path, start));
        }
    }
    Ok(end)
}

/// Reads the oldest payload of a log, and no more of the log than that takes; nothing if there is
/// none that is whole.
///
/// # Errors
/// Fails when the payload is damaged or its segment is missing.
pub fn first_payload(dir: &Path) -> Result<Option<Vec<u8>>> {
    let path = segment::path(dir, 0);
    if let Ok(file) = File::open(&path)
        && let Some(payload) = segment::first_frame(&file, &path)?
    {
        return unpack(&payload).map(Some).ok_or_else(|| segment::damaged(&path, 0));
    }
    // Whether it is torn or damaged shows in what follows it.
    Ok(payloads(dir)?.into_iter().next())
}

fn unpack(payload: &[u8]) -> Option<Vec<u8>> {
    let Value::List(items) = canonical::decode(payload).ok()? else { return None };
    match <[Value; 2]>::try_from(items) {
        Ok([Value::Int(_), Value::Bytes(bytes)]) => Some(bytes),
        Ok(_) | Err(_) => None,
    }
}
