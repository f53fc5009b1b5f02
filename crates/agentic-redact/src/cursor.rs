//! Reading what stands beside a name: separators, quotation marks, values.
//!
//! Ends of values are remembered while the next value lies in the same stretch, so that a text of
//! nothing but names costs what its bytes cost.

use crate::steps;

/// How many backslashes may stand before a quotation mark.
const ESCAPES_MAX: usize = 8;
/// How many blanks may stand before a separator or a value.
const BLANKS_MAX: usize = 60;

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

    fn slot(self) -> usize {
        match self.mark {
            b'"' => 0,
            b'\'' => 1,
            _ => 2,
        }
    }
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

/// Returns where blanks end that begin at `at`.
pub(crate) fn skip_blanks(text: &[u8], at: usize) -> usize {
    let rest = &text[at.min(text.len())..];
    at + rest.iter().take(BLANKS_MAX).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}
