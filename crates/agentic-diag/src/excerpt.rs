//! Pieces of long lines.
//!
//! A line that a program wrote may have a megabyte. Of such a line only what stands around a place
//! is shown, whatever the renderer makes of widths: the piece is bounded in characters.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Origin, Snippet};

use crate::source::{LineColumn, SourceText};

/// The longest line that is shown whole, in bytes.
pub(crate) const LINE_BYTES_MAX: usize = 400;
/// How many characters before a place are shown of a long line.
const CHARS_BEFORE_MAX: usize = 40;
/// How many characters from a place on are shown of a long line.
const CHARS_FROM_MAX: usize = 80;
/// What stands for the rest of a line.
const REST: &str = "…";

/// A piece of one line, and the place in it.
pub(crate) struct Excerpt {
    text: String,
    place: Range<usize>,
    position: LineColumn,
}

impl Excerpt {
    /// Cuts out what stands around a place, which lies on character boundaries. A place that goes
    /// on in further lines ends with its first.
    pub fn of(source: &SourceText, place: &Range<usize>) -> Excerpt {
        let line = source.line_at(place.start);
        let all = source.text();
        let before = all[line.start..place.start].char_indices().rev().take(CHARS_BEFORE_MAX);
        let from = before.last().map_or(place.start, |(at, _)| line.start + at);
        let after = all[place.start..line.end].char_indices().nth(CHARS_FROM_MAX);
        let to = after.map_or(line.end, |(at, _)| place.start + at);
        let head = if from > line.start { REST } else { "" };
        let tail = if to < line.end { REST } else { "" };
        let start = head.len() + place.start - from;
        let end = start + place.end.min(to).saturating_sub(place.start);
        Excerpt {
            text: format!("{head}{}{tail}", &all[from..to]),
            place: start..end,
            position: source.position(place.start),
        }
    }

    /// Returns the line of the header: where in the whole source the piece stands.
    pub fn origin<'a>(&self, source: &'a SourceText) -> Origin<'a> {
        let LineColumn { line, column } = self.position;
        Origin::path(source.name()).line(line).char_column(column)
    }

    /// Returns the piece with the place marked in it, and what is to be said there.
    pub fn snippet<'a>(
        &'a self,
        kind: AnnotationKind,
        said: &'a str,
    ) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
        let mark = kind.span(self.place.clone());
        let mark = if said.is_empty() { mark } else { mark.label(said) };
        Snippet::source(self.text.as_str()).line_start(self.position.line).annotation(mark)
    }
}

/// Says whether a place touches a line that is too long to be shown whole.
pub(crate) fn is_long(source: &SourceText, place: &Range<usize>) -> bool {
    let mut at = place.start;
    loop {
        let line = source.line_at(at);
        if line.len() > LINE_BYTES_MAX {
            return true;
        }
        // The next line begins behind the break.
        at = line.end + 1;
        if at > place.end || at > source.text().len() {
            return false;
        }
    }
}
