//! Reading answers.

use agentic_model::Value as Data;
use agentic_replay::Answer;

use crate::json::{self, Json};

/// What a model answered.
pub(super) enum Spoken {
    /// Text, as the provider returned it.
    Text(String),
    /// A value that the provider parsed itself.
    Value(Json),
}

/// Takes the data out of the answer of a tool or memory, or why there is none.
pub(super) fn data_of(answer: Answer) -> Result<Json, String> {
    match answer {
        Answer::Ok(value) => json::from_value(&value).map_err(|fault| fault.to_string()),
        other => Err(failure_of(other)),
    }
}

/// Takes the reply out of the answer of a model, or why there is none.
///
/// The answer is a map with the raw `text` of the reply, or its parsed `value`; other fields, such
/// as `usage`, are for traces.
pub(super) fn spoken(answer: Answer) -> Result<(Spoken, Option<Json>), String> {
    let value = match answer {
        Answer::Ok(value) => value,
        other => return Err(failure_of(other)),
    };
    let usage = value.get("usage").and_then(|usage| json::from_value(usage).ok());
    if let Some(Data::Text(text)) = value.get("text") {
        return Ok((Spoken::Text(text.clone()), usage));
    }
    match value.get("value").map(json::from_value) {
        Some(Ok(json)) => Ok((Spoken::Value(json), usage)),
        Some(Err(fault)) => Err(format!("LLM provider returned invalid JSON response: {fault}")),
        None => Err("LLM provider response is missing 'text'".to_owned()),
    }
}

fn failure_of(answer: Answer) -> String {
    match answer {
        Answer::Failed(failure) => failure.message,
        Answer::TimedOut => "the time limit passed first".to_owned(),
        Answer::Ok(_) | Answer::Cancelled(_) => "it was withdrawn".to_owned(),
    }
}
