//! Reading answers.

use agentic_model::Value as Data;
use agentic_replay::RequestAnswer;

use crate::json::{self, Json};

/// What a model answered.
pub(super) enum ModelReply {
    /// Text, as the provider returned it.
    Text(String),
    /// A value that the provider parsed itself.
    Value(Json),
}

impl ModelReply {
    /// Returns it as data: text as it came.
    pub fn to_json(&self) -> Json {
        match self {
            ModelReply::Text(text) => Json::text(text.as_str()),
            ModelReply::Value(value) => value.clone(),
        }
    }
}

/// Why a model did not reply.
pub(super) struct MissingReply {
    pub message: String,
    /// What it said all the same: why it refuses, or the beginning of what was cut.
    pub said: Option<Json>,
}

/// Takes the data out of the answer of a tool or memory, or why there is none.
pub(super) fn data_of(answer: RequestAnswer) -> Result<Json, String> {
    if let RequestAnswer::Ok(value) = answer {
        json::from_value(&value).map_err(|fault| fault.to_string())
    } else {
        Err(failure_of(answer))
    }
}

/// Takes out of the answer of a model what it cost, where that is known: of a reply, and of one that
/// did not count.
pub(super) fn usage_of(answer: &RequestAnswer) -> Option<Json> {
    let usage = match answer {
        RequestAnswer::Ok(value) => value.get("usage"),
        RequestAnswer::Failed(failure) => failure.details.get("usage"),
        RequestAnswer::TimedOut | RequestAnswer::Cancelled(_) => None,
    };
    usage.and_then(|usage| json::from_value(usage).ok())
}

/// Takes out of the answer of a model which hints it was not told.
pub(super) fn left_out_of(answer: &RequestAnswer) -> Vec<String> {
    let RequestAnswer::Ok(value) = answer else { return Vec::new() };
    let hints = value.get("left_out").and_then(Data::as_list).unwrap_or_default();
    hints.iter().filter_map(Data::as_text).map(str::to_owned).collect()
}

/// Takes the text of a reply out of the answer of a model, as it came; empty where nothing came.
pub(super) fn raw_of(answer: &RequestAnswer) -> String {
    let (value, parsed) = match answer {
        RequestAnswer::Ok(value) => (value, value.get("value")),
        RequestAnswer::Failed(failure) => (&failure.details, None),
        RequestAnswer::TimedOut | RequestAnswer::Cancelled(_) => return String::new(),
    };
    let text = value.get("text").and_then(Data::as_text).map(str::to_owned);
    let parsed = parsed.and_then(|parsed| json::from_value(parsed).ok());
    text.or_else(|| parsed.map(|parsed| json::compact(&parsed))).unwrap_or_default()
}

/// Takes the reply out of the answer of a model, or why there is none.
///
/// The answer is a map with the raw `text` of the reply, or its parsed `value`; other fields, such
/// as `usage`, are for traces.
pub(super) fn spoken(answer: RequestAnswer) -> Result<ModelReply, MissingReply> {
    let value = match answer {
        RequestAnswer::Ok(value) => value,
        RequestAnswer::Failed(failure) => {
            let said = failure.details.get("text").and_then(Data::as_text).map(Json::text);
            return Err(MissingReply { message: failure.message, said });
        }
        other @ (RequestAnswer::TimedOut | RequestAnswer::Cancelled(_)) => {
            return Err(MissingReply { message: failure_of(other), said: None });
        }
    };
    if let Some(Data::Text(text)) = value.get("text") {
        return Ok(ModelReply::Text(text.clone()));
    }
    let message = match value.get("value").map(json::from_value) {
        Some(Ok(json)) => return Ok(ModelReply::Value(json)),
        Some(Err(fault)) => format!("LLM provider returned invalid JSON response: {fault}"),
        None => "LLM provider response is missing 'text'".to_owned(),
    };
    Err(MissingReply { message, said: None })
}

fn failure_of(answer: RequestAnswer) -> String {
    match answer {
        RequestAnswer::Failed(failure) => failure.message,
        RequestAnswer::TimedOut => "the time limit passed first".to_owned(),
        RequestAnswer::Ok(_) | RequestAnswer::Cancelled(_) => "it was withdrawn".to_owned(),
    }
}
