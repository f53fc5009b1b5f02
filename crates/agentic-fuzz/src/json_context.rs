//! JSON as the context language reads and prints it.
//!
//! Beside `serde_json`: both take the same texts, but for depth and halves of surrogate pairs, and both
//! read the same value. What is printed reads back as the same value, on one line and on several.

use agentic_lang_context::json::{self, JSON_NESTING_MAX, Json as Ours};
use serde_json::Value as Json;

use crate::text_of;

/// Checks one text.
pub fn check(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    let theirs = serde_json::from_str::<Json>(text);
    match json::parse(text) {
        Ok(value) => {
            let printed = json::compact(&value);
            let again = json::parse(&printed).expect("what is printed reads back");
            assert_eq!(json::compact(&again), printed);
            let pretty = json::parse(&json::pretty(&value)).expect("pretty text reads back");
            assert_eq!(json::compact(&pretty), printed);
            match theirs {
                Ok(theirs) => assert!(is_same(&value, &theirs), "{text}: {printed} or {theirs}"),
                Err(error) => assert!(is_lenient(text, &error), "only we read {text}: {error}"),
            }
        }
        Err(fault) => {
            let is_deep = fault.reason.contains("deep") && depth(text) > JSON_NESTING_MAX;
            assert!(theirs.is_err() || is_deep, "only we refuse {text}: {fault}");
        }
    }
}

/// Tells whether we promise to read what the other refuses.
fn is_lenient(text: &str, error: &serde_json::Error) -> bool {
    let said = error.to_string();
    ["recursion limit", "number out of range"].iter().any(|it| said.contains(it))
        || (text.contains("\\u")
            && ["surrogate", "hex escape", "unexpected end"].iter().any(|it| said.contains(it)))
}

fn depth(text: &str) -> usize {
    text.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count()
}

fn is_same(ours: &Ours, theirs: &Json) -> bool {
    match (ours, theirs) {
        (Ours::Null, Json::Null) => true,
        (Ours::Bool(one), Json::Bool(other)) => one == other,
        (Ours::Text(one), Json::String(other)) => **one == **other,
        (Ours::Number(one), Json::Number(other)) => {
            other.as_f64().is_some_and(|other| other.to_bits() == one.to_bits() || other == *one)
        }
        (Ours::List(ours), Json::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| is_same(a, b))
        }
        (Ours::Object(ours), Json::Object(theirs)) => {
            let same = |(name, value): (&std::sync::Arc<str>, &Ours)| {
                theirs.get(&**name).is_some_and(|other| is_same(value, other))
            };
            ours.len() == theirs.len() && ours.iter().all(same)
        }
        _ => false,
    }
}
