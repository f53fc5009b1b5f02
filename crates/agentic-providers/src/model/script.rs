//! Models that scripts ask: requests of kind `model` whose payload people write by hand.
//!
//! The payload is a text, or a map of `user` and perhaps `system`, `model`, `schema`, `max_output`,
//! `temperature` and `think`. The answer is a map of the `text` of the reply, or with a `schema` its
//! `value`, with `finish` and, where it is known, the `usage`.

use agentic_model::{Map, Value, json};
use agentic_replay::{ProgramFailure, RequestAnswer};

use super::payload::{answer_of, prompt_of, usage_value};
use super::task::{find_json, shown};
use super::unfinished::UnfinishedReply;
use super::{Completion, FaultClass, ModelFault, ModelPrompt, ReplyContent};

/// What a payload may have.
const FIELDS: [&str; 7] =
    ["user", "system", "model", "schema", "max_output", "temperature", "think"];
/// How long a model may be told to think.
const THINK_LEVELS: [&str; 4] = ["auto", "low", "medium", "high"];

/// Reads the prompt of a script.
///
/// # Errors
/// Refuses a payload that says anything else than what a model can be told.
pub fn script_prompt(payload: &Value) -> Result<ModelPrompt, ProgramFailure> {
    let wrong = |reason: String| ProgramFailure::new("bad-request", format!("a `model` {reason}"));
    let payload = match payload {
        Value::Text(text) => {
            return Ok(ModelPrompt { user: text.clone(), ..ModelPrompt::default() });
        }
        Value::Map(map) => map,
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Bytes(_)
        | Value::List(_)
        | Value::Link(_)) => {
            return Err(wrong(format!("takes a text or a map, not {}", other.variant())));
        }
    };
    for (name, value) in payload {
        let is_right = match (name.as_str(), value) {
            ("user" | "system" | "model", Value::Text(_)) | ("schema", Value::Map(_)) => true,
            ("max_output", Value::Int(tokens)) => *tokens > 0,
            ("temperature", Value::Int(_) | Value::Float(_)) | ("think", Value::Bool(_)) => true,
            ("think", Value::Text(level)) => THINK_LEVELS.contains(&level.as_str()),
            _ => false,
        };
        if !FIELDS.contains(&name.as_str()) {
            return Err(wrong(format!("knows no `{name}`; it takes {}", FIELDS.join(", "))));
        }
        if !is_right {
            return Err(wrong(format!("cannot take this `{name}`")));
        }
    }
    if !payload.contains_key("user") {
        return Err(wrong("needs `user`, what it is asked".to_owned()));
    }
    let mut prompt = prompt_of(&Value::Map(payload.clone()));
    if let Some(schema) = payload.get("schema").map(json::to_text) {
        prompt.user.push_str("\nReturn JSON matching this schema, and nothing else:\n");
        prompt.user.push_str(&schema);
        prompt.schema = Some(schema);
    }
    Ok(prompt)
}

/// Makes the answer for a script from what the model replied to its prompt.
pub fn script_answer(
    prompt: &ModelPrompt,
    result: Result<Completion, ModelFault>,
) -> RequestAnswer {
    let completion = match result {
        Ok(completion) if UnfinishedReply::of(&completion).is_none() => completion,
        unanswered => return answer_of(unanswered),
    };
    let mut map = Map::from([("finish".to_owned(), Value::text(completion.finish.as_str()))]);
    map.extend(completion.usage.map(|usage| ("usage".to_owned(), usage_value(usage))));
    let (ReplyContent::Text(said) | ReplyContent::Json(said)) = &completion.content;
    if prompt.schema.is_none() {
        map.insert("text".to_owned(), Value::text(plain(&completion.content)));
        return RequestAnswer::Ok(Value::Map(map));
    }
    match find_json(said).map(json::from_text) {
        Some(Ok(value)) => {
            map.insert("value".to_owned(), value);
            RequestAnswer::Ok(Value::Map(map))
        }
        Some(Err(_)) | None => {
            map.insert("text".to_owned(), Value::text(said));
            let message = format!("the model did not return JSON: {}", shown(said));
            let code = FaultClass::Invalid.code();
            RequestAnswer::Failed(ProgramFailure {
                details: Value::Map(map),
                ..ProgramFailure::new(code, message)
            })
        }
    }
}

/// Returns the text of a reply; a model that makes everything up says nothing where nothing is asked
/// for.
fn plain(content: &ReplyContent) -> &str {
    match content {
        ReplyContent::Json(text) if text == "null" => "",
        ReplyContent::Text(text) | ReplyContent::Json(text) => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Finish, MockModel, Model as _, ModelCall, TokenUsage};

    fn check(payload: &str, said: &str, wanted: &str) {
        let payload = json::from_text(payload).expect("it is JSON");
        let completion = Completion {
            content: ReplyContent::Text(said.to_owned()),
            usage: Some(TokenUsage::of(1, 2)),
            finish: Finish::Stop,
            calls: Vec::new(),
            left_out: Vec::new(),
        };
        let answer = match script_prompt(&payload) {
            Ok(prompt) => script_answer(&prompt, Ok(completion)),
            Err(failure) => RequestAnswer::Failed(failure),
        };
        let found = match answer {
            RequestAnswer::Ok(value) => json::to_text(&value),
            RequestAnswer::Failed(failure) => format!("{}: {}", failure.code, failure.message),
            other @ (RequestAnswer::TimedOut | RequestAnswer::Cancelled(_)) => format!("{other:?}"),
        };
        assert_eq!(found, wanted, "{said}");
    }

    #[test]
    fn a_script_gets_a_text_or_the_value_it_asked_for() {
        let usage = r#""usage":{"input_tokens":1,"output_tokens":2}"#;
        check(r#""hi""#, "ho", &format!(r#"{{"finish":"stop","text":"ho",{usage}}}"#));
        check(r#"{"user":"hi"}"#, "ho", &format!(r#"{{"finish":"stop","text":"ho",{usage}}}"#));
        let asked = r#"{"user":"hi","schema":{"type":"object"}}"#;
        let value = format!(r#"{{"finish":"stop",{usage},"value":{{"a":1}}}}"#);
        check(asked, "Sure:\n```json\n{\"a\":1}\n```", &value);
        check(asked, "I think", "invalid: the model did not return JSON: I think");
    }

    #[test]
    fn what_a_model_cannot_be_told_is_refused() {
        check("3", "", "bad-request: a `model` takes a text or a map, not integer");
        check("{}", "", "bad-request: a `model` needs `user`, what it is asked");
        check(r#"{"user":3}"#, "", "bad-request: a `model` cannot take this `user`");
        let known = "user, system, model, schema, max_output, temperature, think";
        let wanted = format!("bad-request: a `model` knows no `prompt`; it takes {known}");
        check(r#"{"prompt":"x"}"#, "", &wanted);
    }

    #[test]
    fn a_model_that_makes_everything_up_fills_the_schema() {
        let ask = |payload: &str| {
            let payload = json::from_text(payload).expect("it is JSON");
            let prompt = script_prompt(&payload).expect("it is right");
            let cancel = crate::host::CancelFlag::new();
            let answer =
                script_answer(&prompt, MockModel.complete(&prompt, &mut ModelCall::new(&cancel)));
            let RequestAnswer::Ok(value) = answer else { panic!("{answer:?}") };
            value
        };
        assert_eq!(ask(r#""hi""#).get("text"), Some(&Value::text("")));
        let schema =
            r#"{"user":"x","schema":{"type":"object","properties":{"n":{"type":"number"}}}}"#;
        assert_eq!(ask(schema).get("value"), Some(&Value::map([("n", Value::Int(0))])));
    }
}
