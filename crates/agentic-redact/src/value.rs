//! Whether what stands beside a name is a secret.

use crate::exempt::{is_exempt, is_hex};
use crate::measure::{count_classes, entropy_bits};
use crate::name::NameStrength;
use crate::phrase::is_phrase;
use crate::steps;
use crate::words::is_wordlike;

/// How a value stands in its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quoting {
    /// Without marks: it may be code.
    Bare,
    /// In quotation marks, or a text of its own.
    Quoted,
}

/// How much of a value is looked at.
pub(crate) const VALUE_BYTES_SEEN: usize = 256;
const PASSWORD_BYTES_MIN: usize = 6;
pub(crate) const SECRET_BYTES_MIN: usize = 8;
const VAGUE_BYTES_MIN: usize = 16;
const VAGUE_BITS_MIN: f64 = 3.0;

/// Tells whether the value beside a name of this strength is a secret.
pub(crate) fn is_secret_value(value: &[u8], strength: NameStrength, quoting: Quoting) -> bool {
    let value = &value[..value.len().min(VALUE_BYTES_SEEN)];
    steps::count(value.len());
    if is_exempt(value) || is_path(value) || quoting == Quoting::Bare && is_code(value) {
        return false;
    }
    if value.contains(&b' ') {
        return is_phrase(value, strength);
    }
    match strength {
        NameStrength::Password => is_password(value, quoting),
        NameStrength::Secret => value.len() >= SECRET_BYTES_MIN && is_irregular(value),
        NameStrength::Vague => is_random(value),
    }
}

/// Tells whether a value has letters and digits, or letters that make no words.
pub(crate) fn is_irregular(value: &[u8]) -> bool {
    let counts = count_classes(value);
    let letters = counts.lower + counts.upper;
    if is_hex(value) && matches!(value.len(), 32 | 40 | 64) {
        return true;
    }
    letters > 0 && (counts.digit > 0 || counts.lower > 0 && counts.upper > 0) && !is_wordlike(value)
}

/// Tells whether a value looks random.
pub(crate) fn is_random(value: &[u8]) -> bool {
    let counts = count_classes(value);
    value.len() >= VAGUE_BYTES_MIN
        && counts.digit > 0
        && counts.changes * 5 >= value.len()
        && entropy_bits(value) >= VAGUE_BITS_MIN
        && is_irregular(value)
}

fn is_password(value: &[u8], quoting: Quoting) -> bool {
    let counts = count_classes(value);
    let letters = counts.lower + counts.upper;
    if value.len() < PASSWORD_BYTES_MIN {
        return false;
    }
    if letters == 0 {
        return counts.digit >= PASSWORD_BYTES_MIN && quoting == Quoting::Quoted;
    }
    let is_one_piece = value.iter().all(u8::is_ascii_alphanumeric);
    let has_sign = value.iter().any(|byte| b"!@#$%^&*+=~?".contains(byte));
    // Marks of quotation, with or without what escapes them, stand within no other word.
    let has_mark = value.iter().any(|byte| b"\"'\\".contains(byte));
    let is_long = quoting == Quoting::Quoted && value.len() >= SECRET_BYTES_MIN;
    is_irregular(value)
        || counts.digit > 0 && (is_one_piece || is_long || has_sign || has_mark)
        || has_sign && quoting == Quoting::Quoted && counts.changes >= 2 && !value.contains(&b'|')
}

/// Tells whether a value is the path of a file.
fn is_path(value: &[u8]) -> bool {
    let starts: [&[u8]; 5] = [b"/", b"./", b"../", b"~/", b"C:\\"];
    let is_rooted = starts.iter().any(|start| value.starts_with(start));
    let slashes = value.iter().filter(|byte| matches!(byte, b'/' | b'\\')).count();
    is_rooted && (slashes >= 2 || value.starts_with(b"~") || value.starts_with(b".")) && {
        let mut pieces = value.split(|byte| matches!(byte, b'/' | b'\\'));
        pieces.all(|piece| piece.len() < 8 || is_wordlike(piece) || is_hex(piece))
    }
}

/// Tells whether a value without marks is an expression: a call, a type, a member.
fn is_code(value: &[u8]) -> bool {
    let has = |part: &[u8]| value.windows(part.len()).any(|window| window == part);
    has(b"(")
        || has(b"::")
        || has(b"->")
        || has(b"[")
        || value.starts_with(b"&")
        || value.starts_with(b"!")
        || is_member(value)
}

/// Tells whether a value is a member of something: `config.api_key`.
fn is_member(value: &[u8]) -> bool {
    let pieces: Vec<&[u8]> = value.split(|byte| *byte == b'.').collect();
    let is_name = |piece: &&[u8]| {
        piece.first().is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$'))
            && piece
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'?'))
    };
    pieces.len() > 1 && pieces.iter().all(is_name) && is_wordlike(value)
}
