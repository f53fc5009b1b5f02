//! Tasks of agents, performed by models: requests of kind `agent-task`.
//!
//! The payload has `task`, `args`, `result` (the JSON Schema of the result), and where an agent is
//! bound `agent`, `model` and `tools`, after the first round `turns`. The answer is one text, the
//! result as JSON, or where the model told what it cost a map of this `result` and the `usage`; or a
//! map of `calls`, the tools that the model asks for, what it `said`, and the `usage`.

use agentic_model::{Map, Value};
use agentic_replay::{ProgramFailure, RequestAnswer};
use serde_json::Value as Json;

use super::function::{functions, turns, wish};
use super::payload::usage_value;
use super::unfinished::UnfinishedReply;
use super::{Completion, ModelFault, ModelHints, ModelPrompt, ReplyContent, answer_of};

/// The kind of a request for a task of an agent.
pub const TASK_REQUEST: &str = "agent-task";
/// How much of a reply is shown, in characters.
const SHOWN_MAX: usize = 160;

/// Writes the prompt of a task. Nothing is in it but what the request says.
pub fn task_prompt(payload: &Value) -> ModelPrompt {
    let text = |key: &str| payload.get(key).and_then(Value::as_text);
    let task = text("task").unwrap_or_default();
    let system = match text("agent") {
        Some(agent) => format!("You are the agent `{agent}`. You perform the task `{task}`."),
        None => format!("You perform the task `{task}`."),
    };
    let mut user = format!("Task: {task}\nInput:\n{}", text("args").unwrap_or("{}"));
    let schema = text("result").map(str::to_owned);
    if let Some(schema) = &schema {
        user.push_str("\nReturn JSON matching this schema, and nothing else:\n");
        user.push_str(schema);
    }
    let (functions, turns) = (functions(payload), turns(payload));
    ModelPrompt { system, user, schema, options: ModelHints::default(), functions, turns }
}

/// Makes the answer of a task from what the model replied: the result, or the tools that it asks
/// for.
pub fn task_answer(payload: &Value, result: Result<Completion, ModelFault>) -> RequestAnswer {
    let completion = match result {
        Ok(completion) if UnfinishedReply::of(&completion).is_none() => completion,
        unanswered => return answer_of(unanswered),
    };
    let usage = completion.usage.map(|usage| ("usage".to_owned(), usage_value(usage)));
    if !completion.calls.is_empty() {
        let (ReplyContent::Text(said) | ReplyContent::Json(said)) = &completion.content;
        let mut asked = wish(said, completion.calls);
        asked.extend(usage);
        return RequestAnswer::Ok(Value::Map(asked));
    }
    match read_result(payload, completion.content) {
        Ok(result) => RequestAnswer::Ok(match usage {
            Some(usage) => {
                Value::Map(Map::from([("result".to_owned(), Value::Text(result)), usage]))
            }
            None => Value::Text(result),
        }),
        Err(message) => {
            let details = usage.map_or(Value::Null, |usage| Value::Map(Map::from([usage])));
            RequestAnswer::Failed(ProgramFailure {
                details,
                ..ProgramFailure::new("InvalidAnswer", message)
            })
        }
    }
}

/// Reads the result, as JSON text, out of what the model said; else says why there is none.
fn read_result(payload: &Value, content: ReplyContent) -> Result<String, String> {
    let text = match content {
        ReplyContent::Json(text) => return Ok(text),
        ReplyContent::Text(text) => text,
    };
    if let Some(json) = find_json(&text) {
        return Ok(json.to_owned());
    }
    // A model that is asked for a text often just writes it.
    let schema = payload.get("result").and_then(Value::as_text);
    let schema: Option<Json> = schema.and_then(|schema| serde_json::from_str(schema).ok());
    if schema.is_some_and(|schema| schema["type"] == "string") {
        return Ok(Json::from(text.trim()).to_string());
    }
    Err(format!("the model did not return JSON: {}", shown(&text)))
}

/// Returns the beginning of a reply, on one line.
pub(super) fn shown(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(SHOWN_MAX).collect()
}

/// Finds the JSON in a reply: the whole text, a block between three backticks, or the first object
/// whose braces balance.
pub(super) fn find_json(text: &str) -> Option<&str> {
    let blocks = text.split("```").skip(1).step_by(2);
    let blocks = blocks.map(|block| block.trim().strip_prefix("json").unwrap_or(block).trim());
    let candidates = std::iter::once(text.trim()).chain(blocks).chain(first_object(text));
    let is_json = |text: &&str| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    candidates.into_iter().find(is_json)
}

fn first_object(text: &str) -> Option<&str> {
    let start = text.find('{')?;
    let (mut depth, mut is_quoted, mut is_escaped) = (0usize, false, false);
    for (at, byte) in text.bytes().enumerate().skip(start) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            b'{' if !is_quoted => depth += 1,
            b'}' if !is_quoted => {
                depth -= 1;
                if depth == 0 {
                    return Some(&text[start..=at]);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Finish;

    fn check(schema: &str, reply: &str, wanted: &str) {
        let payload = Value::map([("result", Value::text(schema))]);
        let content = ReplyContent::Text(reply.to_owned());
        let completion = Completion {
            content,
            usage: None,
            finish: Finish::Stop,
            calls: Vec::new(),
            left_out: Vec::new(),
        };
        let found = match task_answer(&payload, Ok(completion)) {
            RequestAnswer::Ok(Value::Text(text)) => text,
            RequestAnswer::Failed(failure) => format!("{}: {}", failure.code, failure.message),
            other @ (RequestAnswer::Ok(_)
            | RequestAnswer::TimedOut
            | RequestAnswer::Cancelled(_)) => {
                format!("{other:?}")
            }
        };
        assert_eq!(found, wanted, "{reply}");
    }

    #[test]
    fn the_json_of_a_reply_is_found() {
        let object = r#"{"type":"object"}"#;
        check(object, r#" {"a":1} "#, r#"{"a":1}"#);
        check(object, "Sure:\n```json\n{\"a\":1}\n```\nDone.", r#"{"a":1}"#);
        check(object, "Sure:\n```\n[1]\n```", "[1]");
        check(object, r#"I say {"a":"}\"{"} and more"#, r#"{"a":"}\"{"}"#);
        check(object, "I  think\nso", "InvalidAnswer: the model did not return JSON: I think so");
        check(object, "{{{{", "InvalidAnswer: the model did not return JSON: {{{{");
        let text = r#"{"type":"string"}"#;
        check(text, r#""quoted""#, r#""quoted""#);
        check(text, " calm \"and\" kind\n", r#""calm \"and\" kind""#);
    }

    #[test]
    fn the_prompt_says_what_the_request_says() {
        let payload = Value::map([
            ("task", Value::text("think")),
            ("args", Value::text(r#"{"b":1,"a":2}"#)),
            ("agent", Value::text("writer")),
            ("result", Value::text("{}")),
        ]);
        let prompt = task_prompt(&payload);
        assert_eq!(prompt.system, "You are the agent `writer`. You perform the task `think`.");
        let user = "Task: think\nInput:\n{\"b\":1,\"a\":2}\n\
            Return JSON matching this schema, and nothing else:\n{}";
        assert_eq!(prompt.user, user);
    }
}
