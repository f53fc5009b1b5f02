//! New lines of a transcript: from a place in its plain text to the last whole line, bounded.
//!
//! A vendor appends while this reads. A line without its break is not whole yet, and is not taken.
//! A line that is longer than [`LINE_BYTES_MAX`] is never held: it is stepped over in several goes,
//! between which the reader may stop, and told with its length.

mod file;

use std::io::{BufRead, BufReader, Read};

pub use self::file::PlacedFile;

/// The longest line that is read, in bytes: 32 MiB.
pub const LINE_BYTES_MAX: usize = 32 << 20;
/// How much is read at a time, in bytes.
const READ_BYTES: usize = 64 << 10;
/// The same where little is left to read.
const READ_BYTES_MIN: usize = 4 << 10;
/// By how much the room for a long line grows, in bytes.
const GROWTH_BYTES: usize = 1 << 20;
/// How far a line is stepped over in one go, in bytes: 4 MiB, for which the disk takes a millisecond or two.
const STEP_BYTES: usize = 4 << 20;

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
    /// A piece of a line that is too long, and goes on. Reading may stop here.
    Stepped,
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
        TranscriptReader::of_about(input, place, READ_BYTES as u64)
    }

    /// Does the same where about so many bytes are left: room that is not used costs time, too.
    pub fn of_about(input: R, place: TranscriptPlace, n_left: u64) -> TranscriptReader<R> {
        let room = usize::try_from(n_left).unwrap_or(READ_BYTES).clamp(READ_BYTES_MIN, READ_BYTES);
        let input = BufReader::with_capacity(room, input);
        TranscriptReader { input, place, line: Vec::new() }
    }

    /// Where reading stands: before the line that comes next.
    pub fn place(&self) -> TranscriptPlace {
        self.place
    }

    /// Returns what lines are read from.
    pub fn input(&self) -> &R {
        self.input.get_ref()
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
            if !self.read_line()? {
                return Ok(None);
            }
            if self.line.last() == Some(&b'\n') && self.line.len() <= LINE_BYTES_MAX + 1 {
                let offset = self.place.offset;
                self.place.offset += length_of(&self.line);
                return Ok(Some(TranscriptLine::Whole { offset, bytes: &self.line }));
            }
            self.place.too_long_from = Some(self.place.offset);
            self.place.offset += length_of(&self.line);
            self.line = Vec::new();
        }
        self.step_over()
    }

    /// Reads to the end of a line, or as far as a line may be read; tells whether either was reached.
    fn read_line(&mut self) -> std::io::Result<bool> {
        let mut room = READ_BYTES;
        while self.line.len() <= LINE_BYTES_MAX {
            // A vector that grows by itself would take twice as much as the line.
            self.line.reserve_exact(room);
            let limit = room.min(LINE_BYTES_MAX + 1 - self.line.len());
            let count = self.input.by_ref().take(limit as u64).read_until(b'\n', &mut self.line)?;
            if self.line.last() == Some(&b'\n') {
                return Ok(true);
            }
            if count < limit {
                return Ok(false);
            }
            room = GROWTH_BYTES;
        }
        Ok(true)
    }

    /// Steps to the end of a line that is too long, or as far as is gone in one go.
    fn step_over(&mut self) -> std::io::Result<Option<TranscriptLine<'_>>> {
        let mut n_stepped = 0;
        while n_stepped < STEP_BYTES {
            let seen = self.input.fill_buf()?;
            if seen.is_empty() {
                return Ok(None);
            }
            // Whether there is a break is known much sooner than where it is.
            let has_end = seen.contains(&b'\n');
            let end = if has_end { seen.iter().position(|byte| *byte == b'\n') } else { None };
            let count = end.map_or(seen.len(), |at| at + 1);
            self.input.consume(count);
            n_stepped += count;
            self.place.offset += u64::try_from(count).unwrap_or(0);
            if end.is_some() {
                let offset = self.place.too_long_from.take().unwrap_or(self.place.offset);
                let length = self.place.offset - offset - 1;
                return Ok(Some(TranscriptLine::TooLong { offset, length }));
            }
        }
        Ok(Some(TranscriptLine::Stepped))
    }
}

fn length_of(line: &[u8]) -> u64 {
    u64::try_from(line.len()).unwrap_or(0)
}

#[cfg(test)]
mod tests;
