//! Values as JSON text.
//!
//! [`to_text`] is the one form that is recorded: one line, keys in their order, no blanks. Whole
//! numbers are exact, floats keep a dot or an exponent, so that reading gives the same value back.

mod read;

use crate::data::{Data, VALUE_BYTES_MAX, VALUE_DEPTH_MAX, number_text};

pub use crate::data::json::read::from_text;

/// Why a text is not a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// The text is not JSON.
    #[error("not JSON at byte {at}: {reason}")]
    Syntax {
        /// Where reading stopped.
        at: usize,
        /// What was wrong there.
        reason: &'static str,
    },
    /// The value is too deep or too large.
    #[error("larger than {VALUE_BYTES_MAX} bytes, or nested deeper than {VALUE_DEPTH_MAX} levels")]
    TooLarge,
}

/// How much room a text gets before its length is known, in bytes.
const TEXT_BYTES: usize = 30;

/// Prints a value on one line, without blanks.
pub fn to_text(value: &Data) -> String {
    let mut out = String::with_capacity(TEXT_BYTES);
    write(value, &mut out);
    out
}

/// Prints a value over several lines, everything beyond ASCII escaped.
pub fn to_pretty(value: &Data) -> String {
    let mut out = String::new();
    write_pretty(value, 0, &mut out);
    out
}

/// Appends a value on one line.
pub(crate) fn write(value: &Data, out: &mut String) {
    match value {
        Data::List(list) => {
            out.push('[');
            for (at, item) in list.items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Data::Object(object) => {
            out.push('{');
            for (at, (name, item)) in object.fields.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_text(name, out);
                out.push(':');
                write(item, out);
            }
            out.push('}');
        }
        Data::Text(text) => write_text(text, out),
        scalar => write_scalar(scalar, out),
    }
}

fn write_scalar(value: &Data, out: &mut String) {
    use std::fmt::Write as _;
    match value {
        Data::Bool(true) => out.push_str("true"),
        Data::Bool(false) => out.push_str("false"),
        Data::Int(number) => write!(out, "{number}").expect("writing to a string never fails"),
        Data::Big(number) => write!(out, "{number}").expect("writing to a string never fails"),
        Data::Float(number) => number_text(*number, out),
        Data::Null | Data::Text(_) | Data::List(_) | Data::Object(_) => out.push_str("null"),
    }
}

/// Appends a text in quotes.
pub(crate) fn write_text(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    let special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    while let Some(at) = rest.bytes().position(special) {
        out.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            b'\r' => out.push_str("\\r"),
            control => out.push_str(&format!("\\u{control:04x}")),
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

fn write_pretty(value: &Data, level: usize, out: &mut String) {
    let line = |out: &mut String, level: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", level));
    };
    match value {
        Data::List(list) if !list.items.is_empty() => {
            out.push('[');
            for (at, item) in list.items.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { "," });
                line(out, level + 1);
                write_pretty(item, level + 1, out);
            }
            line(out, level);
            out.push(']');
        }
        Data::Object(object) if !object.fields.is_empty() => {
            out.push('{');
            for (at, (name, item)) in object.fields.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { "," });
                line(out, level + 1);
                write_ascii(name, out);
                out.push_str(": ");
                write_pretty(item, level + 1, out);
            }
            line(out, level);
            out.push('}');
        }
        Data::Text(text) => write_ascii(text, out),
        other => write(other, out),
    }
}

fn write_ascii(text: &str, out: &mut String) {
    let mut quoted = String::with_capacity(text.len() + 2);
    write_text(text, &mut quoted);
    for character in quoted.chars() {
        if character.is_ascii() {
            out.push(character);
            continue;
        }
        let mut units = [0; 2];
        for unit in character.encode_utf16(&mut units) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    }
}
