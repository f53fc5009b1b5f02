//! New lines of a transcript: from a place in its plain text to the last whole line, bounded.
//!
//! A vendor appends while this reads. A line without its break is not whole yet, and is not taken.
//! A line that is longer than [`LINE_BYTES_MAX`] is never held: it is stepped over, in several goes
//! if need be, and told with its length.

mod file;

use std::io::{BufRead, BufReader, Read};

pub use self::file::PlacedFile;

/// The longest line that is read, in bytes: 32 MiB.
pub const LINE_BYTES_MAX: usize = 32 << 20;
/// How much is read at a time, in bytes.
const READ_BYTES: usize = 64 << 10;
/// What a file begins with that Zstandard has compressed (RFC 8878).
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// A line, or what is known of one.
#[derive(Debug, PartialEq, Eq)]
pub enum TranscriptLine<'l> {
    /// A whole line with its break.
    Whole {
        /// Where it begins.
        offset: u64,
        /// The line.
        bytes: &'l [u8],
    },
    /// A line that is too long to be read.
    TooLong {
        /// Where it begins.
        offset: u64,
        /// How long it is, without its break.
        length: u64,
    },
}

/// Where reading stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TranscriptPlace {
    /// How many bytes of the plain text are done with.
    pub offset: u64,
    /// Where the line began that is too long and has not ended yet.
    pub too_long_from: Option<u64>,
}

/// Reads lines.
pub struct TranscriptReader<R> {
    input: BufReader<R>,
    place: TranscriptPlace,
    line: Vec<u8>,
}

impl<R: Read> TranscriptReader<R> {
    /// Begins at a place at which the input stands already.
    pub fn new(input: R, place: TranscriptPlace) -> TranscriptReader<R> {
        let input = BufReader::with_capacity(READ_BYTES, input);
        TranscriptReader { input, place, line: Vec::new() }
    }

    /// Where reading stands: before the line that comes next.
    pub fn place(&self) -> TranscriptPlace {
        self.place
    }

    /// Reads the next whole line; nothing at the end, and before a line that is not whole.
    ///
    /// # Errors
    /// Fails when the input cannot be read or is not compressed as it says.
    pub fn next_line(&mut self) -> std::io::Result<Option<TranscriptLine<'_>>> {
        self.line.clear();
        // A long line that is done with gives its room back.
        self.line.shrink_to(READ_BYTES);
        if self.place.too_long_from.is_none() {
            let limit = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX) + 1;
            self.input.by_ref().take(limit).read_until(b'\n', &mut self.line)?;
            if self.line.last() == Some(&b'\n') {
                let offset = self.place.offset;
                self.place.offset += length_of(&self.line);
                return Ok(Some(TranscriptLine::Whole { offset, bytes: &self.line }));
            }
            if self.line.len() <= LINE_BYTES_MAX {
                return Ok(None);
            }
            self.place.too_long_from = Some(self.place.offset);
            self.place.offset += length_of(&self.line);
            self.line = Vec::new();
        }
        self.step_over()
    }

    /// Steps to the end of a line that is too long.
    fn step_over(&mut self) -> std::io::Result<Option<TranscriptLine<'_>>> {
        loop {
            let seen = self.input.fill_buf()?;
            if seen.is_empty() {
                return Ok(None);
            }
            let end = seen.iter().position(|byte| *byte == b'\n');
            let count = end.map_or(seen.len(), |at| at + 1);
            self.input.consume(count);
            self.place.offset += u64::try_from(count).unwrap_or(0);
            if end.is_some() {
                let offset = self.place.too_long_from.take().unwrap_or(self.place.offset);
                let length = self.place.offset - offset - 1;
                return Ok(Some(TranscriptLine::TooLong { offset, length }));
            }
        }
    }
}

/// The plain text of a file, compressed or not.
pub enum PlainText<R: Read> {
    /// As it is in the file.
    Plain(R),
    /// Unpacked while it is read.
    Unpacked(Box<ruzstd::decoding::StreamingDecoder<R, ruzstd::decoding::FrameDecoder>>),
}

impl<R: Read> PlainText<R> {
    /// Unpacks what is compressed.
    ///
    /// # Errors
    /// Fails when the head of the file is damaged.
    pub fn unpacked(input: R) -> std::io::Result<PlainText<R>> {
        let decoder = ruzstd::decoding::StreamingDecoder::new(input);
        Ok(PlainText::Unpacked(Box::new(decoder.map_err(std::io::Error::other)?)))
    }
}

impl<R: Read> Read for PlainText<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        match self {
            PlainText::Plain(input) => input.read(into),
            PlainText::Unpacked(decoder) => decoder.read(into),
        }
    }
}

/// Tells by its first bytes whether a file is compressed.
pub fn is_compressed(first: &[u8]) -> bool {
    first.starts_with(&ZSTD_MAGIC)
}

fn length_of(line: &[u8]) -> u64 {
    u64::try_from(line.len()).unwrap_or(0)
}

#[cfg(test)]
mod tests;
