//! Replies of models that must be data.

use agentic_model::{Map, Value, json};
use agentic_plan::text_of;
use agentic_replay::ProgramFailure;

use crate::run::task::VersionMeaning;

/// The code of a reply that is not what was asked for; never retried.
const INVALID: &str = "InvalidLLMResponse";

/// Makes the failure of a reply that is not what was asked for.
pub(super) fn invalid(reason: &str) -> ProgramFailure {
    ProgramFailure::new(INVALID, format!("the reply of the model is not usable: {reason}"))
}

/// Returns what a model said; why it ended and what it cost stands in the record alone.
pub(super) fn said(reply: Value) -> Value {
    let Value::Map(mut map) = reply else { return reply };
    if !map.contains_key("finish") {
        return Value::Map(map);
    }
    match map.remove("text") {
        Some(Value::Text(text)) => Value::Text(text),
        Some(_) | None => Value::Map(map),
    }
}

/// Reads a reply that must be one JSON object: data, or a text that is nothing else.
pub(super) fn object(reply: &Value, meaning: VersionMeaning) -> Result<Map, ProgramFailure> {
    match data(reply, meaning) {
        Some(Value::Map(map)) => Ok(map),
        _ => Err(invalid("it is not one JSON object")),
    }
}

/// Reads a reply as data: what it is, or what its text says as JSON, from its first to its last
/// letter or in its only fenced block. A map with nothing but a text is that text.
pub(super) fn data(reply: &Value, meaning: VersionMeaning) -> Option<Value> {
    let text = match reply {
        Value::Text(text) => text.clone(),
        Value::Map(map) if map.len() == 1 && map.contains_key("text") => text_of(reply),
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Bytes(_)
        | Value::List(_)
        | Value::Map(_)
        | Value::Link(_)) => return Some(other.clone()),
    };
    let whole = json::from_text(text.trim()).ok();
    whole.or_else(|| match meaning {
        VersionMeaning::Bare => None,
        VersionMeaning::Fenced => json::from_text(fenced(&text)?).ok(),
    })
}

/// Returns what stands between the only pair of three backticks. Models that are told to write JSON
/// alone fence it all the same; of two blocks nobody knows which is meant.
fn fenced(text: &str) -> Option<&str> {
    let mut parts = text.split("```");
    let (_before, block) = (parts.next()?, parts.next()?);
    let (_after, None) = (parts.next()?, parts.next()) else { return None };
    // The first line may name the language of the block.
    let (tag, rest) = block.split_once('\n').unwrap_or(("", block));
    let is_tag = tag.trim().bytes().all(|byte| byte.is_ascii_alphanumeric());
    Some(if is_tag { rest.trim() } else { block.trim() })
}

/// Reads an optional text of a reply.
pub(super) fn text(map: &Map, key: &str) -> Result<String, ProgramFailure> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::Text(text)) => Ok(text.clone()),
        Some(_) => Err(invalid(&format!("its `{key}` is not text"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wanted: Option<i64>) {
        let found = |meaning| data(&Value::text(text), meaning);
        let wanted = wanted.map(|number| Value::map([("a", Value::Int(number))]));
        assert_eq!(found(VersionMeaning::Fenced), wanted, "{text}");
        let is_bare = text.trim().starts_with('{');
        assert_eq!(found(VersionMeaning::Bare), wanted.filter(|_| is_bare), "{text}");
    }

    #[test]
    fn data_stands_alone_or_in_the_only_fenced_block() {
        check(r#" {"a":1} "#, Some(1));
        check("```json\n{\"a\":2}\n```", Some(2));
        check("Sure:\n```\n{\"a\":3}\n```\nDone.", Some(3));
        check("```{\"a\":4}```", Some(4));
        check("```JSON\r\n{\"a\":\n5}\r\n```", Some(5));
        check("```\n{\"a\":1}\n```\nor\n```\n{\"a\":2}\n```", None);
        check("```\n{\"a\":1}", None);
        check("I say {\"a\":1}", None);
        check("```", None);
        check("", None);
    }
}
