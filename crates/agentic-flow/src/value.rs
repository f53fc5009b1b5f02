//! Values of the model as values of a script, and back, exactly.

use agentic_model::value::NESTING_MAX;
use agentic_model::{Cid, Map, Value};
use rhai::{Array, Blob, Dynamic, ImmutableString};

use crate::limits::{ITEMS_MAX, TEXT_BYTES_MAX};

/// A reference to an object, as scripts hold it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScriptLink(pub(crate) Cid);

/// A value of a script is no data: a function, a range, a character, a number that is not finite.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotData {
    #[error("a value of type `{type_name}` is no data")]
    Type { type_name: String },
    #[error("a number that is not finite is no data")]
    NotFinite,
    #[error("a value that nests deeper than {NESTING_MAX} levels is no data")]
    TooDeep,
}

/// Turns a value of a script into data.
pub(crate) fn to_value(dynamic: &Dynamic) -> Result<Value, NotData> {
    to_value_below(dynamic, 0)
}

fn to_value_below(dynamic: &Dynamic, above: usize) -> Result<Value, NotData> {
    if above > NESTING_MAX {
        return Err(NotData::TooDeep);
    }
    if dynamic.is_unit() {
        return Ok(Value::Null);
    }
    if let Ok(truth) = dynamic.as_bool() {
        return Ok(Value::Bool(truth));
    }
    if let Ok(number) = dynamic.as_int() {
        return Ok(Value::Int(number));
    }
    if let Ok(number) = dynamic.as_float() {
        return if number.is_finite() { Ok(Value::Float(number)) } else { Err(NotData::NotFinite) };
    }
    if let Some(text) = dynamic.read_lock::<ImmutableString>() {
        return Ok(Value::text(text.as_str()));
    }
    if let Some(items) = dynamic.read_lock::<Array>() {
        let items = items.iter().map(|item| to_value_below(item, above + 1));
        return Ok(Value::List(items.collect::<Result<_, _>>()?));
    }
    if let Some(map) = dynamic.read_lock::<rhai::Map>() {
        let pairs =
            map.iter().map(|(key, item)| Ok((key.to_string(), to_value_below(item, above + 1)?)));
        return Ok(Value::Map(pairs.collect::<Result<Map, NotData>>()?));
    }
    if let Some(bytes) = dynamic.read_lock::<Blob>() {
        return Ok(Value::Bytes(bytes.clone()));
    }
    if let Some(link) = dynamic.read_lock::<ScriptLink>() {
        return Ok(Value::Link(link.0));
    }
    Err(NotData::Type { type_name: dynamic.type_name().to_owned() })
}

/// Turns data into a value of a script.
pub(crate) fn from_value(value: Value) -> Dynamic {
    match value {
        Value::Null => Dynamic::UNIT,
        Value::Bool(truth) => truth.into(),
        Value::Int(number) => number.into(),
        Value::Float(number) => number.into(),
        Value::Text(text) => text.into(),
        Value::Bytes(bytes) => Dynamic::from_blob(bytes),
        Value::List(items) => Dynamic::from_array(items.into_iter().map(from_value).collect()),
        Value::Map(map) => Dynamic::from_map(
            map.into_iter().map(|(key, item)| (key.into(), from_value(item))).collect(),
        ),
        Value::Link(cid) => Dynamic::from(ScriptLink(cid)),
    }
}

/// Says whether a script can hold a value within its limits.
pub(crate) fn fits(value: &Value) -> bool {
    let (items, bytes) = measure(value);
    items <= ITEMS_MAX && bytes <= TEXT_BYTES_MAX
}

/// Counts the items and the bytes of text in a value.
fn measure(value: &Value) -> (usize, usize) {
    let sum = |(items, bytes): (usize, usize), item: &Value| {
        let (more_items, more_bytes) = measure(item);
        (items + 1 + more_items, bytes + more_bytes)
    };
    match value {
        Value::Text(text) => (0, text.len()),
        Value::Bytes(bytes) => (bytes.len(), 0),
        Value::List(items) => items.iter().fold((0, 0), sum),
        Value::Map(map) => map.values().fold((0, 0), sum),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Link(_) => (0, 0),
    }
}
