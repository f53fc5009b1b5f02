//! Memories: records that a program adds and finds again.

use agentic_model::Value;
use serde_json::value::RawValue;

use crate::tool::arguments;

/// The kind of a request to a memory.
pub const MEMORY_REQUEST: &str = "memory";

/// A call of a memory: a request of kind `memory` with `memory`, `operation`, `uri` and `args`.
#[derive(Debug)]
pub struct MemoryCall {
    /// The name under which the program knows the memory.
    pub memory: String,
    /// `add` or `query`.
    pub operation: String,
    /// Where the memory is, such as `file:///notes.jsonl` or `sqlite:///notes.db#facts`.
    pub uri: String,
    /// The arguments, each as JSON text with its keys in order.
    pub args: Vec<Box<RawValue>>,
}

impl MemoryCall {
    /// Reads a call. Arguments that are no JSON list count as none.
    pub fn of(payload: &Value) -> MemoryCall {
        let text = |key| payload.get(key).and_then(Value::as_text).unwrap_or_default();
        MemoryCall {
            memory: text("memory").to_owned(),
            operation: text("operation").to_owned(),
            uri: text("uri").to_owned(),
            args: arguments(payload),
        }
    }
}
