//! Arithmetic on numbers: whole numbers are exact, a float makes the result a float.

use std::sync::Arc;

use crate::data::{Data, Integer};

/// The longest whole number, in decimal digits.
pub const DIGITS_MAX: usize = 100_000;
/// Floats from here on have no fraction, and are printed with an exponent.
const EXPONENT_FROM: i32 = 16;
/// Floats below this power of ten are printed with an exponent.
const EXPONENT_BELOW: i32 = -4;

/// Adds two numbers. Nothing when the sum has no value that can be written down, or when one of
/// the two is not a number.
pub(crate) fn add(left: &Data, right: &Data) -> Option<Data> {
    match (left, right) {
        (Data::Int(left), Data::Int(right)) => match left.checked_add(*right) {
            Some(sum) => Some(Data::Int(sum)),
            None => whole(Integer::from(*left).plus(&Integer::from(*right))),
        },
        (Data::Float(left), Data::Float(right)) => float(left + right),
        (Data::Float(float_side), other) | (other, Data::Float(float_side)) => {
            float(float_side + to_float(other)?)
        }
        _ => whole(to_integer(left)?.plus(&to_integer(right)?)),
    }
}

/// Makes a whole number, in the short form if it fits.
pub(crate) fn whole(number: Integer) -> Option<Data> {
    if let Some(short) = number.to_i64() {
        return Some(Data::Int(short));
    }
    (number.digits_max() <= DIGITS_MAX).then(|| Data::Big(Arc::new(number)))
}

fn float(number: f64) -> Option<Data> {
    number.is_finite().then_some(Data::Float(number))
}

fn to_float(number: &Data) -> Option<f64> {
    match number {
        Data::Int(number) => Some(*number as f64),
        Data::Big(number) => Some(number.to_f64()).filter(|float| float.is_finite()),
        Data::Float(number) => Some(*number),
        Data::Null | Data::Bool(_) | Data::Text(_) | Data::List(_) | Data::Object(_) => None,
    }
}

fn to_integer(number: &Data) -> Option<Integer> {
    match number {
        Data::Int(number) => Some(Integer::from(*number)),
        Data::Big(number) => Some(Integer::clone(number)),
        Data::Null
        | Data::Bool(_)
        | Data::Float(_)
        | Data::Text(_)
        | Data::List(_)
        | Data::Object(_) => None,
    }
}

/// Whether two numbers have exactly the same value.
pub(crate) fn are_equal(one: &Data, other: &Data) -> bool {
    match (one, other) {
        (Data::Int(one), Data::Int(other)) => one == other,
        (Data::Float(one), Data::Float(other)) => one == other,
        (Data::Float(float), whole) | (whole, Data::Float(float)) => {
            let Some(whole) = to_integer(whole) else { return false };
            float.fract() == 0.0 && Integer::parse(&format!("{float:.0}")) == Some(whole)
        }
        (Data::Big(one), Data::Big(other)) => one == other,
        _ => false,
    }
}

/// Reads a number literal of the language or of JSON. Nothing when it has no finite value.
pub(crate) fn parse_literal(text: &str) -> Option<Data> {
    if text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
        return float(text.parse().ok()?);
    }
    match text.parse() {
        Ok(short) => Some(Data::Int(short)),
        Err(_) => whole(Integer::parse(text)?),
    }
}

/// Prints a float with the fewest digits that read back as the same number.
pub(crate) fn number_text(number: f64, out: &mut String) {
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').expect("an exponent is always printed");
    let exponent: i32 = exponent.parse().expect("the exponent is a number");
    if (EXPONENT_BELOW..EXPONENT_FROM).contains(&exponent) || number == 0.0 {
        let text = number.to_string();
        out.push_str(&text);
        if !text.contains('.') {
            out.push_str(".0");
        }
        return;
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    out.push_str(digits);
    out.push_str(&format!("e{sign}{:02}", exponent.abs()));
}
