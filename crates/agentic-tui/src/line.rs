//! Lines as they are shown. Text of others is made safe where it becomes part of one, and only here can
//! a line be made.

use agentic_api::view::visible_line;
use ratatui::text::Span;

/// How wide a tabulator is shown.
const TAB: &str = "    ";

/// How a piece of a line stands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    /// Not at all.
    #[default]
    Plain,
    /// What to look at first.
    Strong,
    /// What stands back.
    Faint,
    /// Ids.
    Id,
    /// Kinds, states and hints.
    Kind,
    /// What wants attention.
    Alarm,
    /// A line that came.
    Added,
    /// A line that went.
    Removed,
}

/// Where a line leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineTarget {
    /// To a commit.
    Commit(String),
    /// To a session.
    Session(String),
    /// To what is pending of an agent.
    PendingTrace(String),
    /// To a hold that is open, by its request.
    Hold(String),
}

/// A piece of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinePiece {
    /// How it stands out.
    pub tone: Tone,
    /// What it says; nothing in it hides or steers.
    pub text: String,
}

/// A line of a pane.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PaneLine {
    pieces: Vec<LinePiece>,
    target: Option<LineTarget>,
}

impl PaneLine {
    /// Makes a line of anybody's text.
    pub fn of(text: &str) -> PaneLine {
        PaneLine::default().say(Tone::Plain, text)
    }

    /// Makes lines of anybody's text, one for each of its own.
    pub fn many(tone: Tone, text: &str) -> impl Iterator<Item = PaneLine> {
        let text = text.strip_suffix('\n').unwrap_or(text);
        text.split('\n').map(move |line| PaneLine::default().say(tone, line))
    }

    /// Adds anybody's text.
    #[must_use]
    pub fn say(mut self, tone: Tone, text: &str) -> PaneLine {
        if !text.is_empty() {
            let text = visible_line(&text.replace('\t', TAB));
            self.pieces.push(LinePiece { tone, text });
        }
        self
    }

    /// Lets the line lead somewhere.
    #[must_use]
    pub fn to(self, target: LineTarget) -> PaneLine {
        PaneLine { target: Some(target), ..self }
    }

    /// Returns where it leads.
    pub fn target(&self) -> Option<&LineTarget> {
        self.target.as_ref()
    }

    /// Returns its pieces.
    pub fn pieces(&self) -> &[LinePiece] {
        &self.pieces
    }

    /// Cuts it into rows that are no wider than so many columns. An empty line is a row.
    pub fn rows(&self, width: usize) -> Vec<Vec<LinePiece>> {
        let mut rows = vec![Vec::new()];
        let mut used = 0;
        for piece in &self.pieces {
            let mut begun = String::new();
            for c in piece.text.chars() {
                let wide = columns(c);
                if used + wide > width && used > 0 {
                    push(&mut rows, piece.tone, &mut begun);
                    rows.push(Vec::new());
                    used = 0;
                }
                begun.push(c);
                used += wide;
            }
            push(&mut rows, piece.tone, &mut begun);
        }
        rows
    }

    /// Counts the rows that it takes.
    pub fn n_rows(&self, width: usize) -> usize {
        self.rows(width).len()
    }
}

fn push(rows: &mut [Vec<LinePiece>], tone: Tone, text: &mut String) {
    if let Some(row) = rows.last_mut().filter(|_| !text.is_empty()) {
        row.push(LinePiece { tone, text: std::mem::take(text) });
    }
}

/// Returns how many columns a character takes.
pub fn columns(c: char) -> usize {
    Span::raw(&*c.encode_utf8(&mut [0; 4])).width()
}

/// Returns how many columns a text takes.
pub fn text_columns(text: &str) -> usize {
    text.chars().map(columns).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &PaneLine, width: usize) -> Vec<String> {
        let row = |row: Vec<LinePiece>| row.into_iter().map(|piece| piece.text).collect();
        line.rows(width).into_iter().map(row).collect()
    }

    #[test]
    fn nothing_in_a_line_steers_or_hides() {
        let line = PaneLine::of("a\u{1b}[2J\r\u{202e}b\tc");
        assert_eq!(texts(&line, 99), ["a⟦001B⟧[2J⟦000D⟧⟦202E⟧b    c"]);
        let lines: Vec<PaneLine> = PaneLine::many(Tone::Plain, "one\n\u{9b}two\n").collect();
        assert_eq!(lines, [PaneLine::of("one"), PaneLine::of("\u{9b}two")]);
        assert_eq!(texts(&lines[1], 99), ["⟦009B⟧two"]);
    }

    #[test]
    fn long_lines_become_rows_that_fit() {
        let line = PaneLine::of("abcde").say(Tone::Id, "fg");
        assert_eq!(texts(&line, 3), ["abc", "def", "g"]);
        assert_eq!(texts(&PaneLine::of("日本語"), 3), ["日", "本", "語"]);
        assert_eq!(texts(&PaneLine::default(), 3), [""]);
        // Nothing is wider than a pane without columns, and nothing goes on for ever.
        assert_eq!(texts(&PaneLine::of("日本"), 0), ["日", "本"]);
    }
}
