//! The forms in which a value may stand: raw, with blanks as forms write them, in hex, in JSON, in
//! base64.

use std::collections::BTreeSet;

use super::FormEdges;

const HEX_LOWER: &[u8; 16] = b"0123456789abcdef";
const HEX_UPPER: &[u8; 16] = b"0123456789ABCDEF";
const BASE64_PLAIN: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE64_URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Returns all forms of a value, each once, but for those that addresses encode.
pub(crate) fn forms(value: &[u8]) -> Vec<(Vec<u8>, FormEdges)> {
    let mut plain = BTreeSet::new();
    plain.insert(value.to_vec());
    plain.insert(with_plus(value));
    for digits in [HEX_UPPER, HEX_LOWER] {
        plain.insert(hex(value, digits));
    }
    let once = json(value);
    plain.insert(json_slashes(&once));
    plain.insert(json(&once));
    plain.insert(json_ascii(value));
    plain.insert(once);
    let mut forms: Vec<(Vec<u8>, FormEdges)> =
        plain.into_iter().map(|bytes| (bytes, FormEdges::default())).collect();
    for offset in 0..3 {
        let (bytes, edges) = base64(value, offset, BASE64_PLAIN);
        let (other, _) = base64(value, offset, BASE64_URL);
        if other != bytes {
            forms.push((other, edges));
        }
        forms.push((bytes, edges));
    }
    forms
}

fn hex(value: &[u8], digits: &[u8; 16]) -> Vec<u8> {
    let pairs = value.iter().map(|byte| hex_pair(*byte, digits));
    pairs.flatten().collect()
}

fn hex_pair(byte: u8, digits: &[u8; 16]) -> [u8; 2] {
    [digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]
}

/// Writes blanks as forms do.
fn with_plus(value: &[u8]) -> Vec<u8> {
    value.iter().map(|byte| if *byte == b' ' { b'+' } else { *byte }).collect()
}

/// Escapes a value as a text of JSON.
fn json(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for byte in value {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', *byte]),
            b'\n' => out.extend(b"\\n"),
            b'\r' => out.extend(b"\\r"),
            b'\t' => out.extend(b"\\t"),
            0..=31 => {
                out.extend(b"\\u00");
                out.extend(hex_pair(*byte, HEX_LOWER));
            }
            _ => out.push(*byte),
        }
    }
    out
}

/// Escapes slashes, too, as some writers do.
fn json_slashes(escaped: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for byte in escaped {
        if *byte == b'/' {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    out
}

/// Escapes everything beyond ASCII, as some writers do.
fn json_ascii(value: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(value);
    let mut out = Vec::new();
    for letter in text.chars() {
        if letter.is_ascii() {
            out.extend(json(letter.to_string().as_bytes()));
            continue;
        }
        for unit in letter.encode_utf16(&mut [0; 2]) {
            out.extend(format!("\\u{unit:04x}").into_bytes());
        }
    }
    out
}

/// Encodes a value that begins `offset` bytes behind a group of three, without the characters that
/// hold bits of its neighbours.
fn base64(value: &[u8], offset: usize, alphabet: &[u8; 64]) -> (Vec<u8>, FormEdges) {
    let bits_start = offset * 8;
    let bits_end = bits_start + value.len() * 8;
    let first = bits_start.div_ceil(6);
    let last = bits_end / 6;
    let bit = |at: usize| {
        let at = at - bits_start;
        value[at / 8] >> (7 - at % 8) & 1
    };
    let digit = |at: usize| (0..6).fold(0, |digit, n| digit << 1 | bit(at * 6 + n));
    let bytes = (first..last).map(|at| alphabet[usize::from(digit(at))]).collect();
    let edges = FormEdges {
        before: usize::from(!bits_start.is_multiple_of(6)),
        after: if bits_end.is_multiple_of(6) { 0 } else { 3 - (bits_end / 8) % 3 + 1 },
    };
    (bytes, edges)
}
