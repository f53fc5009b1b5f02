//! The canonical byte form of a [`Value`]: DAG-CBOR, and nothing else.
//!
//! Definite lengths, shortest integers, map keys sorted length-first, 64-bit floats, no NaN or
//! infinities, no tags but content ids. The format is specified at <https://ipld.io/specs/codecs/dag-cbor/spec/>.
//! Everything that is hashed passes through [`encode`]; everything that comes from outside passes
//! through [`decode`], which accepts a byte string only if it is the one that [`encode`] would make.

use serde::{Serialize, Serializer};

use crate::Value;
use crate::value::NESTING_MAX;

mod decode;

/// The largest encoding that is accepted, in bytes: 64 MiB.
pub const ENCODED_BYTES_MAX: usize = 64 << 20;

/// Why a value has no canonical form, or why bytes are not one.
#[derive(Debug, thiserror::Error)]
pub enum CanonicalError {
    /// A float is NaN or infinite.
    #[error("a number is not finite")]
    NotFinite,
    /// Lists and maps nest deeper than [`NESTING_MAX`].
    #[error("values nest deeper than {NESTING_MAX} levels")]
    TooDeep,
    /// An integer needs more than 64 bits.
    #[error("the integer `{number}` needs more than 64 bits")]
    IntTooLarge {
        /// The integer, in decimal.
        number: i128,
    },
    /// The encoding is longer than [`ENCODED_BYTES_MAX`].
    #[error("{length} bytes are more than the {ENCODED_BYTES_MAX} that are accepted")]
    TooLong {
        /// The length that was found, in bytes.
        length: usize,
    },
    /// The bytes are not DAG-CBOR.
    #[error("not DAG-CBOR: {reason}")]
    NotDagCbor {
        /// What the decoder says.
        reason: String,
    },
    /// The bytes decode, but another byte string is the canonical one.
    #[error("the encoding is not canonical")]
    NotCanonical,
}

/// Encodes a value.
///
/// # Errors
/// Fails on a number that is not finite, on nesting above [`NESTING_MAX`] and on more than
/// [`ENCODED_BYTES_MAX`] bytes.
pub fn encode(value: &Value) -> Result<Vec<u8>, CanonicalError> {
    check_form([value], 0)?;
    let bytes = serde_ipld_dagcbor::to_vec(value)
        .expect("a finite value of bounded depth always has a DAG-CBOR form");
    check_length(bytes.len())?;
    Ok(bytes)
}

/// Encodes a map that is given by its entries, in any order, each key once: what [`encode`] would
/// give of the map.
///
/// # Errors
/// Fails as [`encode`] does.
pub fn encode_entries(entries: &[(&str, Value)]) -> Result<Vec<u8>, CanonicalError> {
    check_form(entries.iter().map(|(_, value)| value), 1)?;
    let bytes = serde_ipld_dagcbor::to_vec(&MapEntries(entries))
        .expect("finite values of bounded depth always have a DAG-CBOR form");
    check_length(bytes.len())?;
    Ok(bytes)
}

/// The entries of a map, written as one.
struct MapEntries<'e>(&'e [(&'e str, Value)]);

impl Serialize for MapEntries<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

/// Decodes a value from its canonical form.
///
/// # Errors
/// Fails on anything that [`encode`] would not have produced byte for byte.
pub fn decode(bytes: &[u8]) -> Result<Value, CanonicalError> {
    check_length(bytes.len())?;
    decode::value(bytes)
}

/// The value of an entry: texts and bytes where they stand, anything else as it is.
#[derive(Debug, Clone, PartialEq)]
pub enum EntryPart<'b> {
    /// A text.
    Text(&'b str),
    /// Bytes.
    Bytes(&'b [u8]),
    /// A value of another sort.
    Other(Value),
}

impl EntryPart<'_> {
    /// Returns the value, which keeps what it needs.
    pub fn into_value(self) -> Value {
        match self {
            EntryPart::Text(text) => Value::Text(text.to_owned()),
            EntryPart::Bytes(bytes) => Value::Bytes(bytes.to_owned()),
            EntryPart::Other(value) => value,
        }
    }
}

/// Decodes a map into its entries, in the order of their bytes: what [`decode`] would give, without
/// a map made of it, and without a copy of what it says.
///
/// # Errors
/// Fails as [`decode`] does, and when the value is no map.
pub fn decode_entries(bytes: &[u8]) -> Result<Vec<(&str, EntryPart<'_>)>, CanonicalError> {
    check_length(bytes.len())?;
    decode::entries(bytes)
}

fn check_length(length: usize) -> Result<(), CanonicalError> {
    if length > ENCODED_BYTES_MAX {
        return Err(CanonicalError::TooLong { length });
    }
    Ok(())
}

/// Checks that values which stand that deep have a canonical form. Too deep is told before not finite.
fn check_form<'v>(
    values: impl IntoIterator<Item = &'v Value>,
    depth: usize,
) -> Result<(), CanonicalError> {
    let mut is_finite = true;
    let is_flat = values.into_iter().all(|value| walk_form(value, depth, &mut is_finite));
    match (is_flat, is_finite) {
        (true, true) => Ok(()),
        (true, false) => Err(CanonicalError::NotFinite),
        (false, _) => Err(CanonicalError::TooDeep),
    }
}

/// Tells whether a value that stands that deep is flat enough, and notes if a number is not finite.
fn walk_form(value: &Value, depth: usize, is_finite: &mut bool) -> bool {
    match value {
        Value::Float(number) => {
            *is_finite &= number.is_finite();
            true
        }
        Value::List(items) => {
            depth < NESTING_MAX && items.iter().all(|item| walk_form(item, depth + 1, is_finite))
        }
        Value::Map(map) => {
            depth < NESTING_MAX && map.values().all(|item| walk_form(item, depth + 1, is_finite))
        }
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Text(_)
        | Value::Bytes(_)
        | Value::Link(_) => true,
    }
}

#[cfg(test)]
mod tests;
