//! Reading journals without a lock.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use agentic_model::{Entry, Oid};

use super::backwards::Backwards;
use super::frame::{self, Scan};
use super::segment;
use super::{GitObject, Journal, JournalBody, JournalRecord, JournalRecordHash, Transaction};
use crate::layout::{Layout, Stream};
use crate::{Error, Result};

/// How often a reader starts again because a segment vanished under it.
const RETRIES_MAX: usize = 8;

/// A segment of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Its number.
    pub number: u64,
    /// Its length in bytes.
    pub length: u64,
}

/// Reads all records of a stream, oldest first, and checks that they are chained. A torn last
/// record is left out: it was never acknowledged. Records that were dropped and that a power cut
/// brought back do not count.
///
/// # Errors
/// Fails when a record is damaged or missing, or the chain is broken.
pub fn records(layout: &Layout, stream: &Stream) -> Result<Vec<JournalRecord>> {
    retry(|| {
        let dir = layout.journal(stream);
        let mut records = Vec::new();
        for number in segment::list(&dir)? {
            records.extend(chained(&segment::path(&dir, number))?);
        }
        let first = records.iter().filter_map(|link| link.record.first()).max().unwrap_or(0);
        records.retain(|link| link.record.seq >= first);
        check_chain(stream, first, &records)?;
        Ok(records.into_iter().map(|link| link.record).collect())
    })
}

/// Gives the records of a stream one by one, oldest first, without holding more than a segment of them.
/// The caller holds the lock of the stream: nobody cuts its log meanwhile.
///
/// # Errors
/// Fails as [`records`] does; some records were given then.
pub fn each_record(
    layout: &Layout,
    stream: &Stream,
    take: &mut dyn FnMut(&JournalRecord),
) -> Result<()> {
    let dir = layout.journal(stream);
    let numbers = segment::list(&dir)?;
    let mut first = 0;
    for number in &numbers {
        let links = chained(&segment::path(&dir, *number))?;
        first = links.iter().filter_map(|link| link.record.first()).fold(first, u64::max);
    }
    let mut before: Option<JournalLink> = None;
    for number in numbers {
        for link in chained(&segment::path(&dir, number))? {
            if link.record.seq < first {
                continue;
            }
            let pair: Vec<JournalLink> = before.take().into_iter().chain([link]).collect();
            let oldest = if pair.len() == 1 { first } else { pair[0].record.seq };
            check_chain(stream, oldest, &pair)?;
            before = pair.into_iter().next_back();
            before.iter().for_each(|link| take(&link.record));
        }
    }
    Ok(())
}

/// Lists the segments of a stream, oldest first.
///
/// # Errors
/// Fails when they cannot be read.
pub fn segments(layout: &Layout, stream: &Stream) -> Result<Vec<Segment>> {
    retry(|| {
        let mut segments: Vec<Segment> = newest_segments(layout, stream)?.collect::<Result<_>>()?;
        segments.reverse();
        Ok(segments)
    })
}

/// Looks at the segments of a stream, newest first, each when it is asked for.
///
/// # Errors
/// Fails when they cannot be listed; each when it cannot be looked at.
pub fn newest_segments(
    layout: &Layout,
    stream: &Stream,
) -> Result<impl Iterator<Item = Result<Segment>>> {
    let dir = layout.journal(stream);
    let numbers = segment::list(&dir)?;
    Ok(numbers.into_iter().rev().map(move |number| {
        let path = segment::path(&dir, number);
        let length = path.metadata().map_err(Error::io("read", &path))?.len();
        Ok(Segment { number, length })
    }))
}

/// Reads the records of one segment, oldest first.
///
/// # Errors
/// Fails when the segment is gone, or one of its records is damaged.
pub fn records_of(layout: &Layout, stream: &Stream, number: u64) -> Result<Vec<JournalRecord>> {
    let links = chained(&segment::path(&layout.journal(stream), number))?;
    Ok(links.into_iter().map(|link| link.record).collect())
}

/// A record with its hash, which the next one names.
struct JournalLink {
    record: JournalRecord,
    hash: JournalRecordHash,
}

fn chained(path: &Path) -> Result<Vec<JournalLink>> {
    let bytes = read(path)?;
    good_payloads(path, &bytes)?.into_iter().map(link).collect()
}

fn link(payload: &[u8]) -> Result<JournalLink> {
    let hash = *blake3::hash(payload).as_bytes();
    Ok(JournalLink { record: JournalRecord::decode(payload)?, hash })
}

/// Checks that the records are all there from `first` on, each naming the one before.
fn check_chain(stream: &Stream, first: u64, links: &[JournalLink]) -> Result<()> {
    let broken =
        |reason| Err(Error::corrupt(format!("the journal of {}", stream.subject()), reason));
    if let Some(oldest) = links.first()
        && oldest.record.seq != first
    {
        return broken(format!("record {first} is missing"));
    }
    for pair in links.windows(2) {
        if pair[1].record.prev != pair[0].hash {
            return broken(format!("record {} does not follow the one before", pair[1].record.seq));
        }
    }
    Ok(())
}

/// Reads the last record of a stream, if it has a journal.
///
/// # Errors
/// Fails when the journal is damaged.
pub fn tail(layout: &Layout, stream: &Stream) -> Result<Option<JournalRecord>> {
    Ok(last(layout, stream)?.map(|link| link.record))
}

/// Reads the last record with its hash.
///
/// # Errors
/// Fails when the journal is damaged.
pub fn tail_with_hash(
    layout: &Layout,
    stream: &Stream,
) -> Result<Option<(JournalRecord, JournalRecordHash)>> {
    Ok(last(layout, stream)?.map(|link| (link.record, link.hash)))
}

fn last(layout: &Layout, stream: &Stream) -> Result<Option<JournalLink>> {
    retry(|| {
        let dir = layout.journal(stream);
        for number in segment::list(&dir)?.into_iter().rev() {
            let mut frames = Backwards::open(&segment::path(&dir, number))?;
            if let Some(payload) = frames.next()? {
                return link(&payload).map(Some);
            }
        }
        Ok(None)
    })
}

/// Returns the transaction at the end of a stream's journal, if it was never finished.
///
/// # Errors
/// Fails when the journal is damaged.
pub fn unfinished(layout: &Layout, stream: &Stream) -> Result<Option<Transaction>> {
    Ok(tail(layout, stream)?.and_then(|record| match record.body {
        JournalBody::Transaction(transaction) => Some(*transaction),
        JournalBody::Open
        | JournalBody::Entry(_)
        | JournalBody::Done { .. }
        | JournalBody::Abort { .. }
        | JournalBody::Cut { .. } => None,
    }))
}

/// Reads the trace entries that are bound to no commit yet, oldest first. The journal is read
/// backwards, and no further than the oldest of them.
///
/// # Errors
/// Fails when the journal is damaged.
pub fn pending_entries(layout: &Layout, stream: &Stream) -> Result<Vec<Entry>> {
    pending_in(&layout.journal(stream))
}

/// Does the same in a folder of segments.
///
/// # Errors
/// Fails when the journal is damaged.
pub fn pending_in(dir: &Path) -> Result<Vec<Entry>> {
    retry(|| {
        let mut entries = Vec::new();
        let mut standing: Option<super::StreamStanding> = None;
        'segments: for number in segment::list(dir)?.into_iter().rev() {
            let mut frames = Backwards::open(&segment::path(dir, number))?;
            while let Some(payload) = frames.next()? {
                let record = JournalRecord::decode(&payload)?;
                let standing = standing.get_or_insert_with(|| record.standing.clone());
                let all_found = entries.len() as u64 == standing.n_pending;
                if all_found || record.seq < standing.taken_before {
                    break 'segments;
                }
                if let JournalBody::Entry(entry) = record.body {
                    entries.push(entry);
                }
            }
        }
        let n_pending = standing.map_or(0, |standing| standing.n_pending);
        if entries.len() as u64 != n_pending {
            let reason = format!("{} of {n_pending} pending entries are there", entries.len());
            return Err(Error::corrupt(format!("the journal `{}`", dir.display()), reason));
        }
        entries.reverse();
        Ok(entries)
    })
}

/// Finds which of some commits are decisions by the record of a stream, with the objects that the
/// record holds of each; nothing where only the fact was kept. The journal is read backwards, and no
/// further than the oldest of them.
///
/// # Errors
/// Fails when the journal is damaged.
pub fn decided(
    layout: &Layout,
    stream: &Stream,
    wanted: &BTreeSet<Oid>,
) -> Result<BTreeMap<Oid, Option<Vec<GitObject>>>> {
    retry(|| {
        let dir = layout.journal(stream);
        let (mut found, mut first) = (BTreeMap::new(), 0);
        'segments: for number in segment::list(&dir)?.into_iter().rev() {
            let mut frames = Backwards::open(&segment::path(&dir, number))?;
            while found.len() < wanted.len()
                && let Some(payload) = frames.next()?
            {
                let record = JournalRecord::decode(&payload)?;
                if record.seq < first {
                    break 'segments;
                }
                first = first.max(record.first().unwrap_or(0));
                let is_wanted = |(oid, _): &(Oid, _)| wanted.contains(oid);
                found.extend(record.into_decisions().into_iter().filter(is_wanted));
            }
        }
        Ok(found)
    })
}

impl Journal {
    /// Reads the trace entries that are bound to no commit yet, oldest first, from the segment that
    /// is open. Nothing if some of them stand in an older one.
    ///
    /// # Errors
    /// Fails when the journal is damaged.
    pub fn pending_here(&self) -> Result<Option<Vec<Entry>>> {
        let mut entries = Vec::new();
        let mut frames = Backwards::of(Arc::clone(&self.file), &self.path, self.length)?;
        while (entries.len() as u64) < self.last.standing.n_pending {
            let Some(payload) = frames.next()? else { return Ok(None) };
            if let JournalBody::Entry(entry) = JournalRecord::decode(&payload)?.body {
                entries.push(entry);
            }
        }
        entries.reverse();
        Ok(Some(entries))
    }
}

fn good_payloads<'a>(path: &Path, bytes: &'a [u8]) -> Result<Vec<&'a [u8]>> {
    let end = good_end(path, bytes)?;
    let (mut at, mut payloads) = (0, Vec::new());
    while at < end {
        let Some((payload, next)) = frame::at(bytes, at) else {
            return Err(segment::damaged(path, at));
        };
        payloads.push(payload);
        at = next;
    }
    Ok(payloads)
}

/// Finds where the good frames of a segment end.
fn good_end(path: &Path, bytes: &[u8]) -> Result<usize> {
    if bytes.is_empty() || frame::before(bytes, bytes.len()).is_some() {
        return Ok(bytes.len());
    }
    match segment::scan(bytes) {
        Scan::Whole => Ok(bytes.len()),
        Scan::Torn { end } => Ok(end),
        Scan::Damaged { start } => Err(segment::damaged(path, start)),
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(Error::io("read", path))
}

/// Reads again when a segment vanished meanwhile, because its writer cut the log.
fn retry<T>(mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
    let vanished = |error: &Error| matches!(error, Error::File(file) if file.is_missing());
    for _ in 1..RETRIES_MAX {
        match attempt() {
            Err(error) if vanished(&error) => {}
            outcome => return outcome,
        }
    }
    attempt()
}
