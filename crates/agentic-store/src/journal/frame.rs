//! Frames: how one record stands in a segment file.
//!
//! `length · crc32c · payload · length`, lengths and checksum as little-endian 32-bit numbers. The
//! second length makes the last frame findable from the end of the file. No payload is empty: zeros,
//! which a power cut leaves where bytes never arrived, are no frame. A frame that is cut short or
//! does not match its checksum is torn if nothing after it shows that it was once whole on the disk,
//! and damage otherwise.

/// The bytes of a frame beside its payload.
pub const FRAME_OVERHEAD: usize = 12;
/// The longest payload, in bytes: 64 MiB. A length above it is damage, whatever follows.
pub const PAYLOAD_BYTES_MAX: usize = 64 << 20;
/// So many zeros in a row never reached the disk.
const ABSENT_BYTES: usize = 16;

/// Wraps a payload.
pub fn encode(payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("BUG: payloads are bounded by 64 MiB");
    let mut frame = Vec::with_capacity(payload.len() + FRAME_OVERHEAD);
    frame.extend_from_slice(&length.to_le_bytes());
    frame.extend_from_slice(&crc32c::crc32c(payload).to_le_bytes());
    frame.extend_from_slice(payload);
    frame.extend_from_slice(&length.to_le_bytes());
    frame
}

/// Reads the frame that begins at `at`: its payload and where the next one begins.
pub fn at(bytes: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let length = number(bytes, at)?;
    if length == 0 || length > PAYLOAD_BYTES_MAX {
        return None;
    }
    let payload = bytes.get(at + 8..at + 8 + length)?;
    let intact = number(bytes, at + 4)? == crc32c::crc32c(payload) as usize
        && number(bytes, at + 8 + length)? == length;
    intact.then_some((payload, at + length + FRAME_OVERHEAD))
}

/// Reads the frame that ends at `end`: its payload and where it begins.
pub fn before(bytes: &[u8], end: usize) -> Option<(&[u8], usize)> {
    let length = number(bytes, end.checked_sub(4)?)?;
    let start = end.checked_sub(length.checked_add(FRAME_OVERHEAD)?)?;
    let (payload, next) = at(bytes, start)?;
    (next == end).then_some((payload, start))
}

/// Finds where a bad frame ends that begins at `at`, if both its lengths say so.
pub fn past_bad(bytes: &[u8], at: usize) -> Option<usize> {
    let length = number(bytes, at).filter(|length| (1..=PAYLOAD_BYTES_MAX).contains(length))?;
    let end = at + length + FRAME_OVERHEAD;
    (number(bytes, end - 4)? == length).then_some(end)
}

/// What a scan of a whole segment found.
#[derive(Debug, PartialEq, Eq)]
pub enum Scan {
    /// Every byte belongs to a good frame.
    Whole,
    /// Good frames up to here, then the beginning of one that was never finished.
    Torn {
        /// Where the good frames end.
        end: usize,
    },
    /// A bad frame, and after it a good one that was written when the disk had the bad one whole.
    Damaged {
        /// Where the bad frame begins.
        start: usize,
    },
}

/// A good frame somewhere behind a bad one. Whatever a record holds may be frames as well, copied from
/// some journal: whether it is one of the segment's own is for whoever knows its records to say.
pub struct FoundFrame<'b> {
    /// The segment.
    pub bytes: &'b [u8],
    /// Where the bad frame begins.
    pub bad: usize,
    /// The payload of the last good frame before the bad one.
    pub last: Option<&'b [u8]>,
    /// Where the good frame begins.
    pub start: usize,
    /// Its payload.
    pub payload: &'b [u8],
}

impl FoundFrame<'_> {
    /// Tells whether only whole frames stand between a place and this frame.
    pub fn follows_from(&self, place: usize) -> bool {
        let mut at_place = place;
        while at_place < self.start {
            let Some((_, next)) = at(self.bytes, at_place) else { return false };
            at_place = next;
        }
        at_place == self.start
    }
}

/// Looks at every frame of a segment. Writes that were not synced yet may reach the disk in any
/// order, so a good frame after a bad one is no proof of damage by itself. It is one where all of
/// what is bad has reached the disk, and where the good frame says that the disk had the bad one:
/// `synced` reads from it how many bytes of the segment that were when it was written; nothing where
/// it is none of the segment's own.
pub fn scan(bytes: &[u8], synced: impl Fn(&FoundFrame<'_>) -> Option<u64>) -> Scan {
    let (mut start, mut last) = (0, None);
    while start < bytes.len() {
        match at(bytes, start) {
            Some((payload, next)) => (start, last) = (next, Some(payload)),
            None if was_whole(bytes, start, last, &synced) => return Scan::Damaged { start },
            None => return Scan::Torn { end: start },
        }
    }
    Scan::Whole
}

/// Tells whether a good frame after the bad one at `bad` shows that the disk once had the bad one.
/// Lengths that do not fit rule out almost every offset without computing a checksum.
fn was_whole(
    bytes: &[u8],
    bad: usize,
    last: Option<&[u8]>,
    synced: impl Fn(&FoundFrame<'_>) -> Option<u64>,
) -> bool {
    (bad + 1..bytes.len())
        .filter_map(|start| {
            let payload = at(bytes, start)?.0;
            Some((start, synced(&FoundFrame { bytes, bad, last, start, payload })?))
        })
        .any(|(start, length)| length > bad as u64 || has_arrived(&bytes[bad..start]))
}

/// Tells whether everything has reached the disk that stands between two places. What a file grew by is
/// zeros until then, and records hardly have so many in a row.
fn has_arrived(bytes: &[u8]) -> bool {
    !bytes.windows(ABSENT_BYTES).any(|window| window.iter().all(|byte| *byte == 0))
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let word = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(word.try_into().ok()?) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the test payloads as written when the disk had everything before them.
    fn all(_: &FoundFrame<'_>) -> Option<u64> {
        Some(u64::MAX)
    }

    /// Reads the test payloads as written together, with one sync at the end that never came.
    fn none(_: &FoundFrame<'_>) -> Option<u64> {
        Some(0)
    }

    fn three() -> Vec<u8> {
        [encode(b"one"), encode(b"two two"), encode(b"three")].concat()
    }

    #[test]
    fn frames_read_from_both_ends() {
        let bytes = three();
        let (payload, next) = at(&bytes, 0).expect("the first frame is whole");
        assert_eq!((payload, next), (&b"one"[..], 15));
        let (payload, start) = before(&bytes, bytes.len()).expect("the last frame is whole");
        assert_eq!(payload, b"three");
        assert_eq!(before(&bytes, start).map(|(payload, _)| payload), Some(&b"two two"[..]));
    }

    #[test]
    fn every_cut_of_the_last_frame_is_torn_and_keeps_the_others() {
        let bytes = three();
        let last = bytes.len() - encode(b"three").len();
        assert_eq!(scan(&bytes, all), Scan::Whole);
        for end in last + 1..bytes.len() {
            assert_eq!(scan(&bytes[..end], all), Scan::Torn { end: last }, "cut at {end}");
        }
    }

    #[test]
    fn a_flipped_byte_before_a_good_frame_is_damage() {
        let whole = three();
        for at in 0..15 {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x40;
            assert_eq!(scan(&bytes, all), Scan::Damaged { start: 0 }, "flipped at {at}");
        }
    }

    #[test]
    fn a_frame_that_never_reached_the_disk_is_torn_whatever_follows() {
        let mut bytes = three();
        bytes[15..34].fill(0);
        assert_eq!(scan(&bytes, none), Scan::Torn { end: 15 });
        let long = [encode(b"one"), encode(&[b'x'; 2000]), encode(b"three")].concat();
        for sector in [512..1024, 1024..1536, 1536..2027] {
            let mut bytes = long.clone();
            bytes[sector].fill(0);
            assert_eq!(scan(&bytes, none), Scan::Torn { end: 15 });
            assert_eq!(scan(&bytes, all), Scan::Damaged { start: 15 });
        }
    }

    #[test]
    fn a_bad_frame_that_is_all_there_is_damage_whatever_is_known_of_syncs() {
        for at in 15..34 {
            let mut bytes = three();
            bytes[at] ^= 0x40;
            assert_eq!(scan(&bytes, none), Scan::Damaged { start: 15 }, "flipped at {at}");
        }
    }

    #[test]
    fn zeros_are_no_frame() {
        let whole = three();
        for n_zeros in 1..64 {
            let bytes = [whole.clone(), vec![0; n_zeros]].concat();
            assert_eq!(before(&bytes, bytes.len()), None, "{n_zeros} zeros");
            assert_eq!(scan(&bytes, all), Scan::Torn { end: whole.len() }, "{n_zeros} zeros");
        }
    }

    #[test]
    fn no_bytes_make_the_scan_panic() {
        for byte in [0x00, 0x01, 0x7f, 0xff] {
            for length in 0..64 {
                scan(&vec![byte; length], all);
            }
        }
    }
}
