//! What recording does to a value, computed without recording it.
//!
//! An answer is always delivered as its recorded bytes would give it back, in runs without a
//! journal too, so that warm, cold and in-memory runs cannot differ. Encoding and decoding changes
//! exactly one thing, a negative zero, and refuses exactly three: numbers that are not finite,
//! nesting above the bound and encodings above the bound. [`settle`] does the same in one walk; a
//! property test holds it against the encoder.

use agentic_model::canonical::{CanonicalError, ENCODED_BYTES_MAX};
use agentic_model::value::NESTING_MAX;
use agentic_model::{Cid, Value};

/// Returns the value as its canonical bytes would give it back.
///
/// # Errors
/// Fails where the value has no canonical bytes.
pub fn settle(mut value: Value) -> Result<Value, CanonicalError> {
    if value.nesting() > NESTING_MAX {
        return Err(CanonicalError::TooDeep);
    }
    let length = settle_in_place(&mut value)?;
    if length > ENCODED_BYTES_MAX {
        return Err(CanonicalError::TooLong { length });
    }
    Ok(value)
}

/// Settles a value of bounded depth and counts the bytes of its encoding.
fn settle_in_place(value: &mut Value) -> Result<usize, CanonicalError> {
    let length = match value {
        Value::Null | Value::Bool(_) => 1,
        Value::Int(number) => head_length(number.unsigned_abs() - u64::from(*number < 0)),
        Value::Float(number) if !number.is_finite() => return Err(CanonicalError::NotFinite),
        Value::Float(number) => {
            // Adding zero turns a negative zero into zero and changes no other number.
            *number += 0.0;
            9
        }
        Value::Text(text) => counted(text.len()),
        Value::Bytes(bytes) => counted(bytes.len()),
        Value::Link(cid) => link_length(cid),
        Value::List(items) => {
            let mut length = head_length(items.len() as u64);
            for item in items {
                length += settle_in_place(item)?;
            }
            length
        }
        Value::Map(map) => {
            let mut length = head_length(map.len() as u64);
            for (key, item) in map {
                length += counted(key.len()) + settle_in_place(item)?;
            }
            length
        }
    };
    Ok(length)
}

/// Counts the bytes of the head of an item: its type with this number.
fn head_length(number: u64) -> usize {
    match number {
        0..=23 => 1,
        24..=0xff => 2,
        0x100..=0xffff => 3,
        0x1_0000..=0xffff_ffff => 5,
        _ => 9,
    }
}

fn counted(length: usize) -> usize {
    head_length(length as u64) + length
}

/// A link is a tag of two bytes on a byte string of the id behind one zero byte.
fn link_length(cid: &Cid) -> usize {
    2 + counted(1 + cid.to_bytes().len())
}

#[cfg(test)]
mod tests;
