//! JSON as AgentLang reads and prints it.
//!
//! Beside `serde_json`: both take the same texts, but for what the reader says of itself (numbers
//! without a finite value, depth, halves of surrogate pairs), and both read the same value. What is
//! printed reads back as the same value, on one line and on several.

use agentic_lang_agent::{Data, DataJsonError, json};
use serde_json::Value as Json;

use crate::text_of;

/// Checks one text.
pub fn check(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    let theirs = serde_json::from_str::<Json>(text);
    match json::from_text(text) {
        Ok(value) => {
            let printed = json::to_text(&value);
            let again = json::from_text(&printed).expect("what is printed reads back");
            assert_eq!(json::to_text(&again), printed);
            let pretty = json::from_text(&json::to_pretty(&value)).expect("pretty text reads back");
            assert_eq!(json::to_text(&pretty), printed);
            match theirs {
                Ok(theirs) => assert!(is_same(&value, &theirs), "{text}: {printed} or {theirs}"),
                Err(error) => assert!(is_lenient(&error), "only we read {text}: {error}"),
            }
        }
        Err(DataJsonError::TooLarge) => {}
        Err(DataJsonError::Syntax { reason, .. }) => {
            assert!(
                theirs.is_err() || reason.contains("number"),
                "only we refuse {text}: {reason}"
            );
        }
    }
}

/// Tells whether we promise to read what the other refuses: deep values, and long whole numbers.
fn is_lenient(error: &serde_json::Error) -> bool {
    let said = error.to_string();
    said.contains("recursion limit") || said.contains("number out of range")
}

fn is_same(ours: &Data, theirs: &Json) -> bool {
    match (ours, theirs) {
        (Data::Null, Json::Null) => true,
        (Data::Bool(one), Json::Bool(other)) => one == other,
        (Data::Text(one), Json::String(other)) => **one == **other,
        (Data::Int(one), Json::Number(other)) => {
            other.as_i64().is_some_and(|other| other == *one)
                || (*one == 0 && other.as_f64() == Some(0.0))
        }
        // The other keeps of long numbers what a float has room for.
        (Data::Big(one), Json::Number(other)) => {
            one.to_string().parse::<f64>().is_ok_and(|one| other.as_f64() == Some(one))
        }
        (Data::Float(one), Json::Number(other)) => {
            other.as_f64().is_some_and(|other| other.to_bits() == one.to_bits())
        }
        (Data::List(_), Json::Array(theirs)) => {
            let ours = ours.items().expect("a list has items");
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| is_same(a, b))
        }
        (Data::Object(_), Json::Object(theirs)) => {
            let ours = ours.fields().expect("an object has fields");
            let mut fields = ours.iter();
            ours.len() == theirs.len()
                && fields
                    .all(|(name, value)| theirs.get(&**name).is_some_and(|it| is_same(value, it)))
        }
        _ => false,
    }
}
