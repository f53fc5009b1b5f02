//! Replies of models that must be data.

use agentic_model::{Map, Value, json};
use agentic_plan::text_of;
use agentic_replay::Failure;

/// The code of a reply that is not what was asked for; never retried.
const INVALID: &str = "InvalidLLMResponse";

/// Makes the failure of a reply that is not what was asked for.
pub(super) fn invalid(reason: &str) -> Failure {
    Failure::new(INVALID, format!("the reply of the model is not usable: {reason}"))
}

/// Returns what a model said; why it ended and what it cost stands in the record alone.
pub(super) fn said(reply: Value) -> Value {
    match reply {
        Value::Map(mut map) if map.contains_key("finish") => match map.remove("text") {
            Some(Value::Text(text)) => Value::Text(text),
            Some(_) | None => Value::Map(map),
        },
        other => other,
    }
}

/// Reads a reply that must be one JSON object, as data or as text and nothing else.
pub(super) fn object(reply: &Value) -> Result<Map, Failure> {
    match data(reply) {
        Some(Value::Map(map)) => Ok(map),
        _ => Err(invalid("it is not one JSON object")),
    }
}

/// Reads a reply as data: what it is, or what its text says as JSON. A map with nothing but a text
/// is that text.
pub(super) fn data(reply: &Value) -> Option<Value> {
    let text = match reply {
        Value::Text(text) => text.clone(),
        Value::Map(map) if map.len() == 1 && map.contains_key("text") => text_of(reply),
        other => return Some(other.clone()),
    };
    json::from_text(text.trim()).ok()
}

/// Reads an optional text of a reply.
pub(super) fn text(map: &Map, key: &str) -> Result<String, Failure> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::Text(text)) => Ok(text.clone()),
        Some(_) => Err(invalid(&format!("its `{key}` is not text"))),
    }
}
