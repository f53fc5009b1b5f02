//! How random bytes look.

use crate::steps;

/// Returns how many bits of information a byte has on average (Shannon).
pub(crate) fn entropy_bits(bytes: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    for byte in bytes {
        counts[usize::from(*byte)] += 1;
    }
    let len = bytes.len() as f64;
    let seen = counts.iter().filter(|count| **count > 0);
    seen.map(|count| f64::from(*count) / len).map(|part| -part * part.log2()).sum()
}

/// What sort a character is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ByteClass {
    Lower,
    Upper,
    Digit,
    Other,
}

/// Returns the sort of a byte.
pub(crate) fn class(byte: u8) -> ByteClass {
    match byte {
        b'a'..=b'z' => ByteClass::Lower,
        b'A'..=b'Z' => ByteClass::Upper,
        b'0'..=b'9' => ByteClass::Digit,
        0..=b'/' | b':'..=b'@' | b'['..=b'`' | b'{'..=255 => ByteClass::Other,
    }
}

/// How many characters of each sort a value has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ClassCounts {
    pub(crate) lower: usize,
    pub(crate) upper: usize,
    pub(crate) digit: usize,
    pub(crate) other: usize,
    /// How often one sort follows another.
    pub(crate) changes: usize,
}

/// Counts the sorts of a value's characters.
pub(crate) fn count_classes(bytes: &[u8]) -> ClassCounts {
    let mut counts = ClassCounts::default();
    let mut before = None;
    steps::count(bytes.len());
    for byte in bytes {
        let class = class(*byte);
        match class {
            ByteClass::Lower => counts.lower += 1,
            ByteClass::Upper => counts.upper += 1,
            ByteClass::Digit => counts.digit += 1,
            ByteClass::Other => counts.other += 1,
        }
        counts.changes += usize::from(before.is_some_and(|before| before != class));
        before = Some(class);
    }
    counts
}
