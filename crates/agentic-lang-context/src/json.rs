//! Values that keep the order of their keys.
//!
//! The common value model has maps without order and two sorts of numbers; this language has
//! insertion order, which prompts, equality and results show, and IEEE doubles alone. [`Json`] is
//! that model. It crosses the boundary to requests and records as one text ([`to_value`],
//! [`from_value`]).

mod number;
mod ordered;
mod parse;
mod print;
mod size;

use std::sync::Arc;

use agentic_model::Value;

pub use crate::json::number::number_to_text;
pub use crate::json::ordered::OrderedMap;
pub(crate) use crate::json::parse::parse_within;
pub use crate::json::parse::{JsonFault, parse};
pub(crate) use crate::json::print::pretty_sized;
pub use crate::json::print::{compact, pretty, write_text};
pub(crate) use crate::json::size::{number_size, text_size};

/// How deep lists and objects may nest, in programs, replies and inputs.
pub const JSON_NESTING_MAX: usize = 256;

/// The field under which a value crosses the boundary to requests and records.
const WIRE_FIELD: &str = "json";

/// A value of the language without live resources: what is shown, compared and recorded.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Json {
    /// `none`.
    #[default]
    Null,
    /// A truth value.
    Bool(bool),
    /// An IEEE double; one that is not finite prints as `null`.
    Number(f64),
    /// Unicode text.
    Text(Arc<str>),
    /// A list, in order.
    List(Vec<Json>),
    /// An object, in insertion order.
    Object(OrderedMap<Json>),
}

impl Json {
    /// Makes a text.
    pub fn text(text: impl Into<Arc<str>>) -> Json {
        Json::Text(text.into())
    }

    /// Makes an object from pairs; a later pair replaces the value of an earlier one in place.
    pub fn object<K: Into<Arc<str>>>(pairs: impl IntoIterator<Item = (K, Json)>) -> Json {
        Json::Object(pairs.into_iter().map(|(key, item)| (key.into(), item)).collect())
    }

    /// Makes a whole number.
    pub fn count(count: usize) -> Json {
        Json::Number(count as f64)
    }

    /// Returns about how many bytes the value takes.
    pub(crate) fn weight(&self) -> u64 {
        const VALUE: u64 = 16;
        let inside = match self {
            Json::Null | Json::Bool(_) | Json::Number(_) => 0,
            Json::Text(text) => text.len() as u64,
            Json::List(items) => items.iter().map(Json::weight).sum(),
            Json::Object(entries) => {
                entries.iter().map(|(key, item)| key.len() as u64 + item.weight()).sum()
            }
        };
        VALUE + inside
    }

    /// Returns the text, if this is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::List(_) | Json::Object(_) => None,
        }
    }

    /// Returns the items, if this is a list.
    pub fn as_list(&self) -> Option<&[Json]> {
        match self {
            Json::List(items) => Some(items),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) | Json::Object(_) => None,
        }
    }

    /// Returns the object, if this is one.
    pub fn as_object(&self) -> Option<&OrderedMap<Json>> {
        match self {
            Json::Object(entries) => Some(entries),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) | Json::List(_) => None,
        }
    }

    /// Returns the value under `key`, if this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.as_object().and_then(|entries| entries.get(key))
    }
}

/// Carries a value into a request, a record or a result.
pub fn to_value(json: &Json) -> Value {
    Value::map([(WIRE_FIELD, Value::Text(compact(json)))])
}

/// Takes a value out of an answer or a start record.
///
/// A map with the one text field `json` is what [`to_value`] made. Anything else is a value of the
/// common model, whose keys come in byte order.
///
/// # Errors
/// Fails when the text is not JSON or nests deeper than [`JSON_NESTING_MAX`].
pub fn from_value(value: &Value) -> Result<Json, JsonFault> {
    match wire_text(value) {
        Some(text) => parse(text),
        None => parse(&agentic_model::json::to_text(value)),
    }
}

/// Returns the text of a value that [`to_value`] made.
pub(crate) fn wire_text(value: &Value) -> Option<&str> {
    if let Value::Map(map) = value
        && map.len() == 1
    {
        map.get(WIRE_FIELD)?.as_text()
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
