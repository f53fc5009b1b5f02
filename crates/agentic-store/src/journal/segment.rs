//! Segment files: where the frames of a journal stand.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use super::JournalRecord;
use agentic_model::canonical;

use super::frame::{self, Scan};
use crate::{Error, Result, fault};

/// How much of the end of a segment is read at first to find the last frame, in bytes.
const TAIL_BYTES: u64 = 4 << 10;

/// How much may stand between what the disk is known to have and the last record, in bytes, before every
/// frame is looked at.
const UNSYNCED_BYTES_MAX: u64 = 256 << 10;

/// How much may stand there, in bytes, before a durable append has the disk take it once more, so that its
/// record can say so. Short commands append one record each and know no more than the last one says.
pub const UNSURE_BYTES_MAX: u64 = 32 << 10;

/// How much of the beginning of a segment is read at first to find the first frame, in bytes.
const HEAD_BYTES: u64 = 4 << 10;

/// Returns the file of a segment.
pub fn path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{number:08}.log"))
}

/// Lists the segments of a journal by number; none if there is no journal.
pub fn list(dir: &Path) -> Result<Vec<u64>> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("read", dir)(error)),
    };
    let mut numbers = Vec::new();
    for entry in entries {
        let name = entry.map_err(Error::io("read", dir))?.file_name();
        let number: Option<u64> =
            name.to_str().and_then(|name| name.strip_suffix(".log")?.parse().ok());
        numbers.extend(number);
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Deletes what a crash left of segments that never came to be.
pub fn remove_unfinished(dir: &Path) -> Result<()> {
    for entry in std::fs::read_dir(dir).map_err(Error::io("read", dir))? {
        let path = entry.map_err(Error::io("read", dir))?.path();
        if path.extension().is_some_and(|extension| extension == "new") {
            std::fs::remove_file(&path).map_err(Error::io("remove", &path))?;
        }
    }
    Ok(())
}

/// Opens a segment for appending.
pub fn open(path: &Path) -> Result<File> {
    OpenOptions::new().read(true).write(true).open(path).map_err(Error::io("open", path))
}

/// Makes a new, empty segment.
pub fn create(path: &Path) -> Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .open(path)
        .map_err(Error::io("create", path))
}

/// Cuts a torn tail off; returns the length of what is good, and how many bytes were cut.
pub fn repair(file: &File, path: &Path) -> Result<(u64, u64)> {
    let length = file.metadata().map_err(Error::io("read", path))?.len();
    if length == 0 || last_frame(file, path, length)?.is_some() {
        return Ok((length, 0));
    }
    repair_whole(file, path)
}

/// Tells whether the last record, which begins at `start`, is one of the segment's own. What a torn
/// record holds may be a frame as well, copied from a journal. But a record says how much of its
/// segment the disk had, and only whole frames stand between there and the record.
pub fn is_own(file: &File, path: &Path, record: &JournalRecord, start: u64) -> Result<bool> {
    let n_unsynced = start.checked_sub(record.synced);
    let Some(n_unsynced) = n_unsynced.filter(|n_bytes| *n_bytes <= UNSYNCED_BYTES_MAX) else {
        return Ok(false);
    };
    let mut between = vec![0; n_unsynced as usize];
    file.read_exact_at(&mut between, record.synced).map_err(Error::io("read", path))?;
    let mut at = 0;
    while at < between.len() {
        let Some((_, next)) = frame::at(&between, at) else { return Ok(false) };
        at = next;
    }
    Ok(true)
}

/// Does the same after a look at every frame.
pub fn repair_whole(file: &File, path: &Path) -> Result<(u64, u64)> {
    cut_torn(file, path, scan)
}

/// Does the same with a segment of a log, which is read whole anyway.
pub fn repair_log(file: &File, path: &Path) -> Result<(u64, u64)> {
    cut_torn(file, path, scan_log)
}

fn cut_torn(file: &File, path: &Path, scan: fn(&[u8]) -> Scan) -> Result<(u64, u64)> {
    let bytes = std::fs::read(path).map_err(Error::io("read", path))?;
    let length = bytes.len() as u64;
    match scan(&bytes) {
        Scan::Whole => Ok((length, 0)),
        Scan::Torn { end } => {
            let end = end as u64;
            file.set_len(end).map_err(Error::io("cut", path))?;
            file.sync_data().map_err(Error::io("cut", path))?;
            fault::synced(path, end);
            Ok((end, length - end))
        }
        Scan::Damaged { start } => Err(damaged(path, start)),
    }
}

/// Looks at every frame of a segment. A record behind a bad one is one of the segment's own if it can
/// follow the last good one with another in between.
pub fn scan(bytes: &[u8]) -> Scan {
    frame::scan(bytes, |found| {
        let record = JournalRecord::decode(found.payload).ok()?;
        let before = found.last.and_then(|before| JournalRecord::decode(before).ok());
        let is_later = before.is_none_or(|before| {
            record.seq > before.seq + 1 && record.standing.genesis == before.standing.genesis
        });
        is_later.then_some(record.synced)
    })
}

/// What a log says of a payload.
struct LoggedPayload {
    /// How many bytes of the segment the disk had when it was appended.
    synced: u64,
    /// Its number, if it is one of those that somebody counts.
    seq: Option<i64>,
}

impl LoggedPayload {
    fn read(payload: &[u8]) -> Option<LoggedPayload> {
        let value = canonical::decode(payload).ok()?;
        let [synced, record] = value.as_list()? else { return None };
        let synced = u64::try_from(synced.as_int()?).ok()?;
        let record = canonical::decode(record.as_bytes()?).ok();
        Some(LoggedPayload { synced, seq: record.and_then(|it| it.get("seq")?.as_int()) })
    }
}

/// Looks at every frame of a log. A payload behind a bad one is one of the log's own if its number
/// leaves room for the bad one, and if it stands where it says that it was appended: behind what the
/// disk had then are whole frames only, or the bad one, which was appended with it.
pub fn scan_log(bytes: &[u8]) -> Scan {
    frame::scan(bytes, |found| {
        let payload = LoggedPayload::read(found.payload)?;
        let before = found.last.and_then(LoggedPayload::read);
        let before_seq = before.as_ref().and_then(|before| before.seq);
        let leaves_room = payload.seq.zip(before_seq).is_none_or(|(seq, before)| seq > before + 1);
        let place = usize::try_from(payload.synced).ok()?;
        let stands_right = match place > found.bad {
            true => found.follows_from(place),
            false => place == found.bad || before.is_some_and(|it| it.synced == payload.synced),
        };
        (leaves_room && stands_right).then_some(payload.synced)
    })
}

/// Reads the payload of the last frame, and returns where the frame begins. The segment must have been
/// repaired.
pub fn last_payload(file: &File, path: &Path, length: u64) -> Result<(Vec<u8>, u64)> {
    last_frame(file, path, length)?.ok_or_else(|| damaged(path, length as usize))
}

/// Makes the entries of a folder durable.
pub fn sync_directory(path: &Path) -> Result<()> {
    File::open(path).and_then(|dir| dir.sync_all()).map_err(Error::io("sync", path))?;
    fault::synced(path, 0);
    Ok(())
}

/// The error of a segment with a bad frame before a good one.
pub fn damaged(path: &Path, start: usize) -> Error {
    Error::corrupt(
        format!("the journal `{}`", path.display()),
        format!("the record at byte {start} does not match its checksum"),
    )
}

/// Reads a segment from an offset on; returns also the number of the file, which tells it from one
/// that takes its name.
pub fn read_after(path: &Path, offset: u64) -> Result<(Vec<u8>, u64)> {
    let mut file = File::open(path).map_err(Error::io("read", path))?;
    let metadata = file.metadata().map_err(Error::io("read", path))?;
    let length = metadata.len();
    if length < offset {
        return Err(damaged(path, length as usize));
    }
    let mut bytes = Vec::with_capacity((length - offset) as usize);
    file.seek(SeekFrom::Start(offset)).map_err(Error::io("read", path))?;
    file.read_to_end(&mut bytes).map_err(Error::io("read", path))?;
    Ok((bytes, metadata.ino()))
}

/// Reads the payload of the first frame, if it is whole.
pub fn first_frame(file: &File, path: &Path) -> Result<Option<Vec<u8>>> {
    let length = file.metadata().map_err(Error::io("read", path))?.len();
    let head = read_head(file, path, length.min(HEAD_BYTES))?;
    if let Some((payload, _)) = frame::at(&head, 0) {
        return Ok(Some(payload.to_vec()));
    }
    let Some(word) = head.first_chunk::<4>() else { return Ok(None) };
    let claimed = u64::from(u32::from_le_bytes(*word)) + frame::FRAME_OVERHEAD as u64;
    if claimed <= HEAD_BYTES || claimed > length {
        return Ok(None);
    }
    let head = read_head(file, path, claimed)?;
    Ok(frame::at(&head, 0).map(|(payload, _)| payload.to_vec()))
}

fn read_head(file: &File, path: &Path, n_bytes: u64) -> Result<Vec<u8>> {
    let mut bytes = vec![0; n_bytes as usize];
    file.read_exact_at(&mut bytes, 0).map_err(Error::io("read", path))?;
    Ok(bytes)
}

/// Reads the last frame from the end of the file, if it is whole, and returns where it begins.
fn last_frame(file: &File, path: &Path, length: u64) -> Result<Option<(Vec<u8>, u64)>> {
    let tail = read_tail(file, path, length, TAIL_BYTES)?;
    let found = |tail: &[u8]| {
        let (payload, start) = frame::before(tail, tail.len())?;
        Some((payload.to_vec(), length - (tail.len() - start) as u64))
    };
    if let Some(found) = found(&tail) {
        return Ok(Some(found));
    }
    let Some(word) = tail.last_chunk::<4>() else { return Ok(None) };
    let claimed = u64::from(u32::from_le_bytes(*word)) + frame::FRAME_OVERHEAD as u64;
    if claimed <= TAIL_BYTES || claimed > length {
        return Ok(None);
    }
    Ok(found(&read_tail(file, path, length, claimed)?))
}

fn read_tail(file: &File, path: &Path, length: u64, wanted: u64) -> Result<Vec<u8>> {
    let start = length.saturating_sub(wanted);
    let mut bytes = vec![0; (length - start) as usize];
    file.read_exact_at(&mut bytes, start).map_err(Error::io("read", path))?;
    Ok(bytes)
}
