//! Tools: what a program calls in the world around it.

mod argument;
mod command;
mod configured;
mod env;
mod file;
mod guard;
mod http;
mod mcp;
mod placeholder;
mod search;
mod web;
pub(crate) mod workspace;

use std::time::Duration;

use agentic_model::Value;
use agentic_replay::{CancelExtent, ProgramFailure, RequestAnswer};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::host::CancelFlag;

pub use crate::tool::configured::RunTools;
pub use crate::tool::guard::{is_guarded, is_guarded_path, lies_in_git};
pub use crate::tool::mcp::OfferedTool;
pub use crate::tool::web::RESULTS_VARIABLE;

/// The kind of a request to a tool.
pub const TOOL_REQUEST: &str = "tool";
/// The kind of a request to a tool of an agent of AgentLang.
pub const AGENT_TOOL_REQUEST: &str = "agent-tool";
/// Who performs such a tool here: `by` in its payload.
const BY_WEB: &str = "web";

/// Says whether a request of kind `agent-tool` is for a tool that only reads the web.
pub fn reads_web(payload: &Value) -> bool {
    payload.get("by").and_then(Value::as_text) == Some(BY_WEB)
}

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
    /// Nobody is there to be asked: nothing of the call can have been done.
    Unreachable,
    /// The time limit passed first.
    TimedOut,
    /// Nobody waits any more.
    Cancelled,
}

impl ToolFault {
    /// Says whether nothing of the call can have been done, since nobody was there: it says nothing
    /// about the call.
    pub fn reached_nobody(&self) -> bool {
        match self.class {
            ToolFaultClass::Unreachable => true,
            ToolFaultClass::Refused | ToolFaultClass::TimedOut | ToolFaultClass::Cancelled => false,
        }
    }

    /// Makes the failure of a call that is refused.
    pub fn refused(message: impl Into<String>) -> ToolFault {
        ToolFault { class: ToolFaultClass::Refused, message: message.into() }
    }

    /// Makes the failure of a call that reached nobody.
    pub(crate) fn unreachable(message: impl Into<String>) -> ToolFault {
        ToolFault { class: ToolFaultClass::Unreachable, message: message.into() }
    }

    fn timed_out(message: impl Into<String>) -> ToolFault {
        ToolFault { class: ToolFaultClass::TimedOut, message: message.into() }
    }

    fn cancelled() -> ToolFault {
        let message = "the call was withdrawn".to_owned();
        ToolFault { class: ToolFaultClass::Cancelled, message }
    }
}

/// What surrounds a call of a tool.
pub struct ToolSetting<'a> {
    /// What no other run has; placeholders of secrets derive from it.
    pub session: &'a str,
    /// What no other effect has: the same when it is performed again.
    pub key: &'a str,
    /// How long the call may take; the tool's own limit without one.
    pub limit: Option<Duration>,
    /// What was found before the call was made for the first time; see [`RunTools::look`].
    pub found: Option<&'a Value>,
    /// Tells when nobody waits any more.
    pub cancel: &'a CancelFlag,
}

/// A result as JSON text, its keys in order.
type ToolResult = Result<String, ToolFault>;

fn json(result: &impl Serialize) -> ToolResult {
    serde_json::to_string(result).map_err(|error| ToolFault::refused(error.to_string()))
}

/// Makes the answer of a call.
pub fn answer_of(result: Result<String, ToolFault>) -> RequestAnswer {
    match result {
        Ok(text) => done(text),
        Err(ToolFault { class: ToolFaultClass::Cancelled, .. }) => {
            RequestAnswer::Cancelled(CancelExtent::Unknown)
        }
        Err(ToolFault { class: ToolFaultClass::TimedOut, message }) => {
            RequestAnswer::Failed(ProgramFailure::new("timed-out", message))
        }
        Err(ToolFault {
            class: ToolFaultClass::Refused | ToolFaultClass::Unreachable,
            message,
        }) => refused(message),
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

/// Carries a result as the languages read it: one text that keeps the order of keys.
pub(crate) fn done(json: String) -> RequestAnswer {
    RequestAnswer::Ok(Value::map([("json", Value::Text(json))]))
}

/// The answer to a request that a provider refused.
pub(crate) fn refused(message: impl Into<String>) -> RequestAnswer {
    RequestAnswer::Failed(ProgramFailure::new("refused", message))
}
