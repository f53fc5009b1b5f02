//! Text of others, made safe to look at: nothing in it hides, turns around or steers.

use agentic_model::hidden::is_hidden;

/// Shows every character that a screen would not: controls, and those that turn text around, take no
/// room or carry hidden data, as `⟦202E⟧`. Line breaks and tabs stay.
pub fn visible(text: &str) -> String {
    shown(text, |c| c == '\n' || c == '\t')
}

/// Does the same for what must stay on one line.
pub fn visible_line(text: &str) -> String {
    shown(text, |_| false)
}

fn shown(text: &str, stays: fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    // Most text hides nothing, and is taken over in one piece.
    while let Some((at, c)) = rest.char_indices().find(|(_, c)| is_hidden(*c) && !stays(*c)) {
        shown.push_str(&rest[..at]);
        shown.push_str(&format!("⟦{:04X}⟧", u32::from(c)));
        rest = &rest[at + c.len_utf8()..];
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::{visible, visible_line};

    #[test]
    fn what_hides_is_shown() {
        let cases = [
            ("plain ünïcode 😀", "plain ünïcode 😀"),
            ("a\u{202e}b\u{2066}c", "a⟦202E⟧b⟦2066⟧c"),
            ("a\u{200b}b\u{feff}", "a⟦200B⟧b⟦FEFF⟧"),
            ("\u{e0041}\u{e0100}", "⟦E0041⟧⟦E0100⟧"),
            ("\u{1b}[2K\r\u{9b}x\u{7f}", "⟦001B⟧[2K⟦000D⟧⟦009B⟧x⟦007F⟧"),
            ("two\nlines\t", "two\nlines\t"),
        ];
        for (text, expected) in cases {
            assert_eq!(visible(text), expected, "{text:?}");
        }
        assert_eq!(visible_line("two\nlines"), "two⟦000A⟧lines");
    }
}
