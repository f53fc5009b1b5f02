//! Reading what stands beside a name: separators, quotation marks, values.
//!
//! Ends of values are remembered while the next value lies in the same stretch, so that a text of
//! nothing but names costs what its bytes cost.

use crate::steps;
use crate::words::is_wordlike;

/// How many backslashes may stand before a quotation mark.
const ESCAPES_MAX: usize = 8;
/// How many blanks may stand before a separator or a value.
const BLANKS_MAX: usize = 60;

/// How much longer the word may be of which a secret is the beginning.
const WORD_BYTES_MAX: usize = 64;
/// How long a text in threefold quotation marks may be that is looked at.
const BLOCK_BYTES_MAX: usize = 2048;
/// Marks of Chinese and Japanese sentences, before which a value without quotation marks ends.
const WIDE_MARKS: [&str; 8] = ["，", "。", "；", "、", "）", "」", "！", "？"];

/// A value in its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FoundValue {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) is_quoted: bool,
}

/// Where the last values ended.
#[derive(Debug, Default)]
pub(crate) struct ValueEnds {
    bare: Stretch,
    query: Stretch,
    /// For `"`, `'` and `` ` ``.
    quoted: [Stretch; 3],
}

/// From where to where no value ends.
#[derive(Debug, Clone, Copy, Default)]
struct Stretch {
    from: usize,
    end: usize,
    escapes: usize,
}

impl Stretch {
    fn covers(&self, at: usize) -> bool {
        (self.from..self.end).contains(&at)
    }
}

impl ValueEnds {
    /// Returns where the value in quotation marks ends that begins at `start`.
    fn quoted(&mut self, text: &[u8], start: usize, quote: Quote) -> Option<usize> {
        let slot = &mut self.quoted[quote.slot()];
        if slot.covers(start) && slot.escapes == quote.escapes {
            return closes(text, slot.end, quote).then_some(slot.end);
        }
        let mut at = start;
        while at < text.len() {
            let byte = text[at];
            if byte == b'\n' && quote.mark != b'`' || closes(text, at, quote) {
                break;
            }
            at += 1;
        }
        steps::count(at - start);
        *slot = Stretch { from: start, end: at, escapes: quote.escapes };
        closes(text, at, quote).then_some(at)
    }

    /// Returns where the value without marks ends that begins at `start`.
    pub(crate) fn bare(&mut self, text: &[u8], start: usize) -> usize {
        if !self.bare.covers(start) {
            self.bare = Stretch { from: start, end: end(text, start, ends_bare), escapes: 0 };
        }
        self.bare.end
    }

    /// Returns where the value in the query of an address ends that begins at `start`.
    pub(crate) fn query(&mut self, text: &[u8], start: usize) -> usize {
        if !self.query.covers(start) {
            self.query = Stretch { from: start, end: end(text, start, ends_query), escapes: 0 };
        }
        self.query.end
    }

    /// Returns the value at `at`, behind blanks, with or without quotation marks.
    pub(crate) fn value(&mut self, text: &[u8], at: usize) -> Option<FoundValue> {
        let at = skip_blanks(text, at);
        if let Some(quote) = Quote::at(text, at) {
            let start = at + quote.len();
            if quote.is_threefold(text, at) {
                return block(text, at + 3 * quote.len(), quote);
            }
            if let Some(end) = self.quoted(text, start, quote) {
                return (start < end).then_some(FoundValue { start, end, is_quoted: true });
            }
            let end = self.bare(text, start);
            return (start < end).then_some(FoundValue { start, end, is_quoted: false });
        }
        let end = self.bare(text, at);
        (at < end).then_some(FoundValue { start: at, end, is_quoted: false })
    }
}

/// A quotation mark, with the backslashes before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quote {
    mark: u8,
    escapes: usize,
}

impl Quote {
    /// Returns the quotation mark at a place.
    pub(crate) fn at(text: &[u8], at: usize) -> Option<Quote> {
        let rest = &text[at..];
        let escapes = rest.iter().take(ESCAPES_MAX).take_while(|byte| **byte == b'\\').count();
        let mark = *rest.get(escapes)?;
        matches!(mark, b'"' | b'\'' | b'`').then_some(Quote { mark, escapes })
    }

    /// Returns how many bytes it has.
    pub(crate) fn len(self) -> usize {
        self.escapes + 1
    }

    /// Tells whether the same mark stands there three times.
    fn is_threefold(self, text: &[u8], at: usize) -> bool {
        let is_same = |at| text.get(at..).and_then(|_| Quote::at(text, at)) == Some(self);
        is_same(at) && is_same(at + self.len()) && is_same(at + 2 * self.len())
    }

    fn slot(self) -> usize {
        match self.mark {
            b'"' => 0,
            b'\'' => 1,
            _ => 2,
        }
    }
}

/// Returns what stands in threefold quotation marks: a line, or several of one word each.
fn block(text: &[u8], start: usize, quote: Quote) -> Option<FoundValue> {
    let most = text.len().min(start + BLOCK_BYTES_MAX);
    let end = (start..most).find(|at| quote.is_threefold(text, *at));
    steps::count(end.unwrap_or(most) - start);
    let content = &text[start..end?];
    let start = start + content.len() - content.trim_ascii_start().len();
    let end = start + content.trim_ascii().len();
    let has = |sign: u8| text[start..end].contains(&sign);
    let is_prose = has(b'\n') && has(b' ') || memchr::memmem::find(content, b"://").is_some();
    (start < end && !is_prose).then_some(FoundValue { start, end, is_quoted: true })
}

/// Tells whether a value ends at `at` because a mark closes it that stands no deeper than its own.
fn closes(text: &[u8], at: usize, quote: Quote) -> bool {
    let found = Quote::at(text, at);
    found.is_some_and(|found| {
        let before = at.checked_sub(1).map(|at| text[at]);
        found.mark == quote.mark && found.escapes <= quote.escapes && before != Some(b'\\')
    })
}

/// Returns the first place from `start` on where a value ends.
fn end(text: &[u8], start: usize, ends: fn(&[u8], usize) -> bool) -> usize {
    let end = (start..text.len()).find(|at| ends(text, *at)).unwrap_or(text.len());
    steps::count(end.saturating_sub(start));
    end
}

/// Tells whether a value without marks ends before this byte.
fn ends_bare(text: &[u8], at: usize) -> bool {
    match text[at] {
        byte if byte.is_ascii_whitespace() || byte.is_ascii_control() => true,
        b'"' | b'\'' | b'`' | b';' | b')' | b']' | b'}' | b'<' | b'>' => true,
        b'\\' => matches!(
            text.get(at + 1),
            None | Some(b'n' | b'r' | b't' | b'"' | b'\'' | b'\\' | b'u')
        ),
        b',' | b'&' => is_next_field(&text[at + 1..]),
        0xe3 | 0xef => WIDE_MARKS.iter().any(|mark| text[at..].starts_with(mark.as_bytes())),
        _ => false,
    }
}

/// Tells whether a value in a query ends before this byte.
fn ends_query(text: &[u8], at: usize) -> bool {
    match text[at] {
        byte if byte.is_ascii_whitespace() || byte.is_ascii_control() => true,
        b'&' | b'#' | b'"' | b'\'' | b'`' | b'<' | b'>' | b')' | b'\\' | b';' | b'|' | b']'
        | b'}' => true,
        _ => false,
    }
}

/// Returns where the word ends of which a secret without quotation marks ends at `at`: it may have
/// brackets and semicolons, if what follows them is no word and no field.
pub(crate) fn word_end(text: &[u8], at: usize) -> usize {
    if !text.get(at).is_some_and(|byte| matches!(byte, b';' | b')' | b'}')) {
        return at;
    }
    let rest = &text[at + 1..text.len().min(at + WORD_BYTES_MAX)];
    let ends = |byte: &u8| {
        byte.is_ascii_whitespace() || b"\"'`\\<>|,[(".contains(byte) || !byte.is_ascii()
    };
    let len = rest.iter().position(ends).unwrap_or(rest.len());
    steps::count(len);
    let is_mark = |byte: &&u8| b".,;:)]}".contains(byte);
    let more = &rest[..len - rest[..len].iter().rev().take_while(is_mark).count()];
    let has_both = more.iter().any(u8::is_ascii_digit) && more.iter().any(u8::is_ascii_alphabetic);
    let is_field = more.iter().any(|byte| matches!(byte, b'=' | b':'));
    if has_both && !is_field && !is_wordlike(more) { at + 1 + more.len() } else { at }
}

/// Tells whether another field follows a comma: nothing, a blank, a mark, or a name and `=` or `:`.
fn is_next_field(rest: &[u8]) -> bool {
    const NAME_BYTES_MAX: usize = 40;
    let Some(first) = rest.first() else { return true };
    if first.is_ascii_whitespace() || matches!(first, b'"' | b'\'' | b'\\' | b'{' | b'}' | b')') {
        return true;
    }
    let name = rest.iter().take(NAME_BYTES_MAX);
    let len = name
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
        .count();
    len > 0 && matches!(rest.get(len), Some(b'=' | b':'))
}

/// Returns where the next line begins if this one ends at `at`; ends of lines may be escaped.
pub(crate) fn next_line(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let real = rest.strip_prefix(b"\r").unwrap_or(rest).strip_prefix(b"\n");
    let behind = real.or_else(|| {
        let slashes = rest.iter().take(ESCAPES_MAX).take_while(|byte| **byte == b'\\').count();
        let mark = &rest[..slashes];
        let behind = rest[slashes..].strip_prefix(b"r").and_then(|rest| rest.strip_prefix(mark));
        behind.unwrap_or(&rest[slashes..]).strip_prefix(b"n").filter(|_| slashes > 0)
    })?;
    Some(text.len() - behind.len())
}

/// Returns where blanks end that begin at `at`.
pub(crate) fn skip_blanks(text: &[u8], at: usize) -> usize {
    let rest = &text[at.min(text.len())..];
    at + rest.iter().take(BLANKS_MAX).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}
