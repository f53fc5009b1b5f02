//! Words in what is said about a source, which repeats names from it.

use std::borrow::Cow;

/// How long a word may be before only its beginning is said, in characters. Names of people and
/// paths of files stay whole.
const WORD_CHARS_MAX: usize = 200;
/// How much is said of one that is longer, in characters.
const WORD_CHARS_SAID: usize = 60;

/// Cuts words that nobody could read: a name may be as long as its file.
pub(crate) fn clipped(text: String) -> String {
    if text.len() <= WORD_CHARS_MAX {
        return text;
    }
    let word = |word| match cut(word) {
        Some(beginning) => Cow::Owned(format!("{beginning}…{}", end_of(word))),
        None => Cow::Borrowed(word),
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Returns the beginning of a word that is too long.
fn cut(word: &str) -> Option<&str> {
    word.char_indices().nth(WORD_CHARS_MAX)?;
    let (at, _) = word.char_indices().nth(WORD_CHARS_SAID)?;
    Some(&word[..at])
}

/// Returns the quotes and stops that a word ends with.
fn end_of(word: &str) -> &str {
    let name = word.trim_end_matches(|letter: char| letter.is_ascii_punctuation());
    &word[name.len().max(word.len().saturating_sub(2))..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_nobody_could_read_is_said_in_part() {
        let check = |given: String, wanted: String| assert_eq!(clipped(given), wanted);
        check("there is no `x`".to_owned(), "there is no `x`".to_owned());
        let path = format!("no file {} there", "/a".repeat(WORD_CHARS_MAX / 2));
        check(path.clone(), path);
        let name = "ä".repeat(200_000);
        let said = "ä".repeat(WORD_CHARS_SAID - 1);
        check(
            format!("there is no `{name}`; see `{name}`."),
            format!("there is no `{said}…`; see `{said}…`."),
        );
    }
}
