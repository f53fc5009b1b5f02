//! Streams of compressed bytes outside of git's objects.

use gix::zlib::{Compression, Inflate, Status};

use super::loose::Compressor;
use agentic_store::{Error, Result};

/// How hard it is tried, of nine: what repeats in records repeats often, and a longer look finds
/// little more. The two below use a table that does not fit what they compress.
const LEVEL: i32 = 3;

/// Compresses bytes.
///
/// # Errors
/// Fails when there is no memory.
pub fn deflate(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut stream = Vec::new();
    let level = Compression::new(LEVEL).expect("it is one of nine");
    Compressor::new(level).deflate(&[bytes], 0, &mut stream)?;
    Ok(stream)
}

/// Takes a stream apart that holds so many bytes; nothing if it holds others or more.
///
/// # Errors
/// Fails when there is no memory for them.
pub fn inflate(stream: &[u8], n_bytes: usize) -> Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let reserved = bytes.try_reserve_exact(n_bytes);
    reserved.map_err(|error| Error::corrupt("a compressed stream", error))?;
    bytes.resize(n_bytes, 0);
    let done = Inflate::default().once(stream, &mut bytes);
    let is_whole = done.is_ok_and(|(status, n_read, n_written)| {
        status == Status::StreamEnd && n_read == stream.len() && n_written == n_bytes
    });
    Ok(is_whole.then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::{deflate, inflate};

    #[test]
    fn bytes_come_out_as_they_went_in() {
        for bytes in [vec![], b"a".to_vec(), b"abc".repeat(100_000)] {
            let stream = deflate(&bytes).expect("there is memory");
            assert!(stream.len() <= bytes.len() / 100 + 64);
            assert_eq!(inflate(&stream, bytes.len()).expect("there is memory"), Some(bytes));
        }
    }

    #[test]
    fn what_is_damaged_or_of_another_length_is_nothing() {
        let bytes = b"to and fro ".repeat(100);
        let stream = deflate(&bytes).expect("there is memory");
        for n_bytes in [0, bytes.len() - 1, bytes.len() + 1] {
            assert_eq!(inflate(&stream, n_bytes).expect("there is memory"), None);
        }
        for end in 0..stream.len() {
            assert_eq!(inflate(&stream[..end], bytes.len()).expect("there is memory"), None);
        }
        for at in 0..stream.len() {
            let mut stream = stream.clone();
            stream[at] ^= 0x10;
            let inflated = inflate(&stream, bytes.len()).expect("there is memory");
            // A few bits of the head mean nothing to a reader.
            assert!(inflated.is_none_or(|inflated| inflated == bytes), "{at}");
        }
    }
}
