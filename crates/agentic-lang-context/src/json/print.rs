//! Values as JSON text, on one line or indented by two blanks.

use agentic_model::json::printer::{
    Escapes, PrintedJson, PrintedShape, print_indented, print_line, print_text,
};

use super::Json;
use super::number::number_to_text;

/// Prints a value on one line without blanks.
pub fn compact(json: &Json) -> String {
    let mut out = String::new();
    print_line(json, Escapes::Letters, &mut out);
    out
}

/// Prints a value indented by two blanks, a text in quotation marks.
pub fn pretty(json: &Json) -> String {
    pretty_sized(json, 0)
}

/// Prints as [`pretty`] does, with room for about so many bytes from the start.
pub(crate) fn pretty_sized(json: &Json, expected: usize) -> String {
    let mut out = String::with_capacity(expected);
    print_indented(json, Escapes::Letters, &mut out);
    out
}

/// Prints a text in quotation marks, escaped as JSON needs it.
pub fn write_text(text: &str, out: &mut String) {
    print_text(text, Escapes::Letters, out);
}

impl PrintedJson for Json {
    fn shape(&self) -> PrintedShape<'_, Json> {
        match self {
            Json::Null | Json::Bool(_) | Json::Number(_) => PrintedShape::Scalar,
            Json::Text(text) => PrintedShape::Text(text),
            Json::List(items) => PrintedShape::List(items),
            Json::Object(entries) => PrintedShape::Object(entries.as_slice()),
        }
    }

    fn print_scalar(&self, out: &mut String) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
            Json::Number(number) if number.is_finite() => write_number(*number, out),
            Json::Number(_) => out.push_str("null"),
            Json::Text(_) | Json::List(_) | Json::Object(_) => {
                unreachable!("BUG: the printer lays these out")
            }
        }
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
