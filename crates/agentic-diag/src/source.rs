//! Source texts and places in them.

use std::ops::Range;

/// A half-open range of bytes in a source text, on character boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A line and a column, both from 1; columns count Unicode scalar values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineColumn {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

/// A named text, ready to answer where a byte stands. A byte-order mark at the start takes up no
/// column.
#[derive(Debug, Clone)]
pub struct SourceText {
    name: String,
    text: String,
    line_starts: Vec<usize>,
}

impl Span {
    /// Makes a span; an end before the start becomes the start.
    pub fn new(start: usize, end: usize) -> Span {
        Span { start, end: end.max(start) }
    }

    /// Returns the smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

impl SourceText {
    /// Takes a text under the name that people know it by.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> SourceText {
        let text = text.into();
        let after_breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let line_starts = std::iter::once(0).chain(after_breaks.map(|(at, _)| at + 1)).collect();
        SourceText { name: name.into(), text, line_starts }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the bytes of the line that a byte stands in, without its break; one past the end of
    /// the text is allowed.
    pub(crate) fn line_at(&self, at: usize) -> Range<usize> {
        let line = self.line_starts.partition_point(|start| *start <= at);
        let start = self.line_starts[line - 1];
        let end = self.line_starts.get(line).map_or(self.text.len(), |next| next - 1);
        start..end
    }

    /// Finds line and column of a byte; one past the end is allowed.
    pub fn position(&self, at: usize) -> LineColumn {
        let at = at.min(self.text.len());
        let line = self.line_starts.partition_point(|start| *start <= at);
        let start = self.line_starts[line - 1];
        let before = self.text.get(start..at).unwrap_or("");
        let mark = usize::from(start == 0 && before.starts_with('\u{feff}'));
        LineColumn { line, column: before.chars().count() - mark + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, at: usize, line: usize, column: usize) {
        assert_eq!(
            SourceText::new("t", text).position(at),
            LineColumn { line, column },
            "{text:?} {at}"
        );
    }

    #[test]
    fn positions_count_characters_from_one() {
        check("", 0, 1, 1);
        check("ab\ncd", 4, 2, 2);
        check("é x", 3, 1, 3);
        check("\u{feff}ab", 3, 1, 1);
        check("a\n", 2, 2, 1);
    }
}
