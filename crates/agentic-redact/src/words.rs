//! Names and words of languages, as against random characters.

use crate::measure::{ByteClass, class};

/// Letters for each word that an identifier has at least.
const WORD_LETTERS_MIN: f64 = 2.5;
/// The same where several capitals follow one another.
const WORD_LETTERS_MIN_WITH_CAPITALS: f64 = 3.5;
/// From how many capitals on.
const CAPITALS_MIN: usize = 3;

/// More capitals than this follow one another in no name that has small letters, too.
const CAPITALS_MAX: usize = 4;

/// Tells whether a value reads like words: `userPassword`, `access_token`, `hmac-sha256`,
/// `config.api_key`. What is random has too many short pieces.
pub(crate) fn is_wordlike(value: &[u8]) -> bool {
    let mut shape = WordShape::default();
    let pieces = value.split(|byte| !byte.is_ascii_alphanumeric());
    for piece in pieces.filter(|piece| !piece.is_empty()) {
        shape.take(piece);
    }
    if shape.letters == 0 || shape.words == 0 {
        return false;
    }
    if shape.capitals_longest > CAPITALS_MAX {
        return false;
    }
    let mean = shape.letters as f64 / shape.words as f64;
    let needed = if shape.capitals_longest >= CAPITALS_MIN {
        WORD_LETTERS_MIN_WITH_CAPITALS
    } else {
        WORD_LETTERS_MIN
    };
    shape.digits <= 4 + shape.letters / 4 && mean >= needed
}

/// What the pieces of a value are made of.
#[derive(Default)]
struct WordShape {
    words: usize,
    letters: usize,
    digits: usize,
    /// How many capitals follow one another in a piece that has small letters, too.
    capitals_longest: usize,
}

impl WordShape {
    /// Takes a piece of letters and digits apart: `parseHTTPResponse2` is `parse`, `HTTP`,
    /// `Response`; digits at the end of a word belong to it, others are a word of their own.
    fn take(&mut self, piece: &[u8]) {
        let mut capitals = 0;
        let mut longest = 0;
        let mut before = ByteClass::Other;
        let mut has_lower = false;
        let mut has_upper = false;
        for (at, byte) in piece.iter().enumerate() {
            let sort = class(*byte);
            let next = piece.get(at + 1).map(|byte| class(*byte));
            let begins = match sort {
                ByteClass::Digit => before == ByteClass::Other,
                ByteClass::Upper => {
                    before != ByteClass::Upper || next == Some(ByteClass::Lower) && at > 0
                }
                ByteClass::Lower => !matches!(before, ByteClass::Lower | ByteClass::Upper),
                ByteClass::Other => false,
            };
            self.words += usize::from(begins);
            self.digits += usize::from(sort == ByteClass::Digit);
            self.letters += usize::from(sort != ByteClass::Digit);
            capitals = if sort == ByteClass::Upper { capitals + 1 } else { 0 };
            longest = longest.max(capitals);
            has_lower |= sort == ByteClass::Lower;
            has_upper |= sort == ByteClass::Upper;
            before = sort;
        }
        if has_lower && has_upper {
            self.capitals_longest = self.capitals_longest.max(longest);
        }
    }
}

/// Tells whether a value is one word of lower-case letters, or begins with a capital.
pub(crate) fn is_plain_word(value: &[u8]) -> bool {
    let Some((first, rest)) = value.split_first() else { return false };
    first.is_ascii_alphabetic() && rest.iter().all(u8::is_ascii_lowercase)
}
