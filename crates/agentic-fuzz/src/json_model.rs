//! JSON as values of the model.
//!
//! What is read has a canonical text that reads back as the same value and is its own canonical text;
//! `serde_json` takes every text that we take.

use agentic_model::json;

use crate::text_of;

/// Checks one text.
pub fn check(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    let Ok(value) = json::from_text(text) else { return };
    let printed = json::to_text(&value);
    let again = json::from_text(&printed).expect("what is printed reads back");
    assert_eq!(again, value, "{printed}");
    assert_eq!(json::to_text(&again), printed);
    serde_json::from_str::<serde_json::Value>(text).expect("it is JSON to others too");
}
