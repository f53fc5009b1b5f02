//! Tools: what a program calls in the world around it.

use agentic_model::Value;
use agentic_replay::{Answer, Failure};
use serde_json::value::RawValue;

/// The kind of a request to a tool.
pub const TOOL_REQUEST: &str = "tool";

/// A call of a tool: a request of kind `tool` with `tool`, `method`, `uri` and `args`.
#[derive(Debug)]
pub struct ToolCall {
    /// The name under which the program knows the tool.
    pub tool: String,
    /// What is called.
    pub method: String,
    /// Where the tool is, such as `file://workspace` or `mcp://search`.
    pub uri: String,
    /// The arguments, each as JSON text with its keys in order.
    pub args: Vec<Box<RawValue>>,
}

/// A failed call of a tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolFault {
    /// Whether the tool refused or was interrupted.
    pub class: ToolFaultClass,
    /// What happened. Never holds a secret.
    pub message: String,
}

/// The sorts of failures of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolFaultClass {
    /// The call is wrong, or may not be made, or failed.
    Refused,
    /// The time limit passed first.
    TimedOut,
    /// Nobody waits any more.
    Cancelled,
}

impl ToolFault {
    /// Makes the failure of a call that is refused.
    pub fn refused(message: impl Into<String>) -> ToolFault {
        ToolFault { class: ToolFaultClass::Refused, message: message.into() }
    }
}

impl ToolCall {
    /// Reads a call. Arguments that are no JSON list count as none.
    pub fn of(payload: &Value) -> ToolCall {
        let text = |key| payload.get(key).and_then(Value::as_text).unwrap_or_default();
        ToolCall {
            tool: text("tool").to_owned(),
            method: text("method").to_owned(),
            uri: text("uri").to_owned(),
            args: arguments(payload),
        }
    }
}

/// Reads the arguments of a call of a tool or a memory.
pub(crate) fn arguments(payload: &Value) -> Vec<Box<RawValue>> {
    let text = payload.get("args").and_then(Value::as_text).unwrap_or_default();
    serde_json::from_str(text).unwrap_or_default()
}

/// The answer to a request that a provider refused.
pub(crate) fn refused(message: impl Into<String>) -> Answer {
    Answer::Failed(Failure::new("refused", message))
}
