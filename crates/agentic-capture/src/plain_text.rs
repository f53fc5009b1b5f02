//! The plain text of a transcript, in whatever form its vendor keeps it.

mod messages;

use std::io::Read;

use self::messages::MessageLines;
use crate::opencode_store::{OpencodeRows, RowMark};

/// What a file begins with that Zstandard has compressed (RFC 8878).
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The plain text of a file, compressed or not.
pub enum PlainText<R: Read> {
    /// As it is in the file.
    Plain(R),
    /// Unpacked while it is read.
    Unpacked(Box<ruzstd::decoding::StreamingDecoder<R, ruzstd::decoding::FrameDecoder>>),
    /// Taken out of one object of JSON.
    Messages(Box<MessageLines<R>>),
    /// Made of rows.
    Rows(Box<OpencodeRows>),
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

    /// Takes the messages out of one object of JSON.
    pub fn messages(input: R) -> PlainText<R> {
        PlainText::Messages(Box::new(MessageLines::new(input)))
    }

    /// Tells whether the text is the file itself, in which one can step to any place.
    pub fn is_the_file(&self) -> bool {
        match self {
            PlainText::Plain(_) => true,
            PlainText::Unpacked(_) | PlainText::Messages(_) | PlainText::Rows(_) => false,
        }
    }

    /// Tells whether reading can go on from a place without everything before that.
    pub fn goes_on(&self) -> bool {
        match self {
            PlainText::Plain(_) | PlainText::Rows(_) => true,
            PlainText::Unpacked(_) | PlainText::Messages(_) => false,
        }
    }

    /// Returns the last row that was read, of a text that is made of rows.
    pub fn row_mark(&self) -> Option<&RowMark> {
        match self {
            PlainText::Rows(rows) => rows.mark(),
            PlainText::Plain(_) | PlainText::Unpacked(_) | PlainText::Messages(_) => None,
        }
    }
}

impl<R: Read> Read for PlainText<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        match self {
            PlainText::Plain(input) => input.read(into),
            PlainText::Unpacked(decoder) => decoder.read(into),
            PlainText::Messages(lines) => lines.read(into),
            PlainText::Rows(rows) => rows.read(into),
        }
    }
}

/// Tells by its first bytes whether a file is compressed.
pub fn is_compressed(first: &[u8]) -> bool {
    first.starts_with(&ZSTD_MAGIC)
}
