//! A model that replies from a list.

use agentic_model::Value;
use agentic_replay::{ProgramFailure, RequestAnswer};

use crate::json::{self, Json};

use super::refused;

/// One prepared reply.
#[derive(Debug, Clone, PartialEq)]
pub enum PreparedReply {
    /// The raw text of a reply.
    Text(String),
    /// A reply that the provider parsed itself.
    Value(Json),
    /// A failure of the provider.
    Error(String),
}

/// A model that gives its replies in order, whatever it is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct PreparedModel {
    replies: Vec<PreparedReply>,
    next: usize,
}

impl PreparedModel {
    /// Takes the replies.
    pub fn new(replies: Vec<PreparedReply>) -> PreparedModel {
        PreparedModel { replies, next: 0 }
    }

    /// Reads a list of `{"text"}`, `{"value"}` and `{"error"}`; anything else is no reply.
    pub fn from_json(replies: &[Json]) -> PreparedModel {
        let read = |reply: &Json| {
            let text = |key| reply.get(key).and_then(Json::as_text).map(str::to_owned);
            let value = reply.get("value").cloned().map(PreparedReply::Value);
            value
                .or_else(|| text("text").map(PreparedReply::Text))
                .or_else(|| text("error").map(PreparedReply::Error))
        };
        PreparedModel::new(replies.iter().filter_map(read).collect())
    }

    /// Answers a request of kind `model` with the next reply; fails when there is none left.
    pub fn answer(&mut self, _payload: &Value) -> RequestAnswer {
        let Some(reply) = self.replies.get(self.next) else {
            return refused(format!("the script has no reply number {}", self.next + 1));
        };
        self.next += 1;
        match reply {
            PreparedReply::Text(text) => {
                RequestAnswer::Ok(Value::map([("text", Value::text(text.as_str()))]))
            }
            PreparedReply::Value(value) => {
                RequestAnswer::Ok(Value::map([("value", json::to_value(value))]))
            }
            PreparedReply::Error(message) => {
                RequestAnswer::Failed(ProgramFailure::new("provider", message.as_str()))
            }
        }
    }
}
