//! Text to tokens, one at a time, so that the first error in the source is the one reported.

use agentic_diag::Span;

use crate::finding::{FindingKind, PipelineFinding};
use crate::token::{PipelineToken, PipelineTokenKind};

/// A comment and where it stands; only the formatter wants them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlacedComment {
    pub span: Span,
}

/// The rest of a source text.
pub(crate) struct PipelineLexer<'a> {
    text: &'a str,
    at: usize,
    comments: Vec<PlacedComment>,
}

impl<'a> PipelineLexer<'a> {
    pub fn new(text: &'a str) -> PipelineLexer<'a> {
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        PipelineLexer { text, at, comments: Vec::new() }
    }

    /// Takes the comments that were passed since the last call.
    pub fn take_comments(&mut self) -> Vec<PlacedComment> {
        std::mem::take(&mut self.comments)
    }

    /// Reads the next token; at the end, the end again and again.
    pub fn next(&mut self) -> Result<PipelineToken<'a>, PipelineFinding> {
        self.skip_blanks();
        let start = self.at;
        let rest = &self.text[start..];
        let Some(first) = rest.chars().next() else {
            return Ok(PipelineToken {
                kind: PipelineTokenKind::End,
                span: Span::new(start, start),
            });
        };
        let marks = [(">=>", PipelineTokenKind::Then), ("<*>", PipelineTokenKind::Beside)];
        if let Some((mark, kind)) = marks.into_iter().find(|(mark, _)| rest.starts_with(mark)) {
            return Ok(self.token(mark.len(), kind));
        }
        match first {
            '(' => Ok(self.token(1, PipelineTokenKind::Open)),
            ')' => Ok(self.token(1, PipelineTokenKind::Close)),
            '[' => Ok(self.token(1, PipelineTokenKind::ListOpen)),
            ']' => Ok(self.token(1, PipelineTokenKind::ListClose)),
            ':' => Ok(self.token(1, PipelineTokenKind::Colon)),
            ',' => Ok(self.token(1, PipelineTokenKind::Comma)),
            '"' if rest.starts_with("\"\"\"") => self.long_text(),
            '"' => self.string(),
            '0'..='9' => self.number(),
            '-' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => self.number(),
            'a'..='z' | 'A'..='Z' | '_' => {
                let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                Ok(self.token(length, PipelineTokenKind::Name(&rest[..length])))
            }
            other => {
                let span = Span::new(start, start + other.len_utf8());
                let message = format!("the character `{}` begins nothing", other.escape_debug());
                Err(PipelineFinding::new(FindingKind::UnexpectedChar, span, message)
                    .because("not part of the language"))
            }
        }
    }

    fn token(&mut self, length: usize, kind: PipelineTokenKind<'a>) -> PipelineToken<'a> {
        let span = Span::new(self.at, self.at + length);
        self.at = span.end;
        PipelineToken { kind, span }
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let is_blank = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n');
            self.at += rest.len() - rest.trim_start_matches(is_blank).len();
            let rest = &self.text[self.at..];
            if !rest.starts_with("//") {
                return;
            }
            let length = rest.find('\n').unwrap_or(rest.len());
            self.comments.push(PlacedComment { span: Span::new(self.at, self.at + length) });
            self.at += length;
        }
    }

    fn unterminated(&self, start: usize, mark: &str) -> PipelineFinding {
        let span = Span::new(start, start + mark.len());
        PipelineFinding::new(FindingKind::UnterminatedString, span, "a string without an end")
            .because("begins here")
            .hint(match mark {
                "\"" => "close it with `\"` on the same line, or use `\"\"\"` for several lines",
                _ => "close it with `\"\"\"`",
            })
    }

    fn string(&mut self) -> Result<PipelineToken<'a>, PipelineFinding> {
        let start = self.at;
        let mut value = String::new();
        let mut at = start + 1;
        loop {
            let rest = &self.text[at..];
            let Some(stop) = rest.find(['"', '\\', '\n']) else {
                return Err(self.unterminated(start, "\""));
            };
            value.push_str(&rest[..stop]);
            at += stop;
            match rest.as_bytes()[stop] {
                b'"' => return Ok(self.token(at + 1 - start, PipelineTokenKind::Text(value))),
                b'\\' if at + 1 < self.text.len() => {
                    let (c, length) = self.escape(at)?;
                    value.push(c);
                    at += length;
                }
                _ => return Err(self.unterminated(start, "\"")),
            }
        }
    }

    /// Reads the escape at a backslash; returns its character and its length.
    fn escape(&self, at: usize) -> Result<(char, usize), PipelineFinding> {
        let rest = &self.text[at + 1..];
        let c = rest.chars().next().expect("a character follows the backslash");
        let plain = match c {
            '"' | '\\' => Some(c),
            'n' => Some('\n'),
            't' => Some('\t'),
            'r' => Some('\r'),
            _ => None,
        };
        if let Some(plain) = plain {
            return Ok((plain, 2));
        }
        let unicode = rest.strip_prefix("u{").and_then(|rest| {
            let digits = &rest[..rest.find('}')?];
            let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            let code = (1..=6).contains(&digits.len()) && is_hex;
            let code = code.then(|| u32::from_str_radix(digits, 16).ok()).flatten()?;
            Some((char::from_u32(code)?, digits.len() + 4))
        });
        unicode.ok_or_else(|| {
            let span = Span::new(at, at + 1 + c.len_utf8());
            PipelineFinding::new(FindingKind::BadEscape, span, "this escape does not exist")
                .because("not an escape")
                .hint("write `\\\"`, `\\\\`, `\\n`, `\\t`, `\\r` or `\\u{1F600}`")
        })
    }

    fn long_text(&mut self) -> Result<PipelineToken<'a>, PipelineFinding> {
        let mark = "\"\"\"";
        let start = self.at;
        let inner = &self.text[start + mark.len()..];
        let Some(length) = inner.find(mark) else { return Err(self.unterminated(start, mark)) };
        let value = inner[..length].replace("\r\n", "\n");
        let value = value.strip_prefix('\n').map(str::to_owned).unwrap_or(value);
        Ok(self.token(length + 2 * mark.len(), PipelineTokenKind::Text(value)))
    }

    fn number(&mut self) -> Result<PipelineToken<'a>, PipelineFinding> {
        let rest = &self.text[self.at..];
        let scan = scan_number(rest);
        let digits = rest[..scan.length].trim_start_matches('-');
        let leading_zero =
            digits.len() > 1 && digits.starts_with('0') && digits.as_bytes()[1].is_ascii_digit();
        let is_glued = |c: char| c.is_alphanumeric() || c == '.' || c == '_';
        let glued = rest[scan.length..].find(|c| !is_glued(c));
        let glued = glued.unwrap_or(rest.len() - scan.length);
        let text = &rest[..scan.length];
        let kind = match scan.form {
            NumberForm::Whole => text.parse().ok().map(PipelineTokenKind::Int),
            NumberForm::Fraction => {
                let number = text.parse().ok().filter(|number: &f64| number.is_finite());
                number.map(PipelineTokenKind::Float)
            }
        };
        let reason = match &kind {
            _ if leading_zero => "a number has no leading zeros",
            _ if glued > 0 => "a number ends before the next letter, digit or dot",
            None => "the number does not fit 64 bits",
            Some(_) => "",
        };
        match kind.filter(|_| reason.is_empty()) {
            Some(kind) => Ok(self.token(scan.length, kind)),
            None => {
                let span = Span::new(self.at, self.at + scan.length + glued);
                Err(PipelineFinding::new(FindingKind::BadNumber, span, "not a number")
                    .because(reason))
            }
        }
    }
}

/// Whether a number is written as a whole one.
enum NumberForm {
    Whole,
    Fraction,
}

/// The longest beginning of a text that looks like a number.
struct NumberScan {
    length: usize,
    form: NumberForm,
}

fn scan_number(text: &str) -> NumberScan {
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let mut length = digits(usize::from(bytes[0] == b'-'));
    let mut form = NumberForm::Whole;
    if bytes.get(length) == Some(&b'.') && digits(length + 1) > length + 1 {
        length = digits(length + 1);
        form = NumberForm::Fraction;
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let first = length + 1 + sign;
        if digits(first) > first {
            length = digits(first);
            form = NumberForm::Fraction;
        }
    }
    NumberScan { length, form }
}
