//! What aggregates make of the values of one group.

use agentic_model::{Value, json};

use crate::ast::AggregateKind;
use crate::value::{QueryType, QueryValue};

/// The longest text that `list` makes.
const LIST_BYTES_MAX: usize = 16 << 20;
const OVERFLOW: &str = "a number overflowed";

/// Makes one value of the values of a group, if they have one.
pub(crate) fn combine(
    kind: AggregateKind,
    mut values: Vec<QueryValue>,
    term: QueryType,
) -> Result<Option<QueryValue>, &'static str> {
    match kind {
        AggregateKind::Count => Ok(Some(QueryValue::Int(values.len() as i64))),
        AggregateKind::CountDistinct => {
            values.sort_unstable();
            values.dedup();
            Ok(Some(QueryValue::Int(values.len() as i64)))
        }
        AggregateKind::Min => Ok(values.into_iter().min()),
        AggregateKind::Max => Ok(values.into_iter().max()),
        AggregateKind::Sum | AggregateKind::Average if values.is_empty() => Ok(None),
        AggregateKind::Sum => sum(&mut values).map(Some),
        AggregateKind::Average => average(&mut values, term),
        AggregateKind::List => list(values, term).map(Some),
    }
}

/// Adds numbers: whole ones exactly, floats ascending and with compensation.
fn sum(values: &mut [QueryValue]) -> Result<QueryValue, &'static str> {
    if matches!(values.first(), Some(QueryValue::Float(_))) {
        return QueryValue::float(sum_floats(values)).ok_or(OVERFLOW);
    }
    i64::try_from(sum_whole(values)).map(QueryValue::Int).map_err(|_| OVERFLOW)
}

fn sum_whole(values: &[QueryValue]) -> i128 {
    let whole = |value: &QueryValue| match value {
        QueryValue::Int(number) => i128::from(*number),
        QueryValue::Null | QueryValue::Bool(_) | QueryValue::Float(_) | QueryValue::Text(_) => 0,
    };
    values.iter().map(whole).sum()
}

fn sum_floats(values: &mut [QueryValue]) -> f64 {
    values.sort_unstable();
    let (mut total, mut lost) = (0.0_f64, 0.0_f64);
    for value in values {
        let QueryValue::Float(number) = value else { continue };
        // Neumaier's compensation: whichever is smaller has lost its low digits.
        let next = total + *number;
        lost += if total.abs() >= number.abs() {
            (total - next) + *number
        } else {
            (*number - next) + total
        };
        total = next;
    }
    if lost.is_finite() { total + lost } else { total }
}

fn average(values: &mut [QueryValue], term: QueryType) -> Result<Option<QueryValue>, &'static str> {
    let n = values.len();
    let found = if term == QueryType::Float {
        QueryValue::float(sum_floats(values) / n as f64)
    } else if term == QueryType::Duration {
        let millis = sum_whole(values) / n as i128;
        i64::try_from(millis).ok().map(QueryValue::Int)
    } else {
        QueryValue::float(divide_whole(sum_whole(values), n as i128))
    };
    found.map(Some).ok_or(OVERFLOW)
}

/// Divides whole numbers exactly, and rounds once.
fn divide_whole(sum: i128, n: i128) -> f64 {
    if sum == 0 {
        return 0.0;
    }
    let (whole, n) = (sum.unsigned_abs(), n.unsigned_abs());
    // The quotient of so many bits has more of them than a float; that there is a rest is told by
    // the last one, so that half of a step is not taken for less or more than half.
    let shift = whole.leading_zeros() - 1;
    let (quotient, rest) = ((whole << shift) / n, (whole << shift) % n);
    let found = (quotient | u128::from(rest != 0)) as f64 / (1_u128 << shift) as f64;
    if sum < 0 { -found } else { found }
}

fn list(mut values: Vec<QueryValue>, term: QueryType) -> Result<QueryValue, &'static str> {
    values.sort_unstable();
    let mut text = String::from("[");
    for (n, value) in values.iter().enumerate() {
        if n > 0 {
            text.push(',');
        }
        text.push_str(&value.to_json(term));
        if text.len() > LIST_BYTES_MAX {
            return Err("a list is longer than 16 MiB");
        }
    }
    text.push(']');
    // Printed once more as a whole, so that it is canonical whatever prints single values.
    let canonical = json::from_text(&text).unwrap_or(Value::Null);
    Ok(QueryValue::text(&json::to_text(&canonical)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_exact_and_their_order_does_not_matter() {
        let float = |number| QueryValue::Float(number);
        let mut values = vec![float(1e16), float(1.0), float(-1e16), float(1.0)];
        assert_eq!(sum(&mut values), Ok(float(2.0)));
        let whole = |number| QueryValue::Int(number);
        assert_eq!(sum(&mut [whole(i64::MAX), whole(1), whole(-2)]), Ok(whole(i64::MAX - 1)));
        assert_eq!(sum(&mut [whole(i64::MAX), whole(1)]), Err(OVERFLOW));
        for (sum, n) in [(7, 2), (5, 3), (-5, 3), (0, 9), (1, 10), (1 << 53, 3)] {
            assert_eq!(divide_whole(sum, n), sum as f64 / n as f64);
        }
        // Here the sum alone has no exact float.
        assert_eq!(divide_whole((1 << 53) + 1, 1), 9_007_199_254_740_992.0);
        assert_eq!(divide_whole(((1 << 53) + 1) * 3, 3), 9_007_199_254_740_992.0);
        assert_eq!(divide_whole(i128::from(i64::MAX) * 10, 10), i64::MAX as f64);
        let listed = list(vec![whole(3), whole(-1), whole(3)], QueryType::Int);
        assert_eq!(listed, Ok(QueryValue::text("[-1,3,3]")));
    }
}
