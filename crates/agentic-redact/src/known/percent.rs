//! What addresses encode: any byte may stand as `%` and two hex digits, in either case, whether it has to
//! or not, and a blank as `+`.

use crate::steps;

/// How many bytes an escape has.
pub(crate) const ESCAPE_BYTES: usize = 3;

/// A part of a text around escapes, without them and folded.
pub(crate) struct DecodedPart {
    /// The text.
    pub(crate) bytes: Vec<u8>,
    /// Where each byte stands in the whole text, and where the part ends.
    places: Vec<usize>,
}

impl DecodedPart {
    /// Returns where a place of the part is in the text.
    pub(crate) fn place(&self, at: usize) -> usize {
        self.places[at]
    }
}

/// Returns the parts of a text that a value with an escape in it may reach, apart and in order.
pub(crate) fn parts(text: &[u8], value_bytes_max: usize) -> Vec<DecodedPart> {
    let reach = ESCAPE_BYTES * value_bytes_max;
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for at in memchr::memchr_iter(b'%', text).filter(|at| escape(text, *at).is_some()) {
        let (from, to) = (at.saturating_sub(reach), text.len().min(at + reach));
        match parts.last_mut() {
            Some(last) if from <= last.1 => last.1 = to,
            Some(_) | None => parts.push((from, to)),
        }
    }
    parts.into_iter().map(|(from, to)| decoded(text, from, to)).collect()
}

fn decoded(text: &[u8], from: usize, to: usize) -> DecodedPart {
    steps::count(to - from);
    let mut part = DecodedPart { bytes: Vec::new(), places: Vec::new() };
    let mut at = from;
    while at < to {
        part.places.push(at);
        match escape(text, at) {
            Some(byte) => {
                part.bytes.push(fold(byte));
                at += ESCAPE_BYTES;
            }
            None => {
                part.bytes.push(fold(text[at]));
                at += 1;
            }
        }
    }
    part.places.push(at);
    part
}

/// Returns a value as it is looked for in such parts: it does not matter which of its signs are blanks.
pub(crate) fn folded(value: &[u8]) -> Vec<u8> {
    value.iter().map(|byte| fold(*byte)).collect()
}

fn fold(byte: u8) -> u8 {
    if byte == b'+' { b' ' } else { byte }
}

/// Returns the byte whose escape stands at a place.
fn escape(text: &[u8], at: usize) -> Option<u8> {
    let [b'%', high, low] = text.get(at..at + ESCAPE_BYTES)? else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(*high)? << 4 | digit(*low)?)
}
