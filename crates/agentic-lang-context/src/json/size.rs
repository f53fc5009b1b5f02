//! How long scalars are when they are printed, in UTF-16 units.

use super::number::number_to_text;
use super::print::as_whole;

/// Returns the size of a number.
pub(crate) fn number_size(number: f64) -> u64 {
    match as_whole(number) {
        Some(0) => 1,
        Some(whole) => u64::from(whole < 0) + u64::from(whole.unsigned_abs().ilog10()) + 1,
        None if number.is_finite() => number_to_text(number).len() as u64,
        None => "null".len() as u64,
    }
}

/// Returns the size of a text in quotation marks, with its escapes.
pub(crate) fn text_size(text: &str) -> u64 {
    const MARKS: u64 = 2;
    let (chunks, rest) = text.as_bytes().as_chunks::<CHUNK>();
    let whole: u64 = chunks.iter().map(chunk_size).sum();
    // What is left is filled up with letters, each of size 1, to be looked at at once, too.
    let mut filled = [b'x'; CHUNK];
    filled[..rest.len()].copy_from_slice(rest);
    MARKS + whole + chunk_size(&filled) - (CHUNK - rest.len()) as u64
}

/// How many bytes are looked at at once. Each adds at most 6, so that their sum fits one byte.
const CHUNK: usize = 32;

fn chunk_size(chunk: &[u8; CHUNK]) -> u64 {
    u64::from(chunk.iter().fold(0u8, |sum, byte| sum + byte_size(*byte)))
}

/// Returns what a byte of UTF-8 adds, without branches.
fn byte_size(byte: u8) -> u8 {
    let begins = u8::from((byte as i8) >= -0x40);
    let second_half = u8::from(byte >= 0xf0);
    let is_escaped = u8::from(byte < 0x20) | u8::from(byte == b'"') | u8::from(byte == b'\\');
    // `\b`, `\t`, `\n`, `\f` and `\r` have short names; other control characters take `\u00..`.
    let is_long = u8::from(byte < 0x20) & u8::from(!matches!(byte, 8..=10 | 12 | 13));
    begins + second_half + is_escaped + 4 * is_long
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Json, compact};

    fn check(json: &Json, size: u64) {
        assert_eq!(size, compact(json).encode_utf16().count() as u64, "{json:?}");
    }

    #[test]
    fn sizes_of_texts_are_those_of_their_printing() {
        let all: String = (0u8..0x80).map(char::from).collect();
        for text in ["", "é😀\u{ffff}", "\\\"", &all, &all.repeat(9), &"😀\u{1}".repeat(99)] {
            check(&Json::text(text), text_size(text));
        }
    }

    #[test]
    fn sizes_of_numbers_are_those_of_their_printing() {
        let odd = [0.1, -0.0, 1e21, 1e-7, 5e-324, f64::MAX, f64::NAN, f64::INFINITY];
        let whole = [0.0, 1.0, -1.0, 9.0, 10.0, -99.0, 9_007_199_254_740_991.0, 1e16];
        for number in odd.into_iter().chain(whole) {
            check(&Json::Number(number), number_size(number));
        }
    }
}
