//! What a person types: a text of some lines, with a place in it.

use agentic_api::view::visible_line;

use crate::key::UiKey;
use crate::line::text_columns;

/// How much can be typed or pasted, in bytes.
const FIELD_BYTES_MAX: usize = 256 << 10;

/// A text that is being typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextField {
    text: String,
    /// In bytes, between two characters.
    at: usize,
}

/// A field as it is shown: its lines, and where the next character goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownField {
    /// The lines; nothing in them hides or steers.
    pub lines: Vec<String>,
    /// The line of the place.
    pub row: usize,
    /// Its column.
    pub column: usize,
}

impl TextField {
    /// Begins with a text, behind its end.
    pub fn holding(text: &str) -> TextField {
        TextField { text: text.to_owned(), at: text.len() }
    }

    /// Returns what was typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Takes a key; says whether it was one for a text.
    pub fn press(&mut self, key: UiKey) -> bool {
        match key {
            UiKey::Char(c) => self.insert(c.encode_utf8(&mut [0; 4])),
            UiKey::Enter => self.insert("\n"),
            UiKey::Backspace => {
                let from = self.before();
                self.text.replace_range(from..self.at, "");
                self.at = from;
            }
            UiKey::Delete => {
                let to = self.behind();
                self.text.replace_range(self.at..to, "");
            }
            UiKey::Left => self.at = self.before(),
            UiKey::Right => self.at = self.behind(),
            UiKey::Home => self.at = self.line_start(),
            UiKey::End => self.at = self.line_end(),
            UiKey::Up => self.go_up(),
            UiKey::Down => self.go_down(),
            UiKey::Send
            | UiKey::Escape
            | UiKey::Tab
            | UiKey::BackTab
            | UiKey::PageUp
            | UiKey::PageDown
            | UiKey::Quit
            | UiKey::Suspend
            | UiKey::Redraw => return false,
        }
        true
    }

    /// Puts text in, as it was pasted: line breaks of any sort are one.
    pub fn insert(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let text: String =
            text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
        if self.text.len() + text.len() <= FIELD_BYTES_MAX {
            self.text.insert_str(self.at, &text);
            self.at += text.len();
        }
    }

    /// Shows it.
    pub fn shown(&self) -> ShownField {
        let safe = |line: &str| visible_line(&line.replace('\t', " "));
        let before = &self.text[..self.at];
        let row = before.matches('\n').count();
        let column = text_columns(&safe(before.rsplit('\n').next().unwrap_or_default()));
        ShownField { lines: self.text.split('\n').map(safe).collect(), row, column }
    }

    fn before(&self) -> usize {
        self.text[..self.at].char_indices().next_back().map_or(0, |(at, _)| at)
    }

    fn behind(&self) -> usize {
        self.text[self.at..].chars().next().map_or(self.at, |c| self.at + c.len_utf8())
    }

    fn line_start(&self) -> usize {
        self.text[..self.at].rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        self.text[self.at..].find('\n').map_or(self.text.len(), |n| self.at + n)
    }

    fn go_up(&mut self) {
        let start = self.line_start();
        let n_chars = self.text[start..self.at].chars().count();
        if let Some(end) = start.checked_sub(1) {
            let above = self.text[..end].rfind('\n').map_or(0, |at| at + 1);
            self.at = nth_char(&self.text, above, end, n_chars);
        }
    }

    fn go_down(&mut self) {
        let n_chars = self.text[self.line_start()..self.at].chars().count();
        let end = self.line_end();
        if end < self.text.len() {
            let below = end + 1;
            let to = self.text[below..].find('\n').map_or(self.text.len(), |n| below + n);
            self.at = nth_char(&self.text, below, to, n_chars);
        }
    }
}

/// Finds a character of a line, or the line's end.
fn nth_char(text: &str, start: usize, end: usize, n: usize) -> usize {
    text[start..end].char_indices().nth(n).map_or(end, |(at, _)| start + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &[UiKey]) -> TextField {
        let mut field = TextField::default();
        keys.iter().for_each(|key| assert!(field.press(*key), "{key:?}"));
        field
    }

    #[test]
    fn text_is_typed_and_taken_back_anywhere() {
        use UiKey::{Backspace, Char, Delete, Down, End, Enter, Home, Left, Right, Up};
        let cases: [(&[UiKey], &str); 6] = [
            (&[Char('a'), Char('ü'), Left, Char('b')], "abü"),
            (&[Char('ü'), Char('b'), Left, Backspace, Backspace], "b"),
            (&[Char('a'), Char('b'), Home, Delete, Right, Char('c'), Delete], "bc"),
            (&[Char('a'), Char('b'), Enter, Char('c'), Up, Char('d')], "adb\nc"),
            (&[Char('a'), Enter, Char('b'), Char('c'), Up, End, Char('d'), Down], "ad\nbc"),
            (&[Up, Down, Left, Right, Backspace, Delete], ""),
        ];
        for (keys, expected) in cases {
            assert_eq!(typed(keys).text(), expected, "{keys:?}");
        }
    }

    #[test]
    fn what_is_pasted_cannot_steer() {
        let mut field = TextField::default();
        field.insert("a\r\nb\rc\u{1b}[2J\u{202e}");
        assert_eq!(field.text(), "a\nb\nc[2J\u{202e}");
        let shown = field.shown();
        assert_eq!(shown.lines, ["a", "b", "c[2J⟦202E⟧"]);
        assert_eq!((shown.row, shown.column), (2, 10));
        field.insert(&"x".repeat(FIELD_BYTES_MAX));
        assert_eq!(field.text().len(), "a\nb\nc[2J\u{202e}".len(), "there is a bound");
    }
}
