//! Reading JSON.

use std::sync::Arc;

use crate::data::json::JsonError;
use crate::data::{Data, VALUE_DEPTH_MAX, parse_literal};

/// Reads a value. Of a key that occurs twice the last value counts.
///
/// # Errors
/// Fails on anything that is not JSON, on numbers that are not finite, on lone surrogates, and on
/// values beyond the limits.
pub fn from_text(text: &str) -> Result<Data, JsonError> {
    let mut reader = Reader { text, bytes: text.as_bytes(), at: 0 };
    let value = reader.value(0)?;
    reader.blanks();
    if reader.at < text.len() {
        return reader.wrong("something follows the value");
    }
    Ok(value)
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn wrong<T>(&self, reason: &'static str) -> Result<T, JsonError> {
        Err(JsonError::Syntax { at: self.at, reason })
    }

    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), b' ' | b'\n' | b'\t' | b'\r') {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: u32) -> Result<Data, JsonError> {
        self.blanks();
        match self.peek() {
            b'{' | b'[' if depth >= VALUE_DEPTH_MAX => Err(JsonError::TooLarge),
            b'{' => self.object(depth),
            b'[' => self.list(depth),
            b'"' => Ok(Data::text(self.text()?)),
            b't' => self.word("true", Data::Bool(true)),
            b'f' => self.word("false", Data::Bool(false)),
            b'n' => self.word("null", Data::Null),
            b'-' | b'0'..=b'9' => self.number(),
            _ => self.wrong("no value starts here"),
        }
    }

    fn word(&mut self, word: &str, value: Data) -> Result<Data, JsonError> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return self.wrong("no value starts here");
        }
        self.at += word.len();
        Ok(value)
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Result<Data, JsonError> {
        let start = self.at;
        self.at += usize::from(self.peek() == b'-');
        let leading_zero = self.peek() == b'0';
        let whole = self.digits();
        if whole == 0 || (leading_zero && whole > 1) {
            return self.wrong("not a number");
        }
        if self.peek() == b'.' {
            self.at += 1;
            if self.digits() == 0 {
                return self.wrong("not a number");
            }
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), b'+' | b'-'));
            if self.digits() == 0 {
                return self.wrong("not a number");
            }
        }
        match parse_literal(&self.text[start..self.at]) {
            Some(number) => Ok(number),
            None => self.wrong("the number is out of range"),
        }
    }

    fn text(&mut self) -> Result<Arc<str>, JsonError> {
        self.at += 1;
        let start = self.at;
        let mut decoded = String::new();
        let mut plain = start;
        loop {
            let rest = &self.bytes[self.at..];
            let special = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
            let Some(length) = rest.iter().position(special) else {
                self.at = self.bytes.len();
                return self.wrong("a text has no end");
            };
            self.at += length;
            match self.peek() {
                b'"' => {
                    let rest = &self.text[plain..self.at];
                    self.at += 1;
                    if plain == start {
                        return Ok(rest.into());
                    }
                    decoded.push_str(rest);
                    return Ok(decoded.into());
                }
                b'\\' => {
                    decoded.push_str(&self.text[plain..self.at]);
                    decoded.push(self.escape()?);
                    plain = self.at;
                }
                _ => return self.wrong("a control character in a text"),
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        self.at += 1;
        let letter = self.peek();
        self.at += 1;
        Ok(match letter {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(),
            _ => return self.wrong("no such escape"),
        })
    }

    fn unicode(&mut self) -> Result<char, JsonError> {
        let first = self.unit()?;
        let units =
            if (0xd800..0xdc00).contains(&first) && self.bytes[self.at..].starts_with(b"\\u") {
                self.at += 2;
                vec![first, self.unit()?]
            } else {
                vec![first]
            };
        match char::decode_utf16(units.iter().copied()).next() {
            Some(Ok(character)) => Ok(character),
            _ => self.wrong("half of a surrogate pair"),
        }
    }

    fn unit(&mut self) -> Result<u16, JsonError> {
        let digits = self.bytes.get(self.at..self.at + 4).unwrap_or(b"");
        if digits.len() < 4 || !digits.iter().all(u8::is_ascii_hexdigit) {
            return self.wrong("an escape needs four hexadecimal digits");
        }
        let unit = u16::from_str_radix(&self.text[self.at..self.at + 4], 16);
        self.at += 4;
        Ok(unit.expect("four hexadecimal digits fit 16 bits"))
    }

    fn list(&mut self, depth: u32) -> Result<Data, JsonError> {
        self.at += 1;
        let mut items = Vec::new();
        self.blanks();
        if self.peek() == b']' {
            self.at += 1;
        } else {
            loop {
                items.push(self.value(depth + 1)?);
                self.blanks();
                self.at += 1;
                match self.bytes.get(self.at - 1) {
                    Some(b',') => {}
                    Some(b']') => break,
                    _ => return self.wrong("expected `,` or `]`"),
                }
            }
        }
        Data::list(items).map_err(|_| JsonError::TooLarge)
    }

    fn object(&mut self, depth: u32) -> Result<Data, JsonError> {
        self.at += 1;
        let mut fields = Fields::default();
        self.blanks();
        if self.peek() == b'}' {
            self.at += 1;
        } else {
            loop {
                self.blanks();
                if self.peek() != b'"' {
                    return self.wrong("expected a key");
                }
                let name = self.text()?;
                self.blanks();
                if self.peek() != b':' {
                    return self.wrong("expected `:`");
                }
                self.at += 1;
                let value = self.value(depth + 1)?;
                fields.put(name, value);
                self.blanks();
                self.at += 1;
                match self.bytes.get(self.at - 1) {
                    Some(b',') => {}
                    Some(b'}') => break,
                    _ => return self.wrong("expected `,` or `}`"),
                }
            }
        }
        Data::object(fields.list).map_err(|_| JsonError::TooLarge)
    }
}

/// Objects with fewer fields than this are searched from the front.
const SHORT_OBJECT: usize = 16;

/// Fields as they are read.
#[derive(Default)]
struct Fields {
    list: Vec<(Arc<str>, Data)>,
    places: std::collections::HashMap<Arc<str>, usize>,
}

impl Fields {
    fn put(&mut self, name: Arc<str>, value: Data) {
        if let Some(at) = self.find(&name) {
            self.list[at].1 = value;
            return;
        }
        if self.list.len() >= SHORT_OBJECT {
            if self.places.is_empty() {
                let names = self.list.iter().enumerate();
                self.places = names.map(|(at, (name, _))| (name.clone(), at)).collect();
            }
            self.places.insert(name.clone(), self.list.len());
        }
        self.list.push((name, value));
    }

    fn find(&self, name: &str) -> Option<usize> {
        if self.list.len() <= SHORT_OBJECT {
            return self.list.iter().position(|(field, _)| &**field == name);
        }
        self.places.get(name).copied()
    }
}
