//! Whether several words beside a name are a passphrase or a sentence.

use crate::measure::count_classes;
use crate::name::NameStrength;
use crate::value::{SECRET_BYTES_MIN, is_irregular};

/// Words in passphrases; more is prose.
const PHRASE_WORDS_MAX: usize = 12;
/// Digits of a number at the end of a passphrase; one alone counts something, as in `Step 2`.
const NUMBER_DIGITS_MIN: usize = 2;
/// What may stand behind the number at the end.
const NUMBER_SIGNS: &[u8] = b"!?#$*";
/// Words that make a sentence of what ends in a number, in lower case.
const SENTENCE_WORDS: [&str; 76] = [
    "a",
    "after",
    "an",
    "and",
    "are",
    "as",
    "at",
    "be",
    "before",
    "between",
    "by",
    "can",
    "cannot",
    "char",
    "character",
    "characters",
    "chars",
    "code",
    "column",
    "default",
    "digits",
    "enter",
    "error",
    "expected",
    "expires",
    "field",
    "for",
    "from",
    "has",
    "have",
    "http",
    "https",
    "in",
    "index",
    "invalid",
    "is",
    "issue",
    "it",
    "item",
    "least",
    "len",
    "length",
    "level",
    "line",
    "max",
    "maximum",
    "min",
    "minimum",
    "most",
    "must",
    "no",
    "not",
    "number",
    "of",
    "offset",
    "on",
    "or",
    "page",
    "port",
    "position",
    "rfc",
    "section",
    "should",
    "since",
    "size",
    "status",
    "step",
    "than",
    "the",
    "this",
    "to",
    "until",
    "version",
    "with",
    "you",
    "your",
];

/// Tells whether several words in quotation marks beside a name of this strength are a passphrase and
/// no sentence: a word of them is none, or a number ends what says nothing of numbers.
pub(crate) fn is_phrase(value: &[u8], strength: NameStrength) -> bool {
    let words = words(value);
    let is_odd = match strength {
        NameStrength::Password => words.iter().any(|word| is_odd_word(word)),
        // Sentences about tokens and secrets are full of odd words.
        NameStrength::Secret => false,
        NameStrength::Vague => return false,
    };
    words.len() <= PHRASE_WORDS_MAX && (is_odd || is_numbered(&words))
}

/// The same for the rest of a line without quotation marks, which is a sentence more often.
pub(crate) fn is_bare_phrase(value: &[u8], strength: NameStrength) -> bool {
    let words = words(value);
    strength == NameStrength::Password
        && (2..=PHRASE_WORDS_MAX).contains(&words.len())
        && words.iter().all(|word| is_bare_word(word) && !is_of_sentences(word))
        && (words.iter().any(|word| is_odd_word(word)) || is_numbered(&words))
}

fn words(value: &[u8]) -> Vec<&[u8]> {
    value.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).collect()
}

/// Tells whether a word mixes letters and digits as no word does.
fn is_odd_word(word: &[u8]) -> bool {
    let counts = count_classes(word);
    word.len() >= 3 && counts.digit > 0 && counts.lower + counts.upper > 0 && counts.changes >= 2
        || word.len() >= SECRET_BYTES_MIN && is_irregular(word)
}

/// Tells whether words are followed by a number that counts nothing: `two words 22`.
fn is_numbered(words: &[&[u8]]) -> bool {
    let Some((last, before)) = words.split_last() else { return false };
    let digits = last.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_word =
        |word: &&[u8]| word.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'-');
    !before.is_empty()
        && digits >= NUMBER_DIGITS_MIN
        && last[digits..].iter().all(|byte| NUMBER_SIGNS.contains(byte))
        && before.iter().all(|word| is_word(word) && !is_of_sentences(word))
}

fn is_of_sentences(word: &[u8]) -> bool {
    let word = word.to_ascii_lowercase();
    SENTENCE_WORDS.binary_search_by(|known| known.as_bytes().cmp(&word)).is_ok()
}

/// Tells whether a word stands in no code and in no option of a command.
fn is_bare_word(word: &[u8]) -> bool {
    word[0] != b'-'
        && word.iter().all(|byte| {
            byte.is_ascii_alphanumeric()
                || matches!(byte, b'-' | b'_')
                || NUMBER_SIGNS.contains(byte)
        })
}
