//! The one reader of JSON for values that `serde_json` cannot carry.
//!
//! The languages keep the order of keys, whole numbers of any length, infinite numbers and halves of
//! surrogate pairs, and their programs see the byte at which a text is wrong. What they share is the
//! grammar (RFC 8259), and that is here. A [`Sink`] says what is built, [`ReaderOptions`] how far the
//! reader goes, and whoever reads puts a [`JsonReadFault`] into words.

use std::borrow::Cow;

use crate::json::is_escaped;

/// What the values of a text become.
pub trait Sink<'t> {
    /// A value.
    type Value;
    /// A key of an object.
    type Key;
    /// An object that is being read.
    type Members: Default;

    /// Makes a value that has no parts.
    ///
    /// # Errors
    /// Fails on a number that the sink has no room for.
    fn scalar(&mut self, scalar: Scalar<'t>) -> Result<Self::Value, JsonReason>;

    /// Makes a list of its items.
    ///
    /// # Errors
    /// Fails on a list that the sink has no room for.
    fn list(&mut self, items: Vec<Self::Value>) -> Result<Self::Value, JsonReason>;

    /// Makes a key.
    fn key(&mut self, text: Cow<'t, str>) -> Self::Key;

    /// Adds a member to an object; what a second one of its key does is for the sink to say.
    fn member(&mut self, members: &mut Self::Members, key: Self::Key, value: Self::Value);

    /// Makes an object of its members.
    ///
    /// # Errors
    /// Fails on an object that the sink has no room for.
    fn object(&mut self, members: Self::Members) -> Result<Self::Value, JsonReason>;
}

/// A value without parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scalar<'t> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as it is written, well formed and of any size.
    Number(&'t str),
    /// A text without its escapes; borrowed where it has none.
    Text(Cow<'t, str>),
}

/// How far a reader goes.
#[derive(Debug, Clone, Copy)]
pub struct ReaderOptions {
    /// How many lists and objects may stand inside one another.
    pub nesting_max: usize,
    /// How many values a text may have, lists and objects among them.
    pub values_max: usize,
    /// What becomes of half a surrogate pair.
    pub half_pairs: HalfPairs,
}

/// What becomes of half a surrogate pair, which no text can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HalfPairs {
    /// The text is not read.
    Refuse,
    /// U+FFFD stands in its place.
    Replace,
}

/// Where and why a text was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonReadFault {
    /// The byte at which reading stopped; after what was read wrongly, before what is missing.
    pub at: usize,
    /// What is wrong there.
    pub reason: JsonReason,
}

/// What is wrong with a text. Each user has words of its own for these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonReason {
    /// The text ends where a value is expected.
    ValueMissing,
    /// No value begins like this.
    NotAValue,
    /// A key in quotation marks is expected.
    KeyExpected,
    /// A colon is expected.
    ColonExpected,
    /// A comma or the end of a list is expected.
    ListGoesOn,
    /// A comma or the end of an object is expected.
    ObjectGoesOn,
    /// Something follows the value.
    TrailingText,
    /// A list or object stands deeper than [`ReaderOptions::nesting_max`].
    TooDeep,
    /// The sink has no room for a value, or there are more than [`ReaderOptions::values_max`].
    TooLarge,
    /// A number has no digits where it needs some, or a zero in front.
    NotANumber,
    /// No digit follows the point of a number.
    FractionMissing,
    /// No digit follows the exponent's mark.
    ExponentMissing,
    /// The sink has no such number.
    NumberOutOfRange,
    /// A text has no end.
    TextOpen,
    /// A control character stands in a text.
    ControlCharacter,
    /// The text ends within an escape.
    EscapeMissing,
    /// There is no such escape.
    EscapeUnknown,
    /// An escape has fewer than four hexadecimal digits.
    EscapeDigits,
    /// Half of a surrogate pair, where [`HalfPairs::Refuse`] is asked for.
    HalfPair,
}

/// Reads the one value of a text.
///
/// # Errors
/// Fails on what is not JSON, on what the options do not allow and on what the sink refuses.
pub fn read<'t, S: Sink<'t>>(
    text: &'t str,
    options: ReaderOptions,
    sink: S,
) -> Result<S::Value, JsonReadFault> {
    let mut reader = JsonReader { text, bytes: text.as_bytes(), at: 0, n_values: 0, options, sink };
    reader.blanks();
    let value = reader.value(0)?;
    reader.blanks();
    if reader.at < text.len() {
        return Err(reader.fault(JsonReason::TrailingText));
    }
    Ok(value)
}

struct JsonReader<'t, S> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    /// How many values were begun.
    n_values: usize,
    options: ReaderOptions,
    sink: S,
}

impl<'t, S: Sink<'t>> JsonReader<'t, S> {
    fn fault(&self, reason: JsonReason) -> JsonReadFault {
        JsonReadFault { at: self.at, reason }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<S::Value, JsonReadFault> {
        self.n_values += 1;
        if self.n_values > self.options.values_max {
            return Err(self.fault(JsonReason::TooLarge));
        }
        let scalar = match self.peek() {
            Some(b'{' | b'[') if depth >= self.options.nesting_max => {
                return Err(self.fault(JsonReason::TooDeep));
            }
            Some(b'{') => return self.object(depth + 1),
            Some(b'[') => return self.list(depth + 1),
            Some(b'"') => Scalar::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => Scalar::Number(self.number()?),
            Some(b't') => self.word("true", Scalar::Bool(true))?,
            Some(b'f') => self.word("false", Scalar::Bool(false))?,
            Some(b'n') => self.word("null", Scalar::Null)?,
            Some(_) => return Err(self.fault(JsonReason::NotAValue)),
            None => return Err(self.fault(JsonReason::ValueMissing)),
        };
        self.sink.scalar(scalar).map_err(|reason| self.fault(reason))
    }

    fn word(&mut self, word: &str, scalar: Scalar<'t>) -> Result<Scalar<'t>, JsonReadFault> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return Err(self.fault(JsonReason::NotAValue));
        }
        self.at += word.len();
        Ok(scalar)
    }

    fn list(&mut self, depth: usize) -> Result<S::Value, JsonReadFault> {
        let mut items = Vec::new();
        let mut goes_on = !self.opens_empty(b']');
        while goes_on {
            items.push(self.value(depth)?);
            goes_on = self.goes_on(b']', JsonReason::ListGoesOn)?;
        }
        self.sink.list(items).map_err(|reason| self.fault(reason))
    }

    fn object(&mut self, depth: usize) -> Result<S::Value, JsonReadFault> {
        let mut members = S::Members::default();
        let mut goes_on = !self.opens_empty(b'}');
        while goes_on {
            if self.peek() != Some(b'"') {
                return Err(self.fault(JsonReason::KeyExpected));
            }
            let key = self.string()?;
            let key = self.sink.key(key);
            self.blanks();
            if self.peek() != Some(b':') {
                return Err(self.fault(JsonReason::ColonExpected));
            }
            self.at += 1;
            self.blanks();
            let value = self.value(depth)?;
            self.sink.member(&mut members, key, value);
            goes_on = self.goes_on(b'}', JsonReason::ObjectGoesOn)?;
        }
        self.sink.object(members).map_err(|reason| self.fault(reason))
    }

    /// Steps into a list or an object; over its end, too, if it is empty.
    fn opens_empty(&mut self, close: u8) -> bool {
        self.at += 1;
        self.blanks();
        let is_empty = self.peek() == Some(close);
        self.at += usize::from(is_empty);
        is_empty
    }

    /// Steps over a comma or the closing byte; tells whether entries go on.
    fn goes_on(&mut self, close: u8, reason: JsonReason) -> Result<bool, JsonReadFault> {
        self.blanks();
        let byte = self.peek();
        if byte != Some(b',') && byte != Some(close) {
            return Err(self.fault(reason));
        }
        self.at += 1;
        if byte == Some(close) {
            return Ok(false);
        }
        self.blanks();
        Ok(true)
    }

    fn digits(&mut self) -> usize {
        let count = self.bytes[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        count
    }

    fn number(&mut self) -> Result<&'t str, JsonReadFault> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        let leading_zero = self.peek() == Some(b'0');
        let whole = self.digits();
        if whole == 0 || (leading_zero && whole > 1) {
            return Err(self.fault(JsonReason::NotANumber));
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            if self.digits() == 0 {
                return Err(self.fault(JsonReason::FractionMissing));
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            if self.digits() == 0 {
                return Err(self.fault(JsonReason::ExponentMissing));
            }
        }
        Ok(&self.text[start..self.at])
    }

    fn string(&mut self) -> Result<Cow<'t, str>, JsonReadFault> {
        self.at += 1;
        let first = self.plain_text();
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Ok(Cow::Borrowed(first));
        }
        let mut text = first.to_owned();
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(text));
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => return Err(self.fault(JsonReason::ControlCharacter)),
                None => return Err(self.fault(JsonReason::TextOpen)),
            }
            text.push_str(self.plain_text());
        }
    }

    /// Steps to the next quotation mark, backslash or control character.
    fn plain_text(&mut self) -> &'t str {
        let start = self.at;
        // Most texts are short, and chunks would look beyond their ends.
        let rest = &self.bytes[start..];
        self.at += rest.iter().position(|byte| is_escaped(*byte)).unwrap_or(rest.len());
        &self.text[start..self.at]
    }

    fn escape(&mut self) -> Result<char, JsonReadFault> {
        self.at += 1;
        let character = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode_escape();
            }
            Some(_) => return Err(self.fault(JsonReason::EscapeUnknown)),
            None => return Err(self.fault(JsonReason::EscapeMissing)),
        };
        self.at += 1;
        Ok(character)
    }

    fn unicode_escape(&mut self) -> Result<char, JsonReadFault> {
        let first = self.four_digits()?;
        let after_first = self.at;
        let mut units = [first, 0];
        let mut count = 1;
        if (0xd800..0xdc00).contains(&first) && self.bytes[self.at..].starts_with(b"\\u") {
            self.at += 2;
            units[1] = self.four_digits()?;
            count = 2;
        }
        match char::decode_utf16(units.into_iter().take(count)).next() {
            Some(Ok(character)) => Ok(character),
            Some(Err(_)) | None if self.options.half_pairs == HalfPairs::Refuse => {
                Err(self.fault(JsonReason::HalfPair))
            }
            Some(Err(_)) | None => {
                // The second escape is no other half: it stands for itself, and is read next.
                self.at = after_first;
                Ok(char::REPLACEMENT_CHARACTER)
            }
        }
    }

    fn four_digits(&mut self) -> Result<u16, JsonReadFault> {
        let digits = self.text.get(self.at..self.at + 4);
        let unit = digits
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .and_then(|digits| u16::from_str_radix(digits, 16).ok())
            .ok_or_else(|| self.fault(JsonReason::EscapeDigits))?;
        self.at += 4;
        Ok(unit)
    }
}

#[cfg(test)]
mod tests;
