//! Hashes of pieces that stand one behind the other.
//!
//! A journal is thousands of short records, each of which is hashed when it is read. A hasher that
//! takes its input piece by piece is a state of almost two kilobytes, which costs more to set up than
//! such a record to hash; pieces that are short together are gathered first.

/// The most that is gathered before it is hashed, in bytes.
const GATHERED_BYTES_MAX: usize = 64 << 10;

/// Hashes pieces as if they were one.
pub(crate) fn digest(pieces: &[&[u8]]) -> [u8; 32] {
    let length: usize = pieces.iter().map(|piece| piece.len()).sum();
    if length <= GATHERED_BYTES_MAX {
        return *blake3::hash(&pieces.concat()).as_bytes();
    }
    let mut hasher = blake3::Hasher::new();
    for piece in pieces {
        hasher.update(piece);
    }
    *hasher.finalize().as_bytes()
}

/// Returns the length that stands before a piece, so that pieces cannot run into each other.
pub(crate) fn length_of(piece: &[u8]) -> [u8; 8] {
    (piece.len() as u64).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::{GATHERED_BYTES_MAX, digest};

    #[test]
    fn pieces_hash_as_one_whether_they_are_gathered_or_not() {
        let long = vec![7; GATHERED_BYTES_MAX + 1];
        for pieces in [&[][..], &[b"".as_slice()], &[b"one", b"two"], &[b"one", &long, b"two"]] {
            assert_eq!(digest(pieces), *blake3::hash(&pieces.concat()).as_bytes());
        }
    }
}
