//! A long text of JSON, read part by part: its escapes are undone, and its bytes are known to be UTF-8.

use agentic_space::commit::SpoolWriter;

use crate::Refusal;

/// The first of the halves that come first in a pair.
const HIGH_HALF: u32 = 0xd800;
/// The first of those that come second.
const LOW_HALF: u32 = 0xdc00;
/// The first number behind both.
const BEHIND_HALVES: u32 = 0xe000;
/// How long an escape with a number is.
const NUMBERED_BYTES: usize = 6;

/// Where a text goes.
pub trait TextSink {
    /// Takes bytes.
    ///
    /// # Errors
    /// Fails when there is no room.
    fn append(&mut self, bytes: &[u8]) -> Result<(), Refusal>;
}

impl TextSink for SpoolWriter {
    fn append(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        Ok(SpoolWriter::append(self, bytes)?)
    }
}

/// A text that is being read.
pub struct LongText<S> {
    out: S,
    /// An escape that is not complete.
    escape: Vec<u8>,
    /// The first half of a pair.
    high: Option<u32>,
    /// The beginning of a character.
    begun: Vec<u8>,
}

impl<S: TextSink> LongText<S> {
    /// Begins a text.
    pub fn new(out: S) -> LongText<S> {
        LongText { out, escape: Vec::new(), high: None, begun: Vec::new() }
    }

    /// Takes bytes up to the quotation mark that ends the text; returns how many that were, with the
    /// mark, or nothing if the text goes on.
    ///
    /// # Errors
    /// Fails when the bytes are no text of JSON, and when there is no room.
    pub fn take(&mut self, part: &[u8]) -> Result<Option<usize>, Refusal> {
        let mut at = 0;
        while let Some(rest) = part.get(at..).filter(|rest| !rest.is_empty()) {
            if !self.escape.is_empty() {
                self.escape.push(rest[0]);
                self.end_escape()?;
                at += 1;
                continue;
            }
            let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
            let n_plain = rest.iter().position(is_special).unwrap_or(rest.len());
            self.plain(&rest[..n_plain])?;
            at += n_plain;
            match rest.get(n_plain) {
                None => return Ok(None),
                Some(b'"') => {
                    self.expect_whole()?;
                    return Ok(Some(at + 1));
                }
                Some(b'\\') => {
                    if !self.begun.is_empty() {
                        return Err(not_utf8());
                    }
                    self.escape.push(b'\\');
                }
                Some(_) => return Err(wrong("a control character stands in a text")),
            }
            at += 1;
        }
        Ok(None)
    }

    /// Returns where the text went.
    pub fn finish(self) -> S {
        self.out
    }

    fn plain(&mut self, run: &[u8]) -> Result<(), Refusal> {
        if run.is_empty() {
            return Ok(());
        }
        self.expect_no_half()?;
        let joined;
        let mut bytes = run;
        if !self.begun.is_empty() {
            joined = [std::mem::take(&mut self.begun).as_slice(), run].concat();
            bytes = &joined;
        }
        if let Err(error) = std::str::from_utf8(bytes) {
            if error.error_len().is_some() {
                return Err(not_utf8());
            }
            let (whole, begun) = bytes.split_at(error.valid_up_to());
            self.begun = begun.to_vec();
            return self.out.append(whole);
        }
        self.out.append(bytes)
    }

    fn end_escape(&mut self) -> Result<(), Refusal> {
        let byte = match self.escape.as_slice() {
            [_, b'"'] => b'"',
            [_, b'\\'] => b'\\',
            [_, b'/'] => b'/',
            [_, b'b'] => 0x08,
            [_, b'f'] => 0x0c,
            [_, b'n'] => b'\n',
            [_, b'r'] => b'\r',
            [_, b't'] => b'\t',
            [_, b'u', digits @ ..] => {
                if self.escape.len() < NUMBERED_BYTES {
                    return Ok(());
                }
                let number = number_of(digits).ok_or_else(|| wrong("an escape has no number"))?;
                self.escape.clear();
                return self.numbered(number);
            }
            _ => return Err(wrong("a text has an escape that is none")),
        };
        self.escape.clear();
        self.expect_no_half()?;
        self.out.append(&[byte])
    }

    fn numbered(&mut self, number: u32) -> Result<(), Refusal> {
        let whole = match (self.high.take(), number) {
            (None, HIGH_HALF..LOW_HALF) => {
                self.high = Some(number);
                return Ok(());
            }
            (Some(high), LOW_HALF..BEHIND_HALVES) => {
                0x1_0000 + ((high - HIGH_HALF) << 10) + (number - LOW_HALF)
            }
            (Some(_), _) => return Err(half()),
            (None, number) => number,
        };
        let character = char::from_u32(whole).ok_or_else(half)?;
        self.out.append(character.encode_utf8(&mut [0; 4]).as_bytes())
    }

    fn expect_no_half(&self) -> Result<(), Refusal> {
        if self.high.is_some() { Err(half()) } else { Ok(()) }
    }

    fn expect_whole(&self) -> Result<(), Refusal> {
        self.expect_no_half()?;
        if self.begun.is_empty() { Ok(()) } else { Err(not_utf8()) }
    }
}

/// Reads the digits of an escape.
fn number_of(digits: &[u8]) -> Option<u32> {
    let is_number = digits.iter().all(u8::is_ascii_hexdigit);
    let text = std::str::from_utf8(digits).ok().filter(|_| is_number)?;
    u32::from_str_radix(text, 16).ok()
}

fn half() -> Refusal {
    wrong("a text has half of a pair of escapes")
}

fn wrong(what: &str) -> Refusal {
    Refusal::schema(&format!("standard input is not JSON: {what}"), super::commit::EDITS_HINT)
}

/// The refusal of bytes that are no UTF-8.
pub fn not_utf8() -> Refusal {
    Refusal::schema("standard input is not UTF-8", "put other bytes into {\"base64\": …}")
}

#[cfg(test)]
mod tests {
    use super::*;

    impl TextSink for Vec<u8> {
        fn append(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
            self.extend_from_slice(bytes);
            Ok(())
        }
    }

    /// Reads a text, as it stands behind its first quotation mark, in parts of some length.
    fn read(text: &[u8], length: usize) -> Result<Vec<u8>, String> {
        let mut long = LongText::new(Vec::new());
        let mut n_taken = 0;
        for part in text.chunks(length) {
            let found = long.take(part).map_err(|refusal| refusal.message)?;
            if let Some(n_last) = found {
                assert_eq!(n_taken + n_last, text.len());
                return Ok(long.finish());
            }
            n_taken += part.len();
        }
        Err("it does not end".to_owned())
    }

    #[test]
    fn texts_are_what_any_reader_of_json_makes_of_them_however_they_are_cut() {
        let texts = [
            r#"""#,
            r#"plain ä € 😀""#,
            r#"\" \\ \/ \b\f\n\r\t \u00e4 \u20AC \ud83d\ude00 \u0000""#,
            r#"\ud83d""#,
            r#"\ud83dx""#,
            r#"\ud83d\n""#,
            r#"\ud83d\u0041""#,
            r#"\ude00""#,
            r#"\u12g4""#,
            r#"\u+123""#,
            r#"\x""#,
            "a\nb\"",
            "a\tb\"",
        ];
        for text in texts {
            let expected = serde_json::from_str::<String>(&format!("\"{text}")).ok();
            for length in 1..text.len() + 1 {
                let found = read(text.as_bytes(), length).ok();
                assert_eq!(found, expected.clone().map(String::into_bytes), "{text} by {length}");
            }
        }
    }

    #[test]
    fn bytes_that_are_no_utf8_are_refused() {
        let broken: [&[u8]; 5] =
            [b"\xff\"", b"a\xc3\"", b"\xc3\\n\"", b"\xe2\x82z\"", b"\xed\xa0\x80\""];
        for text in broken {
            for length in 1..text.len() + 1 {
                assert_eq!(read(text, length), Err("standard input is not UTF-8".to_owned()));
            }
        }
    }
}
