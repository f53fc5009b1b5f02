//! The text of a value, for agents that want text.

use agentic_model::{Value, json};

/// Returns what an agent that wants text sees of a value: a text itself; nothing for null; the
/// field `text` of a map, where it is text; the non-empty texts of a list, joined by one blank;
/// anything else as JSON.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Null => String::new(),
        Value::Map(map) => match map.get("text") {
            Some(Value::Text(text)) => text.clone(),
            _ => json::to_text(value),
        },
        Value::List(items) => {
            let texts: Vec<String> =
                items.iter().map(text_of).filter(|text| !text.is_empty()).collect();
            texts.join(" ")
        }
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Bytes(_) | Value::Link(_) => {
            json::to_text(value)
        }
    }
}
