//! The native functions of the standard builtins: plain work on texts, without any effect.

use agentic_model::{Map, Value};
use agentic_plan::text_of;
use agentic_replay::Failure;

use crate::run::AgentCall;

/// The longest text that a native function makes, in bytes.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// Performs a native function; nothing if there is none of that name.
pub fn perform(function: &str, call: &AgentCall) -> Option<Result<Value, Failure>> {
    Some(match function {
        "echo" => Ok(Value::Text(echo(call))),
        "upper" => Ok(Value::Text(text_of(&call.input).to_uppercase())),
        "wrap" => text(&call.params, "left").and_then(|left| {
            let right = text(&call.params, "right")?;
            Ok(Value::Text(format!("{left}{}{right}", text_of(&call.input))))
        }),
        "repeat" => repeat(call),
        "concat" => concat(call),
        "pick" => pick(call),
        _ => return None,
    })
}

/// Gives its argument and its input, whichever there is.
fn echo(call: &AgentCall) -> String {
    let argument = call.params.get("text").map(text_of).unwrap_or_default();
    let input = text_of(&call.input);
    match (argument.is_empty(), input.is_empty()) {
        (false, false) => format!("{argument} | {input}"),
        (false, true) => argument,
        (true, _) => input,
    }
}

fn repeat(call: &AgentCall) -> Result<Value, Failure> {
    let times = call.params.get("times").and_then(Value::as_int);
    let times = times.and_then(|times| usize::try_from(times).ok());
    let times = times.ok_or_else(|| invalid("`times` is not a count"))?;
    let separator = text(&call.params, "sep")?;
    let input = text_of(&call.input);
    if times.saturating_mul(input.len() + separator.len()) > TEXT_BYTES_MAX {
        return Err(invalid("the text would be too long"));
    }
    Ok(Value::Text(vec![input; times].join(separator)))
}

/// Joins the texts of a tuple, or of the one input, and the further arguments.
fn concat(call: &AgentCall) -> Result<Value, Failure> {
    let separator = text(&call.params, "sep")?;
    let mut texts: Vec<String> = match &call.input {
        Value::List(items) => items.iter().map(text_of).collect(),
        other => vec![text_of(other)],
    };
    texts.extend(call.args.iter().map(text_of));
    Ok(Value::Text(texts.join(separator)))
}

fn pick(call: &AgentCall) -> Result<Value, Failure> {
    let index = call.params.get("index").and_then(Value::as_int);
    let index = index.and_then(|index| usize::try_from(index).ok());
    let index = index.ok_or_else(|| invalid("`index` is not a place in a tuple"))?;
    let items = call.input.as_list().ok_or_else(|| invalid("the input is not a tuple"))?;
    items.get(index).cloned().ok_or_else(|| invalid("the tuple has no such item"))
}

fn text<'a>(params: &'a Map, key: &str) -> Result<&'a str, Failure> {
    let found = params.get(key).and_then(Value::as_text);
    found.ok_or_else(|| invalid(&format!("`{key}` is not text")))
}

fn invalid(message: &str) -> Failure {
    Failure::new("InvalidInput", message)
}
