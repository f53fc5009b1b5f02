//! Values of ours in verbs that come as JSON.

use agentic_model::{Map, Value, json};
use serde::de::{Deserialize, Deserializer, Error as _};
use serde_json::Value as Json;

/// Reads a value.
pub(super) fn read_value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    json::from_json(Json::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// Reads a map of values.
pub(super) fn read_map<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map, D::Error> {
    let Value::Map(map) = read_value(deserializer)? else {
        return Err(D::Error::custom("it is not a JSON map"));
    };
    Ok(map)
}
