//! Requests of kind `model`, and their answers.

use agentic_model::{Map, Value};
use agentic_replay::{CancelExtent, ProgramFailure, RequestAnswer};

use super::unfinished::UnfinishedReply;
use super::{
    Completion, FaultClass, ModelFault, ModelHints, ModelPrompt, ReplyContent, Think, TokenUsage,
};

/// Reads the prompt of a request: `system`, `user`, `schema`, `max_output`, `temperature` and
/// `think`. What is missing or of another type counts as not given.
pub fn prompt_of(payload: &Value) -> ModelPrompt {
    let text = |key| payload.get(key).and_then(Value::as_text);
    let max_output = payload.get("max_output").and_then(Value::as_int);
    ModelPrompt {
        system: text("system").unwrap_or_default().to_owned(),
        user: text("user").unwrap_or_default().to_owned(),
        schema: text("schema").map(str::to_owned),
        options: ModelHints {
            max_output: max_output.and_then(|tokens| u64::try_from(tokens).ok()),
            temperature: payload.get("temperature").and_then(Value::as_number),
            think: match payload.get("think") {
                Some(Value::Bool(true)) => Think::Auto,
                Some(Value::Text(level)) => think(level),
                Some(_) | None => Think::Off,
            },
            strict: payload.get("strict") == Some(&Value::Bool(true)),
        },
        ..ModelPrompt::default()
    }
}

fn think(level: &str) -> Think {
    match level {
        "low" => Think::Low,
        "medium" => Think::Medium,
        "high" => Think::High,
        _ => Think::Auto,
    }
}

/// Makes the answer: a map with `text`, or `value` as `{"json": text}`, with `finish` and, where
/// they are known, the counts of `usage`, and `left_out`, the hints that the model does not take. A failure has the code of its class; a reply that was
/// refused, cut or filtered is one, with what the model said.
pub fn answer_of(result: Result<Completion, ModelFault>) -> RequestAnswer {
    match result {
        Ok(completion) => match UnfinishedReply::of(&completion) {
            Some(unfinished) => RequestAnswer::Failed(unfinished.failure(unfinished.code())),
            None => RequestAnswer::Ok(completed(completion)),
        },
        Err(fault) => match fault.class {
            FaultClass::Cancelled => RequestAnswer::Cancelled(CancelExtent::Stopped),
            FaultClass::Transport
            | FaultClass::Refused
            | FaultClass::Unadmitted
            | FaultClass::Invalid
            | FaultClass::TimedOut
            | FaultClass::Unconfigured => {
                RequestAnswer::Failed(ProgramFailure::new(fault.class.code(), fault.message))
            }
        },
    }
}

/// Writes a reply as data: what it says, why it ended, what it cost.
pub(super) fn completed(completion: Completion) -> Value {
    let mut map = Map::new();
    let (key, content) = match completion.content {
        ReplyContent::Text(text) => ("text", Value::Text(text)),
        ReplyContent::Json(text) => ("value", Value::map([("json", Value::Text(text))])),
    };
    map.insert(key.to_owned(), content);
    map.insert("finish".to_owned(), Value::text(completion.finish.as_str()));
    if let Some(usage) = completion.usage {
        map.insert("usage".to_owned(), usage_value(usage));
    }
    if !completion.left_out.is_empty() {
        let left_out = completion.left_out.iter().map(|hint| Value::text(*hint));
        map.insert("left_out".to_owned(), Value::List(left_out.collect()));
    }
    Value::Map(map)
}

/// Writes the counts of a call as data.
pub(super) fn usage_value(usage: TokenUsage) -> Value {
    Value::map([
        ("input_tokens", usage.input_tokens.value()),
        ("output_tokens", usage.output_tokens.value()),
    ])
}
