//! From text to tokens. The whole file becomes tokens before anything else is looked at, so that a
//! lexical error anywhere comes before every other error.

use agentic_diag::Span;

use crate::code::{self, PhaseResult, stop};
use crate::data::{DIGITS_MAX, parse_literal};
use crate::symbol::{Symbol, Symbols};
use crate::token::{AgentToken, AgentTokenKind, KEYWORDS};

/// The longest source text, in bytes: 256 MiB, so that places fit 32 bits with room to spare.
pub(crate) const SOURCE_BYTES_MAX: usize = 256 << 20;
/// The most tokens of a source: each takes several times its text until the program is built.
pub(crate) const TOKENS_MAX: usize = 8 << 20;
/// How much of the text a finding about a bad character shows.
const SNIPPET_CHARS_MAX: usize = 30;
/// A literal with fewer digits than this is a finite number.
const SAFE_DIGITS: usize = 300;

/// All tokens of a file, and what was said between them.
pub(crate) struct FileTokens {
    pub list: Vec<AgentToken>,
    /// Comments, without the line break after them.
    pub comments: Vec<Span>,
}

/// Splits a text into tokens, the last of which is [`AgentTokenKind::End`].
pub(crate) fn tokens(text: &str, symbols: &mut Symbols) -> PhaseResult<FileTokens> {
    if text.len() > SOURCE_BYTES_MAX {
        return stop(
            code::SOURCE_TOO_LARGE,
            Span::default(),
            format!("the source has {} bytes, more than {SOURCE_BYTES_MAX}", text.len()),
        );
    }
    for (keyword, _) in KEYWORDS {
        symbols.intern(keyword);
    }
    let list = Vec::with_capacity((text.len() / 4).min(TOKENS_MAX));
    let mut lexer =
        AgentLexer { text, bytes: text.as_bytes(), at: 0, symbols, list, comments: Vec::new() };
    lexer.run()?;
    Ok(FileTokens { list: lexer.list, comments: lexer.comments })
}

struct AgentLexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    symbols: &'a mut Symbols,
    list: Vec<AgentToken>,
    comments: Vec<Span>,
}

impl AgentLexer<'_> {
    fn run(&mut self) -> PhaseResult<()> {
        while let Some(byte) = self.bytes.get(self.at).copied() {
            if self.list.len() >= TOKENS_MAX {
                let span = Span::new(self.at, self.at);
                let message = format!("the source has more than {TOKENS_MAX} tokens");
                return stop(code::SOURCE_TOO_LARGE, span, message);
            }
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.name(),
                b'0'..=b'9' => self.number()?,
                b'"' => self.text_literal()?,
                b'-' if self.next_is(b'-') => self.comment(),
                _ => self.sign(byte)?,
            }
        }
        self.push(AgentTokenKind::End, Symbol(0), 0);
        Ok(())
    }

    fn next_is(&self, byte: u8) -> bool {
        self.bytes.get(self.at + 1) == Some(&byte)
    }

    fn push(&mut self, kind: AgentTokenKind, symbol: Symbol, length: usize) {
        let (start, end) = (self.at as u32, (self.at + length) as u32);
        self.list.push(AgentToken { kind, symbol, start, end });
        self.at += length;
    }

    fn sign(&mut self, byte: u8) -> PhaseResult<()> {
        let (kind, length) = match byte {
            b'{' => (AgentTokenKind::BraceOpen, 1),
            b'}' => (AgentTokenKind::BraceClose, 1),
            b'(' => (AgentTokenKind::ParenOpen, 1),
            b')' => (AgentTokenKind::ParenClose, 1),
            b'[' => (AgentTokenKind::BracketOpen, 1),
            b']' => (AgentTokenKind::BracketClose, 1),
            b':' => (AgentTokenKind::Colon, 1),
            b',' => (AgentTokenKind::Comma, 1),
            b';' => (AgentTokenKind::Semicolon, 1),
            b'+' => (AgentTokenKind::Plus, 1),
            b'.' => (AgentTokenKind::Dot, 1),
            b'-' if self.next_is(b'>') => (AgentTokenKind::Arrow, 2),
            b'=' if self.next_is(b'=') => (AgentTokenKind::EqualEqual, 2),
            b'=' => (AgentTokenKind::Equal, 1),
            b'!' if self.next_is(b'=') => (AgentTokenKind::NotEqual, 2),
            _ => return self.bad_character(),
        };
        self.push(kind, Symbol(0), length);
        Ok(())
    }

    fn bad_character<T>(&self) -> PhaseResult<T> {
        let rest = &self.text[self.at..];
        let snippet: String = rest.chars().take(SNIPPET_CHARS_MAX).collect();
        let first = rest.chars().next().map_or(1, char::len_utf8);
        let span = Span::new(self.at, self.at + first);
        let message = format!("no token starts with `{}`", snippet.escape_debug());
        let mut found = agentic_diag::Diagnostic::error(code::BAD_CHARACTER, span, message);
        found = match self.bytes[self.at] {
            b'"' => found
                .because("this text has no end")
                .hint("close it with `\"`; a backslash needs a character after it"),
            b'-' => found.because("there is no minus").hint("numbers below zero come from inputs"),
            b'\'' => found.because("texts stand in double quotes").hint("write `\"…\"`"),
            _ => found.because("this character has no meaning here"),
        };
        Err(Box::new(found))
    }

    fn name(&mut self) {
        let rest = &self.bytes[self.at..];
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let length = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        let symbol = self.symbols.intern(&self.text[self.at..self.at + length]);
        let kind =
            KEYWORDS.get(symbol.0 as usize).map_or(AgentTokenKind::Name, |(_, keyword)| *keyword);
        self.push(kind, symbol, length);
    }

    fn number(&mut self) -> PhaseResult<()> {
        let digits = |from: usize| {
            let rest = &self.bytes[from.min(self.bytes.len())..];
            rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len())
        };
        let mut length = digits(self.at);
        if self.bytes.get(self.at + length) == Some(&b'.') {
            let fraction = digits(self.at + length + 1);
            length += if fraction > 0 { fraction + 1 } else { 0 };
        }
        let lexeme = &self.text[self.at..self.at + length];
        if length >= SAFE_DIGITS && parse_literal(lexeme).is_none() {
            let span = Span::new(self.at, self.at + length);
            let message = format!(
                "the number is beyond every finite float, or has more than {DIGITS_MAX} digits"
            );
            return stop(code::NUMBER_TOO_LARGE, span, message);
        }
        let symbol = self.symbols.intern(lexeme);
        self.push(AgentTokenKind::Number, symbol, length);
        Ok(())
    }

    fn comment(&mut self) {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        self.comments.push(Span::new(self.at, self.at + length));
        self.at += length;
    }

    fn text_literal(&mut self) -> PhaseResult<()> {
        let start = self.at + 1;
        let mut end = start;
        let mut has_escapes = false;
        loop {
            match self.bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') if !matches!(self.bytes.get(end + 1), None | Some(b'\n')) => {
                    has_escapes = true;
                    end += 2;
                }
                None | Some(b'\\') => return self.bad_character(),
                Some(_) => end += 1,
            }
        }
        let body = &self.text[start..end];
        let symbol = match has_escapes {
            true => {
                let decoded = decode(body, start)?;
                self.symbols.intern(&decoded)
            }
            false => self.symbols.intern(body),
        };
        self.push(AgentTokenKind::Text, symbol, end + 1 - self.at);
        Ok(())
    }
}

/// Replaces the escapes of a literal's body, which stands at `start` in the source.
fn decode(body: &str, start: usize) -> PhaseResult<String> {
    let mut decoded = String::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = rest.find('\\') {
        decoded.push_str(&rest[..at]);
        let place = start + (body.len() - rest.len()) + at;
        let letter = rest[at + 1..].chars().next().expect("a backslash never ends a literal");
        rest = &rest[at + 1 + letter.len_utf8()..];
        match letter {
            'n' => decoded.push('\n'),
            't' => decoded.push('\t'),
            'r' => decoded.push('\r'),
            '0' => decoded.push('\0'),
            '\\' | '"' | '\'' => decoded.push(letter),
            'u' | 'U' => {
                let length = if letter == 'u' { 4 } else { 8 };
                decoded.push(code_point(rest, length, place)?);
                rest = &rest[length..];
            }
            _ => {
                let span = Span::new(place, place + 1 + letter.len_utf8());
                return stop(
                    code::BAD_ESCAPE,
                    span,
                    format!("there is no escape `\\{}`", letter.escape_debug()),
                );
            }
        }
    }
    decoded.push_str(rest);
    Ok(decoded)
}

/// Reads the code point of an escape from the text after its letter.
fn code_point(rest: &str, length: usize, place: usize) -> PhaseResult<char> {
    let digits: String = rest.chars().take(length).collect();
    let span = Span::new(place, place + 2 + digits.len());
    if digits.chars().count() < length {
        let message = format!("this escape needs {length} digits");
        return stop(code::SHORT_ESCAPE, span, message);
    }
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let message = format!("`{}` are not {length} hexadecimal digits", digits.escape_debug());
        return stop(code::BAD_ESCAPE_DIGIT, span, message);
    }
    let number = u32::from_str_radix(&digits, 16).expect("eight hexadecimal digits fit 32 bits");
    match char::from_u32(number) {
        Some(character) => Ok(character),
        None => stop(code::BAD_CODE_POINT, span, format!("`{digits}` is not a code point")),
    }
}
