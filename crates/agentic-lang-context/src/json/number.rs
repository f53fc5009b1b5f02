//! Numbers as ECMAScript writes them.

/// Prints a number as ECMAScript's `Number::toString` does
/// (<https://tc39.es/ecma262/#sec-numeric-types-number-tostring>).
pub fn number_to_text(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if number == 0.0 {
        return "0".to_owned();
    }
    let sign = if number < 0.0 { "-" } else { "" };
    let scientific = format!("{:e}", number.abs());
    let (mantissa, exponent) = scientific.split_once('e').expect("`{:e}` prints an exponent");
    let exponent: i32 = exponent.parse().expect("`{:e}` prints a decimal exponent");
    let digits = mantissa.replace('.', "");
    format!("{sign}{}", lay_out(&digits, exponent + 1))
}

/// Places the decimal point after `point` digits, or writes an exponent where ECMAScript does.
fn lay_out(digits: &str, point: i32) -> String {
    let count = digits.len() as i32;
    if (count..=21).contains(&point) {
        return format!("{digits}{}", "0".repeat((point - count) as usize));
    }
    if (1..=21).contains(&point) {
        let (whole, fraction) = digits.split_at(point as usize);
        return format!("{whole}.{fraction}");
    }
    if (-5..=0).contains(&point) {
        return format!("0.{}{digits}", "0".repeat(-point as usize));
    }
    let exponent = point - 1;
    let sign = if exponent < 0 { '-' } else { '+' };
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    format!("{first}{point}{rest}e{sign}{}", exponent.abs())
}
