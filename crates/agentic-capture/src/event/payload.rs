//! The JSON of a hook: read whole up to a bound, and beyond that only as far as it takes no room.

use std::borrow::Cow;
use std::io::Read;

use agentic_model::json::reader::{self, HalfPairs, JsonReason, ReaderOptions, Scalar, Sink};
use agentic_model::value::NESTING_MAX;
use agentic_model::{Map, Value};

use super::scalars::read_scalars;
use crate::line_json::number_value;
use crate::mapping::BYTE_ORDER_MARK;

/// The longest payload that is read whole, in bytes: 8 MiB.
pub const PAYLOAD_BYTES_MAX: usize = 8 << 20;

/// How many values of a payload are read: each takes a hundred bytes and more. Of one that has more
/// the scalars count, as of one that is too long.
pub(super) const VALUES_MAX: usize = 1 << 16;

/// How much of an object was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PayloadExtent {
    /// All of it.
    Whole,
    /// Only its top-level scalars: it is longer than [`PAYLOAD_BYTES_MAX`], or has too many values.
    Scalars,
}

/// What a hook was given.
#[derive(Debug, Clone, PartialEq)]
pub struct Payload {
    /// Its fields. Of a key that stands twice the last one counts.
    pub map: Map,
    /// How much of it that is.
    pub extent: PayloadExtent,
    /// What was given, as it was written, where all of it was read.
    pub written: Option<String>,
}

/// Why nobody knows what a hook was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PayloadError {
    /// There is nothing.
    #[error("nothing was given")]
    Empty,
    /// It cannot be read to its end.
    #[error("what was given cannot be read")]
    Unreadable,
    /// It is not UTF-8.
    #[error("what was given is not UTF-8")]
    NotText,
    /// It is not JSON, or nested too deeply.
    #[error("what was given is not JSON")]
    NotJson,
    /// It is something else than an object.
    #[error("what was given is no JSON object")]
    NotAnObject,
    /// It does not say what happened.
    #[error("what was given names no event")]
    NoEvent,
}

impl PayloadError {
    /// Returns the code under which the error log has it.
    pub fn code(self) -> &'static str {
        match self {
            PayloadError::Empty => "empty-input",
            PayloadError::Unreadable => "unreadable-input",
            PayloadError::NotText => "not-utf-8",
            PayloadError::NotJson => "not-json",
            PayloadError::NotAnObject => "not-an-object",
            PayloadError::NoEvent => "no-event",
        }
    }
}

impl Payload {
    /// Reads standard input, or what takes its place.
    ///
    /// # Errors
    /// Fails on what is no JSON object.
    pub fn read(mut input: impl Read) -> Result<Payload, PayloadError> {
        let mut bytes = Vec::new();
        let mut first = input.by_ref().take(PAYLOAD_BYTES_MAX as u64 + 1);
        first.read_to_end(&mut bytes).map_err(|_| PayloadError::Unreadable)?;
        if bytes.len() > PAYLOAD_BYTES_MAX {
            return Ok(Payload::of_scalars(read_scalars(bytes.as_slice().chain(input))?));
        }
        Payload::of_bytes(bytes)
    }

    fn of_scalars(map: Map) -> Payload {
        Payload { map, extent: PayloadExtent::Scalars, written: None }
    }

    /// Reads what was given whole.
    ///
    /// # Errors
    /// Fails on what is no JSON object.
    pub fn of_bytes(bytes: impl Into<Vec<u8>>) -> Result<Payload, PayloadError> {
        let mut bytes = bytes.into();
        if bytes.starts_with(BYTE_ORDER_MARK) {
            bytes.drain(..BYTE_ORDER_MARK.len());
        }
        if bytes.trim_ascii().is_empty() {
            return Err(PayloadError::Empty);
        }
        let written = String::from_utf8(bytes).map_err(|_| PayloadError::NotText)?;
        let read = match read_value(&written) {
            Err(ValueFault::TooMany) => {
                return Ok(Payload::of_scalars(read_scalars(written.as_bytes())?));
            }
            Err(ValueFault::NotJson) => return Err(PayloadError::NotJson),
            Ok(value) => value,
        };
        match read {
            Value::Map(map) => {
                Ok(Payload { map, extent: PayloadExtent::Whole, written: Some(written) })
            }
            Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::Bytes(_)
            | Value::List(_)
            | Value::Link(_) => Err(PayloadError::NotAnObject),
        }
    }
}

/// Why a text is no value here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueFault {
    /// It is not JSON, or nested too deeply.
    NotJson,
    /// It has more values than [`VALUES_MAX`].
    TooMany,
}

/// Reads one JSON value of at most 64 levels.
pub(super) fn read_value(text: &str) -> Result<Value, ValueFault> {
    let options = ReaderOptions {
        nesting_max: NESTING_MAX,
        values_max: VALUES_MAX,
        half_pairs: HalfPairs::Replace,
    };
    let read = reader::read(text, options, PayloadSink);
    read.map_err(|fault| match fault.reason == JsonReason::TooLarge {
        true => ValueFault::TooMany,
        false => ValueFault::NotJson,
    })
}

/// Builds values: whatever JSON can say has one.
struct PayloadSink;

impl<'t> Sink<'t> for PayloadSink {
    type Value = Value;
    type Key = String;
    type Members = Map;

    fn scalar(&mut self, scalar: Scalar<'t>) -> Result<Value, JsonReason> {
        Ok(value_of(scalar))
    }

    fn list(&mut self, items: Vec<Value>) -> Result<Value, JsonReason> {
        Ok(Value::List(items))
    }

    fn key(&mut self, text: Cow<'t, str>) -> String {
        text.into_owned()
    }

    fn member(&mut self, members: &mut Map, key: String, value: Value) {
        members.insert(key, value);
    }

    fn object(&mut self, members: Map) -> Result<Value, JsonReason> {
        Ok(Value::Map(members))
    }
}

/// Makes the value of a scalar; a number that no value can hold becomes a text.
pub(super) fn value_of(scalar: Scalar<'_>) -> Value {
    match scalar {
        Scalar::Null => Value::Null,
        Scalar::Bool(truth) => Value::Bool(truth),
        Scalar::Text(text) => Value::Text(text.into_owned()),
        Scalar::Number(digits) => number_value(digits),
    }
}
