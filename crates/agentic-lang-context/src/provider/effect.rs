//! What a crash may do to each request of the language.

use agentic_replay::{EffectClass, Request};

use crate::run::{INPUT_REQUEST, MEMORY_REQUEST, MODEL_REQUEST, TOOL_REQUEST};

use super::text_field;

/// The programs that are built in and only read.
const READING_PROGRAMS: [&str; 4] = ["//find", "//grep", "//read-range", "//sed"];

/// Says to which class of effects a request belongs; nothing for a kind that is not of the
/// language.
pub fn effect_class(request: &Request) -> Option<EffectClass> {
    let method = text_field(&request.payload, "method");
    match request.kind.as_str() {
        MODEL_REQUEST | INPUT_REQUEST => Some(EffectClass::Read),
        MEMORY_REQUEST if text_field(&request.payload, "operation") == "add" => {
            Some(EffectClass::Idempotent)
        }
        MEMORY_REQUEST => Some(EffectClass::Read),
        TOOL_REQUEST => Some(tool_class(text_field(&request.payload, "uri"), method)),
        _ => None,
    }
}

fn tool_class(uri: &str, method: &str) -> EffectClass {
    let (scheme, rest) = uri.split_once(':').unwrap_or((uri, ""));
    match (scheme, method) {
        ("file", "read" | "list") | ("env", _) => EffectClass::Read,
        ("sh", _) if READING_PROGRAMS.contains(&rest) => EffectClass::Read,
        ("file", "write" | "patch" | "undo") => EffectClass::Idempotent,
        ("http" | "https", "get" | "head") => EffectClass::Read,
        _ => EffectClass::Once,
    }
}
