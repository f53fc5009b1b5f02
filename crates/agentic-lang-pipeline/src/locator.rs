//! Lines and columns of many places at once. Finding one costs a short scan, however long the line
//! is, so that a file of one line with a hundred thousand findings stays cheap.

use agentic_diag::Span;
use agentic_plan::Place;

/// How many bytes lie between two checkpoints.
const STRIDE_BYTES: usize = 64;

/// A text with checkpoints.
pub(crate) struct Locator<'a> {
    text: &'a str,
    checkpoints: Vec<LineCheckpoint>,
}

/// A place whose line and column are known.
#[derive(Clone, Copy)]
struct LineCheckpoint {
    at: usize,
    line: u32,
    column: u32,
}

impl LineCheckpoint {
    fn step(&mut self, c: char) {
        let is_mark = self.at == 0 && c == '\u{feff}';
        self.at += c.len_utf8();
        match c {
            '\n' => (self.line, self.column) = (self.line.saturating_add(1), 1),
            _ if is_mark => {}
            _ => self.column = self.column.saturating_add(1),
        }
    }
}

impl<'a> Locator<'a> {
    pub fn new(text: &'a str) -> Locator<'a> {
        let mut here = LineCheckpoint { at: 0, line: 1, column: 1 };
        let mut checkpoints = vec![here];
        let mut next = STRIDE_BYTES;
        for c in text.chars() {
            here.step(c);
            if here.at >= next {
                checkpoints.push(here);
                next = here.at + STRIDE_BYTES;
            }
        }
        Locator { text, checkpoints }
    }

    /// Returns lines and columns of a span; one past the end is allowed.
    pub fn place(&self, span: Span) -> Place {
        let start = self.walk(self.before(span.start), span.start);
        // Most spans are shorter than what lies between two checkpoints.
        let near = self.before(span.end);
        let end = self.walk(if near.at < start.at { start } else { near }, span.end);
        Place { line: start.line, column: start.column, end_line: end.line, end_column: end.column }
    }

    /// Returns the last checkpoint before a byte, or at it.
    fn before(&self, at: usize) -> LineCheckpoint {
        let index = self.checkpoints.partition_point(|checkpoint| checkpoint.at <= at);
        self.checkpoints[index - 1]
    }

    fn walk(&self, mut here: LineCheckpoint, at: usize) -> LineCheckpoint {
        for c in self.text[here.at..].chars() {
            if here.at >= at {
                break;
            }
            here.step(c);
        }
        here
    }
}

#[cfg(test)]
mod tests {
    use agentic_diag::SourceText;

    use super::*;

    #[test]
    fn positions_agree_with_the_slow_way() {
        let text = format!("\u{feff}a\tb\r\né{}\n{}x\n", "ü".repeat(3_000), "y\n".repeat(2_000));
        let (locator, source) = (Locator::new(&text), SourceText::new("t", text.as_str()));
        for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)).step_by(7) {
            for length in [0, 1, 5, 63, 64, 200] {
                let end = (at..=(at + length).min(text.len())).rev();
                let end = end.into_iter().find(|end| text.is_char_boundary(*end)).unwrap_or(at);
                let (start, slow) = (source.position(at), source.position(end));
                let place = locator.place(Span { start: at, end });
                let found = [place.line, place.column, place.end_line, place.end_column];
                let wanted = [start.line, start.column, slow.line, slow.column];
                assert_eq!(found.map(|number| number as usize), wanted, "{at}..{end}");
            }
        }
    }
}
