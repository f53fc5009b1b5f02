//! Values as JSON text.
//!
//! [`to_text`] is the one form that is recorded: one line, keys in their order, no blanks. Whole
//! numbers are exact, floats keep a dot or an exponent, so that reading gives the same value back.

mod read;

use std::fmt::Write as _;

use agentic_model::json::printer::{
    Escapes, PrintedJson, PrintedShape, print_indented, print_line, print_text,
};

use crate::data::{Data, VALUE_BYTES_MAX, VALUE_DEPTH_MAX, number_text};

pub use crate::data::json::read::from_text;

/// Why a text is not a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DataJsonError {
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
    print_indented(value, Escapes::Ascii, &mut out);
    out
}

/// Appends a value on one line.
pub(crate) fn write(value: &Data, out: &mut String) {
    print_line(value, Escapes::FewLetters, out);
}

/// Appends a text in quotes.
pub(crate) fn write_text(text: &str, out: &mut String) {
    print_text(text, Escapes::FewLetters, out);
}

impl PrintedJson for Data {
    fn shape(&self) -> PrintedShape<'_, Data> {
        match self {
            Data::List(list) => PrintedShape::List(&list.items),
            Data::Object(object) => PrintedShape::Object(&object.fields),
            Data::Text(text) => PrintedShape::Text(text),
            Data::Null | Data::Bool(_) | Data::Int(_) | Data::Big(_) | Data::Float(_) => {
                PrintedShape::Scalar
            }
        }
    }

    fn print_scalar(&self, out: &mut String) {
        match self {
            Data::Bool(true) => out.push_str("true"),
            Data::Bool(false) => out.push_str("false"),
            Data::Int(number) => write!(out, "{number}").expect("writing to a string never fails"),
            Data::Big(number) => write!(out, "{number}").expect("writing to a string never fails"),
            Data::Float(number) => number_text(*number, out),
            Data::Null | Data::Text(_) | Data::List(_) | Data::Object(_) => out.push_str("null"),
        }
    }
}
