//! Values as JSON, for people and other programs.
//!
//! Bytes and links have no JSON form of their own; they are written as DAG-JSON does:
//! `{"/":{"bytes":"AQI"}}` and `{"/":"bafyr4i…"}` (<https://ipld.io/specs/codecs/dag-json/spec/>).
//! [`to_text`] is canonical: one line, keys in byte order, no blanks.
//!
//! `serde_json` reads and prints these values. What it cannot carry (the order of keys, whole numbers
//! of any length, infinite numbers, halves of surrogate pairs, the byte of a fault) the values of the
//! languages need; [`mod@reader`] and [`printer`] are theirs.

pub mod printer;
pub mod reader;

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Json;

use crate::{Cid, Map, Value};

/// Why a piece of JSON is not a [`Value`].
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    /// The text is not JSON.
    #[error("not JSON: {0}")]
    Syntax(#[from] serde_json::Error),
    /// A number fits neither 64-bit integers nor finite floats.
    #[error("the number `{0}` fits neither a 64-bit integer nor a finite float")]
    Number(String),
}

/// Parses JSON text. As in JavaScript, a whole number beyond the unsigned 64-bit range is read as a
/// float; between the signed and the unsigned range it is refused.
///
/// # Errors
/// Fails on text that is not JSON, on a key that stands twice in a map, on nesting above 128 and on
/// numbers that do not fit.
pub fn from_text(text: &str) -> Result<Value, JsonError> {
    from_json(parse(text)?)
}

/// Parses JSON text in which no key stands twice in a map: of two, no reader can know which is meant.
///
/// # Errors
/// Fails on text that is not JSON, on a key that stands twice in a map and on nesting above 128.
pub fn parse(text: &str) -> Result<Json, JsonError> {
    let Unambiguous(json) = serde_json::from_str(text)?;
    Ok(json)
}

/// Prints a value as canonical JSON on one line.
pub fn to_text(value: &Value) -> String {
    to_json(value).to_string()
}

/// Prints a value as people read one: a text as it is, anything else as canonical JSON.
pub fn to_plain_text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Bytes(_)
        | Value::List(_)
        | Value::Map(_)
        | Value::Link(_) => to_text(value),
    }
}

/// Turns parsed JSON into a value.
///
/// # Errors
/// Fails on numbers that fit neither a 64-bit integer nor a finite float.
pub fn from_json(json: Json) -> Result<Value, JsonError> {
    Ok(match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(truth),
        Json::Number(number) => from_number(&number)?,
        Json::String(text) => Value::Text(text),
        Json::Array(items) => {
            Value::List(items.into_iter().map(from_json).collect::<Result<_, _>>()?)
        }
        Json::Object(members) => match reserved_form(&members) {
            Some(value) => value,
            None => Value::Map(
                members
                    .into_iter()
                    .map(|(key, item)| Ok((key, from_json(item)?)))
                    .collect::<Result<Map, JsonError>>()?,
            ),
        },
    })
}

/// Turns a value into JSON.
pub fn to_json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(truth) => Json::Bool(*truth),
        Value::Int(number) => Json::from(*number),
        Value::Float(number) => Json::from(*number),
        Value::Text(text) => Json::String(text.clone()),
        Value::Bytes(bytes) => serde_json::json!({ "/": { "bytes": BASE64.encode(bytes) } }),
        Value::List(items) => Json::Array(items.iter().map(to_json).collect()),
        Value::Map(map) => {
            Json::Object(map.iter().map(|(key, item)| (key.clone(), to_json(item))).collect())
        }
        Value::Link(cid) => serde_json::json!({ "/": cid.to_string() }),
    }
}

/// JSON in which no key stands twice in a map.
struct Unambiguous(Json);

impl<'de> Deserialize<'de> for Unambiguous {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Unambiguous, D::Error> {
        deserializer.deserialize_any(AnyJson).map(Unambiguous)
    }
}

/// Takes whatever comes.
struct AnyJson;

impl<'de> Visitor<'de> for AnyJson {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Json, E> {
        Ok(Json::Bool(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
        Ok(Json::from(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json, E> {
        Ok(Json::from(number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json, E> {
        Ok(Json::from(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::from(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(Unambiguous(item)) = sequence.next_element()? {
            items.push(item);
        }
        Ok(Json::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut members = serde_json::Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if members.contains_key(&key) {
                return Err(A::Error::custom(format!("the key `{key}` stands twice")));
            }
            let Unambiguous(item) = map.next_value()?;
            members.insert(key, item);
        }
        Ok(Json::Object(members))
    }
}

/// Counts the bytes before the first that must be escaped in a text.
fn plain_length(bytes: &[u8]) -> usize {
    // Whole chunks are looked at at once, which the processor does without branches.
    const CHUNK: usize = 32;
    let chunks = bytes.chunks_exact(CHUNK);
    let is_clean =
        |chunk: &&[u8]| !chunk.iter().fold(false, |found, byte| found | is_escaped(*byte));
    let start = chunks.take_while(is_clean).count() * CHUNK;
    let rest = &bytes[start..];
    start + rest.iter().position(|byte| is_escaped(*byte)).unwrap_or(rest.len())
}

/// Tells whether a byte cannot stand in a text as it is.
fn is_escaped(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

fn from_number(number: &serde_json::Number) -> Result<Value, JsonError> {
    if let Some(whole) = number.as_i64() {
        return Ok(Value::Int(whole));
    }
    match number.as_f64() {
        Some(float) if number.is_f64() && float.is_finite() => Ok(Value::Float(float)),
        _ => Err(JsonError::Number(number.to_string())),
    }
}

/// Recognises the two forms that DAG-JSON reserves; anything else under `/` is an ordinary map.
fn reserved_form(members: &serde_json::Map<String, Json>) -> Option<Value> {
    if members.len() != 1 {
        return None;
    }
    match members.get("/")? {
        Json::String(text) => Cid::parse(text).ok().map(Value::Link),
        Json::Object(inner) if inner.len() == 1 => {
            let text = inner.get("bytes")?.as_str()?;
            BASE64.decode(text).ok().map(Value::Bytes)
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, canonical: &str) {
        assert_eq!(to_text(&from_text(text).expect("the case is valid")), canonical);
    }

    #[test]
    fn canonical_text_sorts_keys_and_keeps_number_identity() {
        check(r#"{ "b": 1, "a": 1.0 }"#, r#"{"a":1.0,"b":1}"#);
        check("[1e3, 0.1, -0]", "[1000.0,0.1,-0.0]");
        check(r#""\u00e9\n""#, "\"é\\n\"");
    }

    #[test]
    fn bytes_and_links_use_the_reserved_forms() {
        check(r#"{"/":{"bytes":"AQI"}}"#, r#"{"/":{"bytes":"AQI"}}"#);
        check(r#"{"/":"not a cid"}"#, r#"{"/":"not a cid"}"#);
    }

    #[test]
    fn a_key_that_stands_twice_is_refused_at_any_depth() {
        for text in [r#"{"a":1,"a":1}"#, r#"[{"b":{"a":1,"c":2,"\u0061":3}}]"#] {
            let error = from_text(text).expect_err("the key is ambiguous").to_string();
            assert!(error.contains("`a` stands twice"), "{error}");
        }
        check(r#"{"a":{"a":1},"b":{"a":2}}"#, r#"{"a":{"a":1},"b":{"a":2}}"#);
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        for text in ["9223372036854775808", "18446744073709551615", "1e999"] {
            assert!(from_text(text).is_err(), "{text}");
        }
    }
}
