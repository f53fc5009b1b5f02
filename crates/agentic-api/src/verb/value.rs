//! Values of ours in verbs that come as JSON.

use agentic_model::{Instant, Map, Value, json};
use agentic_providers::model::Adapter;
use agentic_session::decide::{Action, ApprovalScope};
use serde::de::{Deserialize, Deserializer, Error as _};
use serde_json::Value as Json;

/// Reads a value.
pub(super) fn read_value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    json::from_json(Json::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// Returns the value of what was left out.
pub(super) fn null() -> Value {
    Value::Null
}

/// Reads a value that may be left out; null is one.
pub(super) fn read_given<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Value>, D::Error> {
    read_value(deserializer).map(Some)
}

/// Reads a map of values.
pub(super) fn read_map<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map, D::Error> {
    let Value::Map(map) = read_value(deserializer)? else {
        return Err(D::Error::custom("it is not a JSON map"));
    };
    Ok(map)
}

/// Reads what a person may do with a hold.
pub(super) fn read_action<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Action, D::Error> {
    read_word(deserializer, Action::parse, "say approve, reject, edit or respond")
}

/// Reads for how long an approval counts.
pub(super) fn read_scope<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<ApprovalScope, D::Error> {
    read_word(deserializer, ApprovalScope::parse, "say once or rest-of-session")
}

/// Reads an instant.
pub(super) fn read_instant<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Instant, D::Error> {
    read_word(deserializer, Instant::parse, "an instant is like 2026-11-21T22:40:01Z")
}

/// Reads any JSON value, as the text that it is.
pub(super) fn read_json_text<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    Ok(Some(Json::deserialize(deserializer)?.to_string()))
}

/// Reads who performs what agents do.
pub(super) fn read_adapter<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Adapter>, D::Error> {
    let Some(name) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    parse_adapter(&name).map(Some).map_err(D::Error::custom)
}

/// Reads the name of an adapter.
///
/// # Errors
/// Returns which there are.
pub fn parse_adapter(text: &str) -> Result<Adapter, String> {
    let names = || Adapter::ALL.map(Adapter::as_str).join(", ");
    Adapter::parse(text).ok_or_else(|| format!("an adapter is one of {}", names()))
}

fn read_word<'de, D: Deserializer<'de>, W>(
    deserializer: D,
    parse: impl FnOnce(&str) -> Option<W>,
    form: &str,
) -> Result<W, D::Error> {
    parse(&String::deserialize(deserializer)?).ok_or_else(|| D::Error::custom(form))
}
