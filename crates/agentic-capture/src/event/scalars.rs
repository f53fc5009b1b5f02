//! The top-level scalars of an object that is too long to be read whole, in one pass and little memory.

use std::io::{BufReader, Bytes, Read};

use agentic_model::{Map, Value};

use super::PayloadError;
use super::payload::read_value;

/// The longest text or number that is kept, in bytes. Longer ones are passed over.
const SCALAR_BYTES_MAX: usize = 64 << 10;
/// How many members are kept.
const MEMBERS_MAX: usize = 256;
/// How far such an input is read, in bytes: 1 GiB.
const INPUT_BYTES_MAX: u64 = 1 << 30;

/// Reads the scalars of an object. Where the input breaks off or goes on for ever, those so far count.
///
/// # Errors
/// Fails when the input does not begin as an object.
pub(super) fn read_scalars(input: impl Read) -> Result<Map, PayloadError> {
    let bytes = BufReader::with_capacity(64 << 10, input.take(INPUT_BYTES_MAX)).bytes();
    let mut scanner = Scanner { bytes, ahead: None };
    if scanner.skip_blanks() != Some(b'{') {
        return Err(PayloadError::NotAnObject);
    }
    let mut map = Map::new();
    // Whatever the reason is that there is no next member, those that were read are sound.
    while map.len() < MEMBERS_MAX
        && let Some((key, value)) = scanner.member()
    {
        if let Some(value) = value {
            map.insert(key, value);
        }
    }
    Ok(map)
}

struct Scanner<R: Read> {
    bytes: Bytes<R>,
    /// A byte that was read and belongs to what comes next.
    ahead: Option<u8>,
}

impl<R: Read> Scanner<R> {
    fn next(&mut self) -> Option<u8> {
        self.ahead.take().or_else(|| self.bytes.next()?.ok())
    }

    fn skip_blanks(&mut self) -> Option<u8> {
        loop {
            let byte = self.next()?;
            if !byte.is_ascii_whitespace() {
                return Some(byte);
            }
        }
    }

    /// Reads a member: its value only if that is a short scalar.
    fn member(&mut self) -> Option<(String, Option<Value>)> {
        let mut byte = self.skip_blanks()?;
        if byte == b',' {
            byte = self.skip_blanks()?;
        }
        if byte != b'"' {
            return None;
        }
        let key = self.text()?;
        if self.skip_blanks()? != b':' {
            return None;
        }
        let value = match self.skip_blanks()? {
            b'"' => self.text().map(|text| value(&text)),
            b'{' | b'[' => self.pass_over_nested().map(|()| None),
            first => self.word(first).map(|word| value(&word)),
        }?;
        match value_text(&key) {
            Some(key) => Some((key, value)),
            None => Some((String::new(), None)),
        }
    }

    /// Reads a text with its quotation marks; what is too long is passed over and left empty.
    fn text(&mut self) -> Option<Vec<u8>> {
        let mut text = vec![b'"'];
        loop {
            let byte = self.next()?;
            keep(&mut text, byte);
            match byte {
                b'\\' => {
                    let escaped = self.next()?;
                    keep(&mut text, escaped);
                }
                b'"' => return Some(if text.len() > SCALAR_BYTES_MAX { Vec::new() } else { text }),
                _ => {}
            }
        }
    }

    fn word(&mut self, first: u8) -> Option<Vec<u8>> {
        let mut word = vec![first];
        loop {
            let byte = self.next()?;
            if matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace() {
                self.ahead = Some(byte);
                return Some(word);
            }
            keep(&mut word, byte);
        }
    }

    /// Steps over a list or an object, however deep.
    fn pass_over_nested(&mut self) -> Option<()> {
        let mut depth = 1_u64;
        while depth > 0 {
            match self.next()? {
                b'"' => {
                    self.text()?;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
        }
        Some(())
    }
}

fn keep(text: &mut Vec<u8>, byte: u8) {
    if text.len() <= SCALAR_BYTES_MAX {
        text.push(byte);
    }
}

fn value(json: &[u8]) -> Option<Value> {
    std::str::from_utf8(json).ok().and_then(|json| read_value(json).ok())
}

fn value_text(json: &[u8]) -> Option<String> {
    match value(json)? {
        Value::Text(text) => Some(text),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Bytes(_)
        | Value::List(_)
        | Value::Map(_)
        | Value::Link(_) => None,
    }
}
