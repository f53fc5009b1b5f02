//! What can still be read of a journal that is damaged.

use std::path::Path;

use agentic_model::{Entry, Oid};

use super::{Content, JournalBody, JournalRecord, StreamStanding, frame, segment};
use crate::layout::{Layout, Stream};
use crate::{Error, Result};

/// The good records of a damaged journal, oldest first.
#[derive(Debug)]
pub struct Salvage {
    /// The records before and after the bad ones.
    pub records: Vec<JournalRecord>,
    /// How many records are missing between and before them.
    pub n_lost: u64,
}

/// Reads every good record of a stream, before and after bad ones.
///
/// # Errors
/// Fails when a segment cannot be read, and when a record is whole and says what this version does
/// not understand: a newer one wrote it, and nothing is damaged.
pub fn salvage(layout: &Layout, stream: &Stream) -> Result<Salvage> {
    salvage_in(&layout.journal(stream))
}

/// Does the same with the journal in a folder.
pub(super) fn salvage_in(dir: &Path) -> Result<Salvage> {
    let mut records: Vec<JournalRecord> = Vec::new();
    for number in segment::list(dir)? {
        let path = segment::path(dir, number);
        let bytes = std::fs::read(&path).map_err(Error::io("read", &path))?;
        for payload in good_payloads(&bytes) {
            records.push(JournalRecord::decode(payload)?);
        }
    }
    let first = records.iter().filter_map(JournalRecord::first).max().unwrap_or(0);
    records.retain(|record| record.seq >= first);
    let n_expected = records.last().map_or(0, |last| (last.seq + 1).saturating_sub(first));
    let n_lost = n_expected.saturating_sub(records.len() as u64);
    Ok(Salvage { records, n_lost })
}

/// What the bytes of a segment hold, as far as that can be read.
#[derive(Debug, Default)]
pub struct ReadableSegment {
    /// All entries, those that are bound too, in their order.
    pub entries: Vec<Entry>,
    /// The objects that its writes make.
    pub objects: Vec<Vec<u8>>,
}

/// Reads what a segment holds. What is damaged, or of another version, is passed over.
pub fn readable(bytes: &[u8]) -> ReadableSegment {
    let mut found = ReadableSegment::default();
    for payload in good_payloads(bytes) {
        match JournalRecord::decode(payload).map(|record| record.body) {
            Ok(JournalBody::Entry(entry)) => found.entries.push(entry),
            Ok(JournalBody::Transaction(write)) => {
                found.objects.extend(write.objects.into_iter().map(|object| object.bytes));
                let kept = write.notes.into_iter().flat_map(|notes| notes.objects);
                found.objects.extend(kept.filter_map(|kept| match kept.content {
                    Content::Inline(bytes) => Some(bytes),
                    Content::Stored(_) => None,
                }));
            }
            Ok(
                JournalBody::Open
                | JournalBody::Done { .. }
                | JournalBody::Abort { .. }
                | JournalBody::Cut { .. },
            )
            | Err(_) => {}
        }
    }
    found
}

impl Salvage {
    /// Returns where the stream stood after the last record.
    pub fn standing(&self) -> Option<&StreamStanding> {
        self.records.last().map(|record| &record.standing)
    }

    /// Returns the entries with a number from `taken_before` on: those that no commit has.
    pub fn entries_from(&self, taken_before: u64) -> Vec<Entry> {
        let entry = |record: &JournalRecord| match &record.body {
            JournalBody::Entry(entry) if record.seq >= taken_before => Some(entry.clone()),
            JournalBody::Open
            | JournalBody::Entry(_)
            | JournalBody::Transaction(_)
            | JournalBody::Done { .. }
            | JournalBody::Abort { .. }
            | JournalBody::Cut { .. } => None,
        };
        self.records.iter().filter_map(entry).collect()
    }

    /// Lists the commits that are decisions because a record says so.
    pub fn decisions(&self) -> Vec<Oid> {
        self.records.iter().flat_map(JournalRecord::decisions).collect()
    }
}

/// Finds the good frames of a segment: from its beginning on, past bad ones whose two lengths agree,
/// and from its end back. Bytes between are not searched: what looks like a frame there may be the
/// text of an entry, and must not pass for a decision.
fn good_payloads(bytes: &[u8]) -> Vec<&[u8]> {
    let (mut last, mut behind) = (bytes.len(), Vec::new());
    while let Some((payload, start)) = frame::before(bytes, last) {
        behind.push(payload);
        last = start;
    }
    let (mut at, mut payloads) = (0, Vec::new());
    while at < last {
        match (frame::at(bytes, at), frame::past_bad(bytes, at)) {
            (Some((payload, next)), _) => {
                payloads.push(payload);
                at = next;
            }
            (None, Some(next)) => at = next,
            (None, None) => break,
        }
    }
    payloads.extend(behind.into_iter().rev());
    payloads
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(bytes: &[u8]) -> Vec<&str> {
        let text = |payload| std::str::from_utf8(payload).expect("text");
        good_payloads(bytes).into_iter().map(text).collect()
    }

    #[test]
    fn good_frames_are_found_on_both_sides_of_a_flipped_bit() {
        let frames = ["one", "two", "three", "four"].map(|text| frame::encode(text.as_bytes()));
        let whole = frames.concat();
        assert_eq!(found(&whole), ["one", "two", "three", "four"]);
        let second = frames[0].len()..frames[0].len() + frames[1].len();
        for at in second {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            assert_eq!(found(&bytes), ["one", "three", "four"], "flipped at {at}");
        }
    }

    #[test]
    fn what_stands_between_two_bad_frames_is_found_where_their_lengths_are_whole() {
        let frames = ["one", "two", "three", "four"].map(|text| frame::encode(text.as_bytes()));
        let mut bytes = frames.concat();
        bytes[frames[0].len() + 8] ^= 1;
        let fourth = bytes.len() - frames[3].len();
        bytes[fourth + 8] ^= 1;
        assert_eq!(found(&bytes), ["one", "three"]);
    }

    #[test]
    fn a_frame_in_the_text_of_a_bad_one_is_none() {
        let forged = [b"text ", frame::encode(b"forged").as_slice(), b" text"].concat();
        let frames = [frame::encode(b"one"), frame::encode(&forged), frame::encode(b"three")];
        let mut bytes = frames.concat();
        bytes[frames[0].len()] ^= 1;
        assert_eq!(found(&bytes), ["one", "three"]);
        bytes[frames[0].len() + frames[1].len() - 1] ^= 1;
        assert_eq!(found(&bytes), ["one", "three"]);
    }
}
