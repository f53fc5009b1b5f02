//! JSON text to values.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{JSON_NESTING_MAX, Json, Ordered};

/// Why a text is not JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not JSON at byte {at}: {reason}")]
pub struct JsonFault {
    /// The byte at which reading stopped.
    pub at: usize,
    /// What is wrong there.
    pub reason: &'static str,
}

/// Parses one JSON value (RFC 8259). A key that comes twice keeps its first place and its last
/// value; half of a surrogate pair becomes U+FFFD.
///
/// # Errors
/// Fails on anything else, and on nesting above [`JSON_NESTING_MAX`].
pub fn parse(text: &str) -> Result<Json, JsonFault> {
    parse_within(text, JSON_NESTING_MAX)
}

/// Parses one JSON value that may nest so deep.
pub(crate) fn parse_within(text: &str, nesting_max: usize) -> Result<Json, JsonFault> {
    let bytes = text.as_bytes();
    let mut reader = Reader { text, bytes, at: 0, keys: BTreeMap::new(), nesting_max };
    reader.blanks();
    let json = reader.value(0)?;
    reader.blanks();
    if reader.at < text.len() {
        return Err(reader.fault("the value is followed by more"));
    }
    Ok(json)
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    /// Keys seen so far: those of many alike objects share one allocation.
    keys: BTreeMap<&'a str, Arc<str>>,
    nesting_max: usize,
}

impl<'a> Reader<'a> {
    fn fault(&self, reason: &'static str) -> JsonFault {
        JsonFault { at: self.at, reason }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Json, JsonFault> {
        match self.peek() {
            Some(b'{' | b'[') if depth >= self.nesting_max => {
                Err(self.fault("it nests too deeply"))
            }
            Some(b'{') => self.object(depth + 1),
            Some(b'[') => self.list(depth + 1),
            Some(b'"') => self.string().map(Json::Text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            Some(_) => Err(self.fault("no value begins like this")),
            None => Err(self.fault("the text ends where a value is expected")),
        }
    }

    fn word(&mut self, word: &'static str, json: Json) -> Result<Json, JsonFault> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.fault("no value begins like this"));
        }
        self.at += word.len();
        Ok(json)
    }

    /// Steps over a comma or the closing byte; tells whether entries go on.
    fn goes_on(&mut self, close: u8) -> Result<bool, JsonFault> {
        self.blanks();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                self.blanks();
                Ok(true)
            }
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            Some(_) | None => Err(self.fault("a comma or the end of the container is expected")),
        }
    }

    fn opens_empty(&mut self, close: u8) -> bool {
        self.at += 1;
        self.blanks();
        let empty = self.peek() == Some(close);
        self.at += usize::from(empty);
        empty
    }

    fn list(&mut self, depth: usize) -> Result<Json, JsonFault> {
        let mut items = Vec::new();
        if self.opens_empty(b']') {
            return Ok(Json::List(items));
        }
        loop {
            items.push(self.value(depth)?);
            if !self.goes_on(b']')? {
                return Ok(Json::List(items));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, JsonFault> {
        let mut entries = Ordered::new();
        if self.opens_empty(b'}') {
            return Ok(Json::Object(entries));
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.fault("a key in quotation marks is expected"));
            }
            let key = self.key()?;
            self.blanks();
            if self.peek() != Some(b':') {
                return Err(self.fault("a colon is expected"));
            }
            self.at += 1;
            self.blanks();
            let item = self.value(depth)?;
            entries.set(key, item);
            if !self.goes_on(b'}')? {
                return Ok(Json::Object(entries));
            }
        }
    }

    fn key(&mut self) -> Result<Arc<str>, JsonFault> {
        const SHARED_MAX: usize = 1024;
        let rest = &self.bytes[self.at + 1..];
        let plain = rest.iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20)).count();
        if rest.get(plain) != Some(&b'"') {
            return self.string();
        }
        let key = &self.text[self.at + 1..self.at + 1 + plain];
        self.at += plain + 2;
        if let Some(shared) = self.keys.get(key) {
            return Ok(shared.clone());
        }
        let shared: Arc<str> = key.into();
        if self.keys.len() < SHARED_MAX {
            self.keys.insert(key, shared.clone());
        }
        Ok(shared)
    }

    fn string(&mut self) -> Result<Arc<str>, JsonFault> {
        self.at += 1;
        let start = self.at;
        self.plain_text()?;
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Ok(self.text[start..self.at - 1].into());
        }
        let mut text = self.text[start..self.at].to_owned();
        loop {
            if self.peek() == Some(b'"') {
                self.at += 1;
                return Ok(text.into());
            }
            self.at += 1;
            self.escape(&mut text)?;
            let plain = self.at;
            self.plain_text()?;
            text.push_str(&self.text[plain..self.at]);
        }
    }

    /// Steps to the next quotation mark or backslash.
    fn plain_text(&mut self) -> Result<(), JsonFault> {
        loop {
            match self.peek() {
                Some(b'"' | b'\\') => return Ok(()),
                Some(0..0x20) => return Err(self.fault("a control character stands in a text")),
                Some(_) => self.at += 1,
                None => return Err(self.fault("a text is not closed")),
            }
        }
    }

    fn escape(&mut self, text: &mut String) -> Result<(), JsonFault> {
        let Some(byte) = self.peek() else {
            return Err(self.fault("an escape sequence is not complete"));
        };
        let plain = match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.at += 1;
                text.push(self.unicode_escape()?);
                return Ok(());
            }
            _ => return Err(self.fault("there is no such escape sequence")),
        };
        self.at += 1;
        text.push(plain);
        Ok(())
    }

    fn unicode_escape(&mut self) -> Result<char, JsonFault> {
        let first = self.four_digits()?;
        if (0xd800..0xdc00).contains(&first) && self.bytes[self.at..].starts_with(b"\\u") {
            let before = self.at;
            self.at += 2;
            let second = self.four_digits()?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = before;
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn four_digits(&mut self) -> Result<u32, JsonFault> {
        let digits = self.bytes.get(self.at..self.at + 4);
        let code = digits
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .ok_or_else(|| self.fault("four hexadecimal digits are expected"))?;
        self.at += 4;
        Ok(code)
    }

    fn digits(&mut self) -> usize {
        let count = self.bytes[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        count
    }

    fn number(&mut self) -> Result<Json, JsonFault> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        let leading_zero = self.peek() == Some(b'0');
        let whole = self.digits();
        if whole == 0 || (leading_zero && whole > 1) {
            return Err(self.fault("a number is not well formed"));
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            if self.digits() == 0 {
                return Err(self.fault("digits are expected after the point"));
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            if self.digits() == 0 {
                return Err(self.fault("digits are expected in the exponent"));
            }
        }
        let number = self.text[start..self.at].parse();
        number.map(Json::Number).map_err(|_| self.fault("a number is not well formed"))
    }
}
