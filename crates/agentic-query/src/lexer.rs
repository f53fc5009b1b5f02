//! From text to tokens. What cannot be read becomes a finding, and reading goes on behind it.

use agentic_diag::{Diagnostic, Span};
use agentic_model::Instant;

use crate::code;
use crate::token::{QueryToken, QueryTokenKind};

/// Punctuation, longer ones first.
const SIGNS: [&str; 22] = [
    ":-", "!=", "<=", ">=", "(", ")", "{", "}", ",", ":", "$", "?", "!", "=", "<", ">", "+", "-",
    "*", "/", "[", "]",
];
/// Units of durations, in milliseconds; `ms` before `m`.
const UNITS: [(&str, i64); 6] = [
    ("ms", 1),
    ("s", 1_000),
    ("m", 60_000),
    ("h", 3_600_000),
    ("d", 86_400_000),
    ("w", 604_800_000),
];

/// Reads one text.
pub(crate) struct QueryLexer<'a> {
    text: &'a str,
    at: usize,
    tokens: Vec<QueryToken>,
    findings: Vec<Diagnostic>,
}

/// Reads all tokens; the last one is the end.
pub(crate) fn lex(text: &str) -> (Vec<QueryToken>, Vec<Diagnostic>) {
    let mut lexer = QueryLexer { text, at: 0, tokens: Vec::new(), findings: Vec::new() };
    lexer.at = text.len() - text.trim_start_matches('\u{feff}').len();
    while lexer.skip_blanks() {
        lexer.token();
    }
    lexer.push(text.len(), QueryTokenKind::End);
    (lexer.tokens, lexer.findings)
}

impl<'a> QueryLexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn push(&mut self, start: usize, kind: QueryTokenKind) {
        self.tokens.push(QueryToken { kind, span: Span::new(start, self.at) });
    }

    fn complain(&mut self, code: &'static str, start: usize, said: &str, hint: &str) {
        if self.findings.len() < code::FINDINGS_MAX {
            let span = Span::new(start, self.at);
            self.findings.push(Diagnostic::error(code, span, said).hint(hint));
        }
    }

    /// Goes to the next token; says whether there is one.
    fn skip_blanks(&mut self) -> bool {
        loop {
            let rest = self.rest().trim_start();
            self.at = self.text.len() - rest.len();
            if !rest.starts_with("//") {
                return !rest.is_empty();
            }
            self.at += rest.find('\n').unwrap_or(rest.len());
        }
    }

    fn token(&mut self) {
        let start = self.at;
        let first = self.rest().chars().next().unwrap_or(' ');
        match first {
            'a'..='z' => self.word(),
            'A'..='Z' | '_' => {
                self.skip_while(|letter| letter.is_ascii_alphanumeric() || letter == '_');
                let name = self.text[start..self.at].to_owned();
                self.push(start, QueryTokenKind::Variable(name));
            }
            '0'..='9' => self.number(),
            '"' => self.quoted(),
            '#' => self.id(),
            '.' => self.stop(),
            _ => match self.sign() {
                Some(sign) => {
                    self.at += sign.len();
                    self.push(start, QueryTokenKind::Sign(sign));
                }
                None => {
                    self.at += first.len_utf8();
                    let said = format!("`{}` means nothing here", first.escape_default());
                    self.complain(code::BAD_CHARACTER, start, &said, "take it out");
                }
            },
        }
    }

    /// Finds the punctuation that stands here.
    fn sign(&self) -> Option<&'static str> {
        let rest = self.rest().as_bytes();
        SIGNS.into_iter().find(|sign| {
            let sign = sign.as_bytes();
            rest.first() == sign.first() && (sign.len() < 2 || rest.get(1) == sign.get(1))
        })
    }

    fn skip_while(&mut self, fits: impl Fn(char) -> bool) -> usize {
        let rest = self.rest();
        let length = rest.len() - rest.trim_start_matches(fits).len();
        self.at += length;
        length
    }

    /// Reads `[a-z][a-z0-9_]*(-[a-z0-9_]+)*`.
    fn word(&mut self) {
        let start = self.at;
        let fits = |letter: char| matches!(letter, 'a'..='z' | '0'..='9' | '_');
        self.skip_while(fits);
        while let Some(behind) = self.rest().strip_prefix('-') {
            if !behind.starts_with(fits) {
                break;
            }
            self.at += 1;
            self.skip_while(fits);
        }
        self.push(start, QueryTokenKind::Word(self.text[start..self.at].to_owned()));
    }

    fn number(&mut self) {
        let start = self.at;
        if self.instant() || self.duration() {
            return;
        }
        let digits = |letter: char| letter.is_ascii_digit();
        self.skip_while(digits);
        let mut is_whole = true;
        if self.rest().strip_prefix('.').is_some_and(|behind| behind.starts_with(digits)) {
            is_whole = false;
            self.at += 1;
            self.skip_while(digits);
        }
        if let Some(behind) = self.rest().strip_prefix(['e', 'E']) {
            let signed = behind.strip_prefix(['+', '-']).unwrap_or(behind);
            if signed.starts_with(digits) {
                is_whole = false;
                self.at = self.text.len() - signed.len();
                self.skip_while(digits);
            }
        }
        let text = &self.text[start..self.at];
        let kind = if is_whole {
            text.parse().ok().map(QueryTokenKind::Whole)
        } else {
            text.parse().ok().filter(|number: &f64| number.is_finite()).map(QueryTokenKind::Float)
        };
        if kind.is_none() {
            let hint = "whole numbers have 64 bits, others are finite";
            self.complain(code::BAD_NUMBER, start, "this number has no room", hint);
        }
        self.push(start, kind.unwrap_or(QueryTokenKind::Whole(0)));
    }

    /// Reads a date or an instant, if one stands here.
    fn instant(&mut self) -> bool {
        let (start, bytes) = (self.at, self.rest().as_bytes());
        let is_date = bytes.len() >= 10
            && bytes[..10].iter().enumerate().all(|(at, byte)| match at {
                4 | 7 => *byte == b'-',
                _ => byte.is_ascii_digit(),
            })
            && !bytes.get(10).is_some_and(u8::is_ascii_digit);
        if !is_date {
            return false;
        }
        self.at += 10;
        let has_time = bytes.get(10) == Some(&b'T');
        if has_time {
            self.at += 1;
            self.skip_while(|letter| letter.is_ascii_digit() || letter == ':');
            let is_digit = |letter: char| letter.is_ascii_digit();
            if self.rest().strip_prefix('.').is_some_and(|behind| behind.starts_with(is_digit)) {
                self.at += 1;
                self.skip_while(is_digit);
            }
            if self.rest().starts_with('Z') {
                self.at += 1;
            } else if self.rest().starts_with(['+', '-']) {
                self.at += 1;
                self.skip_while(|letter| letter.is_ascii_digit() || letter == ':');
            }
        }
        let text = &self.text[start..self.at];
        let full = if has_time { text.to_owned() } else { format!("{text}T00:00:00Z") };
        let parsed = Instant::parse(&full);
        if parsed.is_none() {
            let hint = "write `2026-05-31` or `2026-05-31T12:00:00Z`";
            self.complain(code::BAD_NUMBER, start, "there is no such instant", hint);
        }
        self.push(start, QueryTokenKind::Instant(parsed.map_or(0, Instant::millis)));
        true
    }

    /// Reads a duration such as `1h30m`, if one stands here.
    fn duration(&mut self) -> bool {
        let start = self.at;
        let mut total = Some(0_i64);
        loop {
            let digits_at = self.at;
            let n_digits = self.skip_while(|letter| letter.is_ascii_digit());
            let unit = UNITS.iter().find(|(unit, _)| self.rest().starts_with(unit));
            let (Some((unit, millis)), true) = (unit, n_digits > 0) else {
                self.at = digits_at;
                break;
            };
            let n: Option<i64> = self.text[digits_at..self.at].parse().ok();
            let part = n.and_then(|n| n.checked_mul(*millis));
            total = total.zip(part).and_then(|(total, part)| total.checked_add(part));
            self.at += unit.len();
        }
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        if self.at == start || self.rest().starts_with(is_part) {
            self.at = start;
            return false;
        }
        if total.is_none() {
            let hint = "durations are milliseconds of 64 bits";
            self.complain(code::BAD_NUMBER, start, "this duration has no room", hint);
        }
        self.push(start, QueryTokenKind::Duration(total.unwrap_or(0)));
        true
    }

    fn quoted(&mut self) {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let length = self.skip_while(|letter| letter != '"' && letter != '\\');
            text.push_str(&self.text[self.at - length..self.at]);
            if self.rest().is_empty() {
                let hint = "end it with a quotation mark";
                self.complain(code::BAD_TEXT, start, "this text does not end", hint);
                break;
            }
            if self.rest().starts_with('"') {
                self.at += 1;
                break;
            }
            text.extend(self.escape());
        }
        self.push(start, QueryTokenKind::Text(text));
    }

    fn escape(&mut self) -> Option<char> {
        let start = self.at;
        self.at += 1;
        let letter = self.rest().chars().next()?;
        self.at += letter.len_utf8();
        let code_point = || {
            let digits = self.text.get(self.at..self.at + 4)?;
            let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_hex.then(|| u32::from_str_radix(digits, 16).ok().and_then(char::from_u32))?
        };
        let meant = match letter {
            '"' | '\\' | '/' => Some(letter),
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            'u' => code_point(),
            _ => None,
        };
        if meant.is_none() {
            let hint = r#"there are \" \\ \/ \n \r \t and \u with four digits"#;
            self.complain(code::BAD_TEXT, start, "there is no such escape", hint);
        } else if letter == 'u' {
            self.at += 4;
        }
        meant
    }

    /// Reads `#` and an id, with `.` and the number of a request behind it.
    fn id(&mut self) {
        let start = self.at;
        self.at += 1;
        let length = self.skip_while(|letter| matches!(letter, 'a'..='z' | '0'..='9'));
        let is_hex = |letter: char| matches!(letter, 'a'..='f' | '0'..='9');
        if self.rest().strip_prefix('.').is_some_and(|behind| behind.starts_with(is_hex)) {
            self.at += 1;
            self.skip_while(is_hex);
        }
        if length == 0 {
            let hint = "write the first digits of an id, such as `#1a2b3c`";
            self.complain(code::BAD_CHARACTER, start, "no id stands behind `#`", hint);
        }
        self.push(start, QueryTokenKind::Id(self.text[start + 1..self.at].to_owned()));
    }

    /// A full stop ends a clause where a blank or the end follows.
    fn stop(&mut self) {
        let start = self.at;
        self.at += 1;
        if self.rest().is_empty() || self.rest().starts_with(char::is_whitespace) {
            self.push(start, QueryTokenKind::Stop);
        } else {
            let hint = "put a blank behind a full stop";
            self.complain(code::BAD_CHARACTER, start, "this full stop ends nothing", hint);
        }
    }
}
