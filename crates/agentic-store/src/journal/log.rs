//! Logs: payloads that somebody else chains, in the same frames and segments as a journal.
//!
//! A session's records are made and chained by the engine; this file only keeps their bytes.

mod room;

use std::fs::File;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use agentic_model::{Value, canonical};

use self::room::LogRoom;
use super::frame::{self, Scan};
use super::{Durability, SEGMENT_BYTES_MAX, segment};
use crate::file::{self, Persistence};
use crate::{Error, Result, fault};

/// The folder that holds everything of ours; the names below it are made durable with a log.
const ROOT: &str = "agentic";

/// A place in a log, behind one of its payloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogPlace {
    segment: u64,
    offset: u64,
    /// The file of the segment: another one may take its name, with the same payloads in other
    /// places.
    file: u64,
}

impl LogPlace {
    /// Tells whether nothing stands before.
    pub fn is_beginning(&self) -> bool {
        self.segment == 0 && self.offset == 0
    }
}

/// A log open for appending. Whoever has one holds the lock of what it belongs to.
#[derive(Debug)]
pub struct LogFile {
    dir: PathBuf,
    segment: u64,
    path: PathBuf,
    file: File,
    /// What tells the file from one that takes its name.
    number: u64,
    length: u64,
    /// What is kept behind the end for what will have to be appended.
    room: LogRoom,
}

impl LogFile {
    /// Opens a log, making it if there is none, and cuts off a torn tail. Returns how many bytes
    /// were cut.
    ///
    /// # Errors
    /// Fails when the log is damaged anywhere but in its last payload.
    pub fn open(dir: &Path) -> Result<(LogFile, u64)> {
        let Some(number) = segment::list(dir)?.last().copied() else {
            return Ok((LogFile::begin(dir, 0)?, 0));
        };
        let path = segment::path(dir, number);
        let file = segment::open(&path)?;
        let (length, cut) = segment::repair_log(&file, &path)?;
        Ok((LogFile::of(dir, number, file, length)?, cut))
    }

    /// Takes the last segment of a log, whose good frames have so many bytes.
    fn of(dir: &Path, segment: u64, file: File, length: u64) -> Result<LogFile> {
        let path = segment::path(dir, segment);
        let number = file.metadata().map_err(Error::io("read", &path))?.ino();
        let room = LogRoom::default();
        Ok(LogFile { dir: dir.to_owned(), segment, path, file, number, length, room })
    }

    /// Keeps room for so many bytes more, for what will have to be appended whatever becomes of the disk.
    ///
    /// # Errors
    /// Fails when there is none.
    pub fn keep_room(&mut self, n_bytes: u64) -> Result<()> {
        let kept = self.room.keep(&self.file, self.length, n_bytes);
        kept.map_err(Error::io("make room in", &self.path))
    }

    /// Lets what is appended next have so many bytes of the room that is kept.
    pub fn use_room(&mut self, n_bytes: u64) {
        self.room.give(n_bytes);
    }

    /// Gives all room back that is kept. Whoever has the log holds its lock still.
    pub fn give_room_back(&mut self) {
        self.room.give_back(&self.file, self.length);
    }

    /// Returns the place behind the last payload.
    pub fn end(&self) -> LogPlace {
        LogPlace { segment: self.segment, offset: self.length, file: self.number }
    }

    /// Appends payloads in one write and one sync, all or none.
    ///
    /// # Errors
    /// Fails when the disk is full or broken; the log is then as before.
    pub fn append(&mut self, payloads: &[&[u8]], durability: Durability) -> Result<()> {
        if payloads.is_empty() {
            return Ok(());
        }
        // The room that is kept stands in this segment.
        if self.length >= SEGMENT_BYTES_MAX && !self.room.is_kept() {
            *self = LogFile::begin(&self.dir, self.segment + 1)?;
        }
        // Each frame says what the disk had before this append: a good frame after a bad one is
        // damage only if the bad one had been synced.
        let mut bytes = Vec::new();
        for payload in payloads {
            bytes.extend_from_slice(&framed(payload, self.length)?);
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

    /// Replaces segments, from one on, by shorter ones that say the same: `shorten` is given the
    /// payloads of one and returns those to stand in their place, or nothing if they may stay. Each
    /// segment is replaced by itself and whole, so that a crash leaves the one or the other.
    ///
    /// # Errors
    /// Fails when a segment cannot be read or written; it is then as before.
    pub fn shorten<E: From<Error>>(
        &mut self,
        shorten: impl Fn(u64, Vec<Vec<u8>>) -> std::result::Result<Option<Vec<Vec<u8>>>, E>,
    ) -> std::result::Result<(), E> {
        segment::remove_unfinished(&self.dir)?;
        for number in segment::list(&self.dir)? {
            let (path, mut payloads) = (segment::path(&self.dir, number), Vec::new());
            read_segment(&path, 0, &mut payloads)?;
            let Some(payloads) = shorten(number, payloads)? else { continue };
            let mut bytes = Vec::new();
            for payload in &payloads {
                // All of it is on the disk before it has its name.
                let synced = bytes.len() as u64;
                bytes.extend_from_slice(&framed(payload, synced)?);
            }
            fault::point("before-shorter-log")?;
            file::replace(&path, &bytes, Persistence::Synced)?;
            if number == self.segment {
                *self = LogFile::of(&self.dir, number, segment::open(&path)?, bytes.len() as u64)?;
            }
            fault::point("after-shorter-log")?;
        }
        Ok(())
    }

    /// Returns how many bytes the segment has that is appended to.
    pub fn segment_bytes(&self) -> u64 {
        self.length
    }

    fn write(&self, bytes: &[u8], durability: Durability) -> std::io::Result<()> {
        self.room.reserve_before(&self.file, self.length, bytes.len() as u64)?;
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

    fn begin(dir: &Path, number: u64) -> Result<LogFile> {
        std::fs::create_dir_all(dir).map_err(Error::io("create", dir))?;
        let path = segment::path(dir, number);
        let file = segment::create(&path)?;
        for folder in dir.ancestors() {
            segment::sync_directory(folder)?;
            if folder.ends_with(ROOT) {
                break;
            }
        }
        LogFile::of(dir, number, file, 0)
    }
}

/// Makes the frame of a payload that is written when the disk has so many bytes of the segment.
fn framed(payload: &[u8], synced: u64) -> Result<Vec<u8>> {
    let synced = i64::try_from(synced).unwrap_or(i64::MAX);
    let item = Value::List(vec![Value::Int(synced), Value::Bytes(payload.to_vec())]);
    let item = canonical::encode(&item)
        .map_err(|error| Error::corrupt("a new record of a session", error))?;
    Ok(frame::encode(&item))
}

/// Reads all payloads of a log, oldest first, without a lock. A torn last payload is left out.
///
/// # Errors
/// Fails when a payload is damaged or a segment is missing.
pub fn payloads(dir: &Path) -> Result<Vec<Vec<u8>>> {
    Ok(payloads_after(dir, LogPlace::default())?.0)
}

/// Reads the payloads behind a place, and returns the place behind the last of them.
///
/// # Errors
/// Fails as [`payloads`] does, and when that is no place of the log any more: what was there has
/// been cut off, or stands elsewhere now.
pub fn payloads_after(dir: &Path, place: LogPlace) -> Result<(Vec<Vec<u8>>, LogPlace)> {
    let (mut found, mut end) = (Vec::new(), place);
    let numbers = segment::list(dir)?;
    if !place.is_beginning() && !numbers.contains(&place.segment) {
        return Err(segment::damaged(&segment::path(dir, place.segment), 0));
    }
    for (at, number) in numbers.into_iter().enumerate() {
        if at as u64 != number {
            let what = format!("the log `{}`", dir.display());
            return Err(Error::corrupt(what, format!("segment {at} is missing")));
        }
        if number > end.segment {
            end = LogPlace { segment: number, ..LogPlace::default() };
        }
        if number == end.segment {
            let (path, known) = (segment::path(dir, number), end);
            (end.offset, end.file) = read_segment(&path, known.offset, &mut found)?;
            if known.offset > 0 && known.file != end.file {
                return Err(segment::damaged(&path, 0));
            }
        }
    }
    Ok((found, end))
}

/// Reads the payloads of a segment from an offset on; returns where the last one ends, and what
/// tells the file that was read from others.
fn read_segment(path: &Path, offset: u64, found: &mut Vec<Vec<u8>>) -> Result<(u64, u64)> {
    let (bytes, file) = segment::read_after(path, offset)?;
    let mut at = 0;
    while let Some((payload, next)) = frame::at(&bytes, at) {
        found.push(unpack(payload).ok_or_else(|| segment::damaged(path, at))?);
        at = next;
    }
    let end = offset + at as u64;
    if at < bytes.len() {
        // Whether the rest is torn or damaged shows in the whole segment.
        let (whole, _) = segment::read_after(path, 0)?;
        if let Scan::Damaged { start } = segment::scan_log(&whole) {
            return Err(segment::damaged(path, start));
        }
    }
    Ok((end, file))
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

#[cfg(test)]
mod tests;
