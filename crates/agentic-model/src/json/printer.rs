//! The one printer of JSON for values that `serde_json` cannot carry.
//!
//! It lays lists and objects out and escapes texts. How a number is written is for each sort of value
//! to say: one language prints numbers as Python does, another as ECMAScript does.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::json::plain_length;

/// A value that is printed as JSON.
pub trait PrintedJson: Sized {
    /// Shows what the value is made of.
    fn shape(&self) -> PrintedShape<'_, Self>;

    /// Appends a value that is neither text nor list nor object.
    fn print_scalar(&self, out: &mut String);
}

/// What a value is made of.
#[derive(Debug, Clone, Copy)]
pub enum PrintedShape<'v, V> {
    /// Nothing that the printer needs to know.
    Scalar,
    /// A text.
    Text(&'v str),
    /// A list of items.
    List(&'v [V]),
    /// An object of members, in the order in which they are printed.
    Object(&'v [(Arc<str>, V)]),
}

/// How what cannot stand in a text is escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Escapes {
    /// Control characters by letter where they have one: `\b \f \n \r \t`.
    Letters,
    /// Backspace and form feed by their numbers, too.
    FewLetters,
    /// As [`Escapes::FewLetters`], and everything beyond ASCII by its number.
    Ascii,
}

/// Appends a value on one line, without blanks.
pub fn print_line<V: PrintedJson>(value: &V, escapes: Escapes, out: &mut String) {
    match value.shape() {
        PrintedShape::Scalar => value.print_scalar(out),
        PrintedShape::Text(text) => print_text(text, escapes, out),
        PrintedShape::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                print_line(item, escapes, out);
            }
            out.push(']');
        }
        PrintedShape::Object(members) => {
            out.push('{');
            for (at, (key, item)) in members.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                print_text(key, escapes, out);
                out.push(':');
                print_line(item, escapes, out);
            }
            out.push('}');
        }
    }
}

/// Appends a value over several lines, indented by two blanks a level.
pub fn print_indented<V: PrintedJson>(value: &V, escapes: Escapes, out: &mut String) {
    print_from(value, 0, escapes, out);
}

fn print_from<V: PrintedJson>(value: &V, indent: usize, escapes: Escapes, out: &mut String) {
    match value.shape() {
        PrintedShape::List(items) if !items.is_empty() => {
            for (at, item) in items.iter().enumerate() {
                out.push(if at == 0 { '[' } else { ',' });
                break_line(indent + 2, out);
                print_from(item, indent + 2, escapes, out);
            }
            break_line(indent, out);
            out.push(']');
        }
        PrintedShape::Object(members) if !members.is_empty() => {
            for (at, (key, item)) in members.iter().enumerate() {
                out.push(if at == 0 { '{' } else { ',' });
                break_line(indent + 2, out);
                print_text(key, escapes, out);
                out.push_str(": ");
                print_from(item, indent + 2, escapes, out);
            }
            break_line(indent, out);
            out.push('}');
        }
        PrintedShape::Scalar => value.print_scalar(out),
        PrintedShape::Text(text) => print_text(text, escapes, out),
        PrintedShape::List(_) => out.push_str("[]"),
        PrintedShape::Object(_) => out.push_str("{}"),
    }
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

/// Appends a text in quotation marks.
pub fn print_text(text: &str, escapes: Escapes, out: &mut String) {
    out.push('"');
    let mut rest = text;
    loop {
        let plain = plain_length(rest.as_bytes());
        match escapes {
            Escapes::Letters | Escapes::FewLetters => out.push_str(&rest[..plain]),
            Escapes::Ascii => print_ascii(&rest[..plain], out),
        }
        let Some(byte) = rest.as_bytes().get(plain) else { break };
        print_escape(*byte, escapes, out);
        rest = &rest[plain + 1..];
    }
    out.push('"');
}

fn print_ascii(text: &str, out: &mut String) {
    for character in text.chars() {
        if character.is_ascii() {
            out.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            print_number(*unit, out);
        }
    }
}

fn print_escape(byte: u8, escapes: Escapes, out: &mut String) {
    match byte {
        b'"' => out.push_str("\\\""),
        b'\\' => out.push_str("\\\\"),
        b'\n' => out.push_str("\\n"),
        b'\r' => out.push_str("\\r"),
        b'\t' => out.push_str("\\t"),
        0x08 if escapes == Escapes::Letters => out.push_str("\\b"),
        0x0c if escapes == Escapes::Letters => out.push_str("\\f"),
        control => print_number(u16::from(control), out),
    }
}

fn print_number(unit: u16, out: &mut String) {
    write!(out, "\\u{unit:04x}").expect("writing to a string never fails");
}
