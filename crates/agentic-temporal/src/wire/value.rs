//! Values and bytes on their way.

use agentic_model::{Value, canonical, json};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};

use super::BadWire;

/// How long a value is that crosses in its shorter form, in bytes.
const LONG_BYTES: usize = 64 << 10;

/// A value on its way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WireValue {
    /// As JSON.
    Json(serde_json::Value),
    /// As its canonical bytes, in Base64.
    Canonical(String),
}

impl WireValue {
    /// Takes a value up.
    pub fn of(value: &Value) -> WireValue {
        let bytes = canonical::encode(value).unwrap_or_default();
        let text = json::to_json(value);
        if bytes.len() > LONG_BYTES && text.to_string().len() > bytes.len() / 3 * 4 {
            return WireValue::Canonical(BASE64.encode(bytes));
        }
        if json::from_json(text.clone()).is_ok_and(|back| back == *value) {
            return WireValue::Json(text);
        }
        WireValue::Canonical(BASE64.encode(bytes))
    }

    /// Gives it back.
    ///
    /// # Errors
    /// Fails when it is none.
    pub fn value(self) -> Result<Value, BadWire> {
        let bad = BadWire { what: "value" };
        match self {
            WireValue::Json(text) => json::from_json(text).map_err(|_| bad),
            WireValue::Canonical(text) => {
                let bytes = BASE64.decode(text).map_err(|_| BadWire { what: "value" })?;
                canonical::decode(&bytes).map_err(|_| bad)
            }
        }
    }
}

/// Bytes as they cross the server.
pub fn packed(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

/// Gives bytes back.
///
/// # Errors
/// Fails when they are none.
pub fn unpacked(text: &str) -> Result<Vec<u8>, BadWire> {
    BASE64.decode(text).map_err(|_| BadWire { what: "bytes" })
}
