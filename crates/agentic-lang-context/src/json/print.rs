//! Values as JSON text, on one line or indented by two blanks.

use std::fmt::Write as _;

use super::number::number_to_text;
use super::{Json, Ordered};

/// Prints a value on one line without blanks.
pub fn compact(json: &Json) -> String {
    let mut out = String::new();
    write_compact(json, &mut out);
    out
}

/// Prints a value indented by two blanks, a text in quotation marks.
pub fn pretty(json: &Json) -> String {
    pretty_sized(json, 0)
}

/// Does the same, where about so many bytes are expected.
pub(crate) fn pretty_sized(json: &Json, expected: usize) -> String {
    let mut out = String::with_capacity(expected);
    write_pretty(json, 0, &mut out);
    out
}

fn write_scalar(json: &Json, out: &mut String) {
    match json {
        Json::Null => out.push_str("null"),
        Json::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Json::Number(number) if number.is_finite() => write_number(*number, out),
        Json::Number(_) => out.push_str("null"),
        Json::Text(text) => write_text(text, out),
        Json::List(_) | Json::Object(_) => unreachable!("BUG: a container is no scalar"),
    }
}

fn write_number(number: f64, out: &mut String) {
    match as_whole(number) {
        Some(whole) => write_whole(whole, out),
        None => out.push_str(&number_to_text(number)),
    }
}

/// Returns a whole number below 2^53 as an integer, which prints alike and much faster.
pub(super) fn as_whole(number: f64) -> Option<i64> {
    const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;
    let whole = number as i64;
    (whole as f64 == number && number.abs() < WHOLE_MAX).then_some(whole)
}

/// Prints an integer; the formatting of the standard library takes several times as long.
fn write_whole(whole: i64, out: &mut String) {
    const DIGITS_MAX: usize = 20;
    if whole < 0 {
        out.push('-');
    }
    let (mut digits, mut start, mut left) = ([0u8; DIGITS_MAX], DIGITS_MAX, whole.unsigned_abs());
    while left > 0 || start == DIGITS_MAX {
        start -= 1;
        digits[start] = b'0' + (left % 10) as u8;
        left /= 10;
    }
    out.extend(digits[start..].iter().map(|digit| char::from(*digit)));
}

fn write_compact(json: &Json, out: &mut String) {
    match json {
        Json::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_compact(item, out);
            }
            out.push(']');
        }
        Json::Object(entries) => {
            out.push('{');
            for (at, (key, item)) in entries.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_text(key, out);
                out.push(':');
                write_compact(item, out);
            }
            out.push('}');
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) => write_scalar(json, out),
    }
}

fn write_pretty(json: &Json, indent: usize, out: &mut String) {
    match json {
        Json::List(items) => write_items(items, indent, out),
        Json::Object(entries) => write_entries(entries, indent, out),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) => write_scalar(json, out),
    }
}

fn write_items(items: &[Json], indent: usize, out: &mut String) {
    if items.is_empty() {
        out.push_str("[]");
        return;
    }
    for (at, item) in items.iter().enumerate() {
        out.push_str(if at == 0 { "[" } else { "," });
        break_line(indent + 2, out);
        write_pretty(item, indent + 2, out);
    }
    break_line(indent, out);
    out.push(']');
}

fn write_entries(entries: &Ordered<Json>, indent: usize, out: &mut String) {
    if entries.is_empty() {
        out.push_str("{}");
        return;
    }
    for (at, (key, item)) in entries.iter().enumerate() {
        out.push_str(if at == 0 { "{" } else { "," });
        break_line(indent + 2, out);
        write_text(key, out);
        out.push_str(": ");
        write_pretty(item, indent + 2, out);
    }
    break_line(indent, out);
    out.push('}');
}

fn break_line(indent: usize, out: &mut String) {
    const BLANKS: &str = "                                ";
    out.push('\n');
    let mut left = indent;
    while left > 0 {
        let count = left.min(BLANKS.len());
        out.push_str(&BLANKS[..count]);
        left -= count;
    }
}

/// Prints a text in quotation marks, escaped as JSON needs it.
pub fn write_text(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    loop {
        let plain = plain_length(rest.as_bytes());
        out.push_str(&rest[..plain]);
        let Some(byte) = rest.as_bytes().get(plain) else { break };
        write_escape(*byte, out);
        rest = &rest[plain + 1..];
    }
    out.push('"');
}

fn write_escape(byte: u8, out: &mut String) {
    match byte {
        b'"' => out.push_str("\\\""),
        b'\\' => out.push_str("\\\\"),
        b'\n' => out.push_str("\\n"),
        b'\r' => out.push_str("\\r"),
        b'\t' => out.push_str("\\t"),
        0x08 => out.push_str("\\b"),
        0x0c => out.push_str("\\f"),
        other => write!(out, "\\u{other:04x}").expect("a string takes all text"),
    }
}

/// Counts the bytes before the first that must be escaped; whole chunks are looked at at once.
fn plain_length(bytes: &[u8]) -> usize {
    const CHUNK: usize = 32;
    let escaped = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    let chunks = bytes.chunks_exact(CHUNK);
    let clean = |chunk: &&[u8]| !chunk.iter().fold(false, |found, byte| found | escaped(*byte));
    let start = chunks.take_while(clean).count() * CHUNK;
    let rest = &bytes[start..];
    start + rest.iter().position(|byte| escaped(*byte)).unwrap_or(rest.len())
}
