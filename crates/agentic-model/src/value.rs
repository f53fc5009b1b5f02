//! The one value model: what objects, requests, answers, flows and plans are made of.

use std::collections::BTreeMap;
use std::fmt;

use serde::ser::{Serialize, SerializeMap as _, SerializeSeq as _, Serializer};

use crate::Cid;

/// A map with text keys. Keys are held in byte order; the canonical form has its own order.
pub type Map = BTreeMap<String, Value>;

/// How deep lists and maps may nest. Decoders refuse more, so that no reader can be made to
/// overflow its stack.
pub const NESTING_MAX: usize = 64;

/// A piece of data. Every variant has exactly one canonical encoding.
#[derive(Clone, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number of 64 bits.
    Int(i64),
    /// A finite number; never NaN or an infinity. Kept apart from `Int`, even when whole.
    Float(f64),
    /// Unicode text.
    Text(String),
    /// Raw bytes.
    Bytes(Vec<u8>),
    /// A list, in order.
    List(Vec<Value>),
    /// A map; key order carries no meaning.
    Map(Map),
    /// A reference to an object by its content id.
    Link(Cid),
}

impl Value {
    /// Makes a text value.
    pub fn text(text: impl Into<String>) -> Value {
        Value::Text(text.into())
    }

    /// Makes a map from pairs; a later pair replaces an earlier one with the same key.
    pub fn map<K: Into<String>>(pairs: impl IntoIterator<Item = (K, Value)>) -> Value {
        Value::Map(pairs.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    /// Returns the text, if this is text.
    pub fn as_text(&self) -> Option<&str> {
        if let Value::Text(text) = self { Some(text) } else { None }
    }

    /// Returns the whole number, if this is one.
    pub fn as_int(&self) -> Option<i64> {
        if let Value::Int(number) = self { Some(*number) } else { None }
    }

    /// Returns the number, whole or not, if this is one.
    pub fn as_number(&self) -> Option<f64> {
        if let Value::Float(number) = self {
            Some(*number)
        } else {
            self.as_int().map(|number| number as f64)
        }
    }

    /// Returns the truth value, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        if let Value::Bool(truth) = self { Some(*truth) } else { None }
    }

    /// Returns the bytes, if this is raw bytes.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        if let Value::Bytes(bytes) = self { Some(bytes) } else { None }
    }

    /// Returns the items, if this is a list.
    pub fn as_list(&self) -> Option<&[Value]> {
        if let Value::List(items) = self { Some(items) } else { None }
    }

    /// Returns the map, if this is one.
    pub fn as_map(&self) -> Option<&Map> {
        if let Value::Map(map) = self { Some(map) } else { None }
    }

    /// Returns the content id, if this is a link.
    pub fn as_link(&self) -> Option<Cid> {
        if let Value::Link(cid) = self { Some(*cid) } else { None }
    }

    /// Returns the value under `key`, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_map().and_then(|map| map.get(key))
    }

    /// Names the variant as a person would: `text`, `list`, ….
    pub fn variant(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "bool",
            Value::Int(_) => "integer",
            Value::Float(_) => "float",
            Value::Text(_) => "text",
            Value::Bytes(_) => "bytes",
            Value::List(_) => "list",
            Value::Map(_) => "map",
            Value::Link(_) => "link",
        }
    }

    /// Changes every part that is neither a list nor a map. Keys stay as they are.
    #[must_use]
    pub fn map_scalars(self, change: &impl Fn(Value) -> Value) -> Value {
        match self {
            Value::List(items) => {
                Value::List(items.into_iter().map(|item| item.map_scalars(change)).collect())
            }
            Value::Map(map) => {
                let fields = map.into_iter().map(|(key, item)| (key, item.map_scalars(change)));
                Value::Map(fields.collect())
            }
            scalar @ (Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::Bytes(_)
            | Value::Link(_)) => change(scalar),
        }
    }

    /// Counts the levels of nesting: 0 for a scalar, 1 for a list of scalars. Counting stops just
    /// above [`NESTING_MAX`], so that the count itself is bounded.
    pub fn nesting(&self) -> usize {
        nesting_below(self, 0)
    }
}

fn nesting_below(value: &Value, above: usize) -> usize {
    if above > NESTING_MAX {
        return above;
    }
    match value {
        Value::List(items) => {
            items.iter().map(|item| nesting_below(item, above + 1)).max().unwrap_or(above + 1)
        }
        Value::Map(map) => {
            map.values().map(|item| nesting_below(item, above + 1)).max().unwrap_or(above + 1)
        }
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::Bytes(_)
        | Value::Link(_) => above,
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", crate::json::to_text(self))
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_none(),
            Value::Bool(truth) => serializer.serialize_bool(*truth),
            Value::Int(number) => serializer.serialize_i64(*number),
            Value::Float(number) => serializer.serialize_f64(*number),
            Value::Text(text) => serializer.serialize_str(text),
            Value::Bytes(bytes) => serializer.serialize_bytes(bytes),
            Value::List(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
            Value::Map(map) => {
                let mut out = serializer.serialize_map(Some(map.len()))?;
                for (key, item) in map {
                    out.serialize_entry(key, item)?;
                }
                out.end()
            }
            Value::Link(cid) => cid.inner().serialize(serializer),
        }
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Value {
        Value::Bool(truth)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        Value::Int(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Value {
        Value::List(items)
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Value {
        Value::Map(map)
    }
}

impl From<Cid> for Value {
    fn from(cid: Cid) -> Value {
        Value::Link(cid)
    }
}
