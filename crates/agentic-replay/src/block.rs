//! Records one behind the other, without the hashes that follow from them.
//!
//! Each record names the hash of the one before, and nothing else about a record is as long or as
//! impossible to compress. A reader has to hash every record anyway, so these hashes need not be
//! kept: each piece says where its hash was left out, and it is put back from the piece before. The
//! bytes that come out are the ones that went in.

use crate::RecordHash;

/// How many bytes a hash has.
const HASH_BYTES: usize = 32;
/// How many bytes stand before a piece: its length, and where its hash was left out.
const HEAD_BYTES: usize = 8;
/// What stands for the place of a hash where none was left out.
const NOWHERE: u32 = u32::MAX;

/// The bytes of a record, with their hash. To hash them takes longer than to put them behind others,
/// and whoever has read or made a record knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HashedRecord {
    bytes: Vec<u8>,
    hash: RecordHash,
}

impl HashedRecord {
    /// Hashes the bytes of a record.
    pub fn new(bytes: Vec<u8>) -> HashedRecord {
        HashedRecord { hash: RecordHash::of_record(&bytes), bytes }
    }

    /// Takes the bytes of a record that a journal has read, with the hash that it found.
    pub(crate) fn of_journal(bytes: Vec<u8>, hash: RecordHash) -> HashedRecord {
        HashedRecord { bytes, hash }
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns their hash.
    pub fn hash(&self) -> RecordHash {
        self.hash
    }
}

/// Puts the bytes of records behind each other, in order.
///
/// # Panics
/// Panics when a record has four gigabytes; no journal takes one in.
pub fn join_records(records: &[HashedRecord]) -> Vec<u8> {
    let mut joined = Vec::new();
    let mut before: Option<RecordHash> = None;
    let mut guess = 0;
    for record in records {
        let frame = record.bytes();
        let place = before.and_then(|hash| place_of(frame, hash.as_bytes(), guess));
        let (head, tail) = match place {
            Some(at) => (&frame[..at], &frame[at + HASH_BYTES..]),
            None => (frame, &[][..]),
        };
        guess = place.unwrap_or(guess);
        let number = |n: usize| u32::try_from(n).expect("records are far shorter").to_le_bytes();
        joined.extend_from_slice(&number(head.len() + tail.len()));
        joined.extend_from_slice(&place.map_or(NOWHERE.to_le_bytes(), number));
        joined.extend_from_slice(head);
        joined.extend_from_slice(tail);
        before = Some(record.hash());
    }
    joined
}

/// Takes records apart that were put behind each other; nothing if that is not what the bytes are.
pub fn part_records(mut joined: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut frames: Vec<Vec<u8>> = Vec::new();
    while !joined.is_empty() {
        let (head, rest) = joined.split_at_checked(HEAD_BYTES)?;
        let number = |at: usize| Some(u32::from_le_bytes(head[at..at + 4].try_into().ok()?));
        let (length, place) = (usize::try_from(number(0)?).ok()?, number(4)?);
        let (piece, rest) = rest.split_at_checked(length)?;
        frames.push(match place {
            NOWHERE => piece.to_vec(),
            place => {
                let (begin, end) = piece.split_at_checked(usize::try_from(place).ok()?)?;
                let before = RecordHash::of_record(frames.last()?);
                [begin, before.as_bytes(), end].concat()
            }
        });
        joined = rest;
    }
    Some(frames)
}

/// Finds a hash in a record, most likely where the one before had it.
fn place_of(frame: &[u8], hash: &[u8; HASH_BYTES], guess: usize) -> Option<usize> {
    if frame.get(guess..guess + HASH_BYTES) == Some(hash) {
        return Some(guess);
    }
    frame.windows(HASH_BYTES).position(|window| window == hash)
}

#[cfg(test)]
mod tests {
    use agentic_model::Instant;
    use proptest::prelude::*;

    use super::*;
    use crate::record::{CancelMode, CancelRecord};
    use crate::{Body, Chain};

    fn join(frames: &[Vec<u8>]) -> Vec<u8> {
        let records: Vec<_> = frames.iter().cloned().map(HashedRecord::new).collect();
        join_records(&records)
    }

    fn chain(n_records: usize) -> Vec<Vec<u8>> {
        let mut chain = Chain::empty();
        let link = |n| {
            let cancel = CancelRecord {
                who: "ada".repeat(n % 7),
                why: "x".to_owned(),
                mode: CancelMode::Kill,
            };
            chain.append(Instant::from_millis(n as i64), Body::Cancel(cancel)).bytes
        };
        (0..n_records).map(link).collect()
    }

    #[test]
    fn records_come_out_as_they_went_in_and_take_no_hashes() {
        let frames = chain(50);
        let joined = join(&frames);
        assert_eq!(part_records(&joined), Some(frames.clone()));
        let n_bytes: usize = frames.iter().map(Vec::len).sum();
        assert_eq!(joined.len(), n_bytes + 50 * HEAD_BYTES - 49 * HASH_BYTES);
        // Records from the middle of a chain keep the hash that follows from none of them.
        assert_eq!(part_records(&join(&frames[7..])), Some(frames[7..].to_vec()));
    }

    #[test]
    fn every_cut_is_noticed_or_ends_between_records() {
        let frames = chain(3);
        let joined = join(&frames);
        for end in 0..joined.len() {
            if let Some(parted) = part_records(&joined[..end]) {
                assert_eq!(parted, frames[..parted.len()]);
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_kept(frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 0..12)) {
            prop_assert_eq!(part_records(&join(&frames)), Some(frames));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = part_records(&bytes);
        }
    }
}
