//! Roles in pipelines, played by models.
//!
//! The payload of such a request has `system`, perhaps `model`, and a `call` with `input`, `params`
//! and `args`. The answer is a map with `text`, `finish` and, where they are known, the counts of
//! `usage`. In memory the pipeline itself repeats a call that failed, so nothing is repeated here.

use agentic_model::{Value, json};
use agentic_plan::text_of;
use agentic_replay::{CancelExtent, ProgramFailure, RequestAnswer};
use serde_json::Value as Json;

use super::payload::completed;
use super::unfinished::{UnfinishedReason, UnfinishedReply};
use super::{Completion, FaultClass, ModelFault, ModelPrompt, ReplyContent, Retry};

/// The detail of a failure that says how long the server asks to be left alone, in milliseconds.
pub const RETRY_AFTER_MS: &str = "retry_after_ms";

/// Writes the prompt of a role. Nothing is in it but what the request says; `schema` tells what the
/// reply should be.
pub fn role_prompt(payload: &Value, schema: Option<&str>) -> ModelPrompt {
    let part = |key: &str| payload.get("call").and_then(|call| call.get(key));
    let mut user = String::new();
    for key in ["params", "args"] {
        if let Some(value) = part(key) {
            user.push_str(&format!("{key}: {}\n", json::to_text(value)));
        }
    }
    user.push_str(&part("input").map(text_of).unwrap_or_default());
    ModelPrompt {
        system: payload.get("system").and_then(Value::as_text).unwrap_or_default().to_owned(),
        user,
        schema: schema.map(str::to_owned),
        ..ModelPrompt::default()
    }
}

/// Makes the answer of a role from what the model replied. The codes of failures are those that
/// pipelines know.
pub fn role_answer(result: Result<Completion, ModelFault>) -> RequestAnswer {
    match result {
        Ok(completion) => {
            if let Some(unfinished) = UnfinishedReply::of(&completion) {
                return RequestAnswer::Failed(unfinished.failure(match unfinished.reason() {
                    UnfinishedReason::Refused | UnfinishedReason::Filtered => "ModelRefused",
                    UnfinishedReason::Cut => "InvalidLLMResponse",
                }));
            }
            let content = ReplyContent::Text(plain(completion.content));
            RequestAnswer::Ok(completed(Completion { content, ..completion }))
        }
        Err(fault) => failed(fault),
    }
}

/// Returns the text of a reply; that of one that came as a value is its JSON.
fn plain(content: ReplyContent) -> String {
    match content {
        ReplyContent::Text(text) => text,
        ReplyContent::Json(text) => match serde_json::from_str(&text) {
            Ok(Json::String(text)) => text,
            Ok(_) | Err(_) => text,
        },
    }
}

fn failed(fault: ModelFault) -> RequestAnswer {
    let code = match (fault.class, fault.retry) {
        (FaultClass::Cancelled, _) => return RequestAnswer::Cancelled(CancelExtent::Unknown),
        (FaultClass::TimedOut, _) => return RequestAnswer::TimedOut,
        (FaultClass::Transport, _)
        | (FaultClass::Refused | FaultClass::Unadmitted, Retry::Later | Retry::After(_)) => {
            "ModelUnavailable"
        }
        (FaultClass::Invalid, _) => "InvalidLLMResponse",
        (FaultClass::Unconfigured, _)
        | (FaultClass::Refused | FaultClass::Unadmitted, Retry::Never) => "ConfigurationError",
    };
    let details = match fault.retry {
        Retry::After(pause) => {
            let millis = i64::try_from(pause.as_millis()).unwrap_or(i64::MAX);
            Value::map([(RETRY_AFTER_MS, Value::Int(millis))])
        }
        Retry::Never | Retry::Later => Value::Null,
    };
    RequestAnswer::Failed(ProgramFailure { details, ..ProgramFailure::new(code, fault.message) })
}
