//! Streams of compressed bytes outside of git's objects.

use gix::zlib::{Compression, Inflate, Status};

use super::loose::Compressor;
use agentic_store::{Error, Result};

/// How hard it is tried, of nine: what repeats in records repeats often, and a longer look finds
/// little more. The two below use a table that does not fit what they compress.
const LEVEL: i32 = 3;
/// How much room there is at least for what a stream holds, in bytes.
const PART_BYTES: usize = 64 << 10;

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

/// Takes a stream apart whose length nobody knows, as far as it goes; nothing if the bytes are none, or
/// hold more than `bytes_max`. What follows the stream is left alone.
pub fn inflate_any(stream: &[u8], bytes_max: usize) -> Option<Vec<u8>> {
    let mut room = (stream.len() * 4).clamp(PART_BYTES, bytes_max);
    loop {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(room).ok()?;
        bytes.resize(room, 0);
        let (status, _, n_written) = Inflate::default().once(stream, &mut bytes).ok()?;
        if status == Status::StreamEnd {
            bytes.truncate(n_written);
            return Some(bytes);
        }
        if n_written < room || room == bytes_max {
            return None;
        }
        room = (room * 2).min(bytes_max);
    }
}

#[cfg(test)]
mod tests {
    use super::{deflate, inflate, inflate_any};

    #[test]
    fn bytes_come_out_as_they_went_in() {
        for bytes in [vec![], b"a".to_vec(), b"abc".repeat(100_000)] {
            let stream = deflate(&bytes).expect("there is memory");
            assert!(stream.len() <= bytes.len() / 100 + 64);
            assert_eq!(inflate_any(&stream, 1 << 20).as_ref(), Some(&bytes));
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
