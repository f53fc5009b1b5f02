//! How two texts differ, line by line, as git finds it.

use std::ops::Range;

use gix::diff::blob::{Algorithm, InternedInput, diff_with_slider_heuristics};

/// How many bytes are looked at to tell whether content is text.
const LOOK_BYTES: usize = 8_000;

/// Lines that went, and those that came in their place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineChange {
    /// The lines that went, counted from 0.
    pub old: Range<usize>,
    /// The lines that came.
    pub new: Range<usize>,
}

/// Splits content into its lines, each with what ends it.
pub fn split_lines(content: &[u8]) -> Vec<&[u8]> {
    content.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Tells whether git would take content for text.
pub fn is_text(content: &[u8]) -> bool {
    !content.iter().take(LOOK_BYTES).any(|byte| *byte == 0)
}

/// Lists where two texts differ, in order.
pub fn line_changes(old: &[&[u8]], new: &[&[u8]]) -> Vec<LineChange> {
    let mut input = InternedInput::default();
    input.reserve(count(old.len()), count(new.len()));
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    let found = diff_with_slider_heuristics(Algorithm::Myers, &input);
    let place = |range: Range<u32>| range.start as usize..range.end as usize;
    let change = |hunk: gix::diff::blob::Hunk| LineChange {
        old: place(hunk.before),
        new: place(hunk.after),
    };
    found.hunks().map(change).collect()
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::{is_text, line_changes, split_lines};

    #[test]
    fn lines_that_differ_are_found() {
        check("a\nb\nc\n", "a\nb\nc\n", &[]);
        check("a\nb\nc\n", "a\nx\nc\n", &[[1, 2, 1, 2]]);
        check("", "a\nb", &[[0, 0, 0, 2]]);
        check("a\n", "", &[[0, 1, 0, 0]]);
        check("a", "a\n", &[[0, 1, 0, 1]]);
        check("a\r\nb\r\n", "a\nb\r\n", &[[0, 1, 0, 1]]);
    }

    /// Checks where two texts differ: the lines that went, and those that came.
    fn check(old: &str, new: &str, expected: &[[usize; 4]]) {
        let (before, after) = (split_lines(old.as_bytes()), split_lines(new.as_bytes()));
        let found = line_changes(&before, &after).into_iter();
        let found: Vec<_> =
            found.map(|one| [one.old.start, one.old.end, one.new.start, one.new.end]).collect();
        assert_eq!(found, expected, "{old:?} and {new:?}");
    }

    #[test]
    fn content_with_zeros_is_no_text() {
        assert!(is_text(b"") && is_text("ünï".as_bytes()) && is_text(b"\xff"));
        assert!(!is_text(b"a\0b"));
    }
}
