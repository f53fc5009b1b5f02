//! Text for people: what others wrote cannot steer the screen, and colours are our own.

use agentic_api::view::visible;

/// A colour that the verbs themselves choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// Of what to look at first.
    Bold,
    /// Of what stands back.
    Dim,
    /// Of what went wrong.
    Red,
    /// Of ids and warnings.
    Yellow,
    /// Of kinds and hints.
    Cyan,
}

impl Colour {
    fn number(self) -> &'static str {
        match self {
            Colour::Bold => "1",
            Colour::Dim => "2",
            Colour::Red => "1;31",
            Colour::Yellow => "33",
            Colour::Cyan => "36",
        }
    }
}

/// Text that is safe to look at. What goes into it is shown as [`visible`] shows it, so that nobody
/// but a verb can colour anything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text(String);

impl Text {
    /// Adds text of anybody.
    pub fn plain(mut self, text: &str) -> Text {
        self.0 += &visible(text);
        self
    }

    /// Adds text of anybody, in a colour.
    pub fn coloured(mut self, colour: Colour, text: &str) -> Text {
        self.0 += &format!("\u{1b}[{}m{}\u{1b}[0m", colour.number(), visible(text));
        self
    }

    /// Adds text that is made already.
    pub fn add(&mut self, text: &Text) {
        self.0 += &text.0;
    }

    /// Takes over what a renderer of ours made: its colours stay, and nothing else that steers.
    pub fn rendered(text: &str) -> Text {
        let mut made = Text::default();
        let mut pieces = text.split("\u{1b}[");
        made = made.plain(pieces.next().unwrap_or_default());
        for piece in pieces {
            let n_digits = piece.bytes().take_while(|b| b.is_ascii_digit() || *b == b';').count();
            let (digits, rest) = piece.split_at(n_digits);
            made = match rest.strip_prefix('m') {
                Some(rest) => {
                    made.0 += &format!("\u{1b}[{digits}m");
                    made.plain(rest)
                }
                None => made.plain(&format!("\u{1b}[{piece}")),
            };
        }
        made
    }

    /// Returns it as it goes to the terminal.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text::default().plain(text)
    }
}

#[cfg(test)]
mod tests {
    use super::{Colour, Text};

    #[test]
    fn only_a_verb_colours() {
        let text = Text::default().coloured(Colour::Yellow, "a\u{1b}[8m").plain("\u{202e}b\n");
        assert_eq!(text.as_str(), "\u{1b}[33ma⟦001B⟧[8m\u{1b}[0m⟦202E⟧b\n");
    }

    #[test]
    fn of_what_is_rendered_colours_stay_alone() {
        let cases = [
            ("plain", "plain"),
            ("\u{1b}[1m\u{1b}[31mred\u{1b}[0m", "\u{1b}[1m\u{1b}[31mred\u{1b}[0m"),
            ("a\u{1b}[2Jb", "a⟦001B⟧[2Jb"),
            ("\u{1b}[", "⟦001B⟧["),
            ("\u{1b}]0;x\u{7}\u{1b}[0m", "⟦001B⟧]0;x⟦0007⟧\u{1b}[0m"),
        ];
        for (text, expected) in cases {
            assert_eq!(Text::rendered(text).as_str(), expected, "{text:?}");
        }
    }
}
