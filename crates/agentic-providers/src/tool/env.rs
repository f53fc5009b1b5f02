//! `env://`: reading variables of the environment.

use serde::Serialize;

use super::argument::ToolArgument;
use super::placeholder::placeholder;
use super::{ToolCall, ToolFault, ToolResult, json};

#[derive(Serialize)]
struct Variable {
    ok: bool,
    value: Option<String>,
}

/// Performs a call. A variable that is not in `plain` reads as its placeholder.
pub(super) fn call(call: &ToolCall, plain: &[String], session: &str) -> ToolResult {
    if call.method != "get" {
        let message = format!("the environment has no method `{}`: use get", call.method);
        return Err(ToolFault::refused(message));
    }
    let argument = ToolArgument::of(call)?;
    let name = argument.text("name")?;
    if name.contains(['=', '\0', ':', '}']) {
        return Err(argument.fault("name", "is no name of a variable"));
    }
    let value = match std::env::var_os(&name) {
        None => None,
        Some(value) if plain.contains(&name) => Some(value.to_string_lossy().into_owned()),
        Some(_) => Some(placeholder(&name, session)),
    };
    json(&Variable { ok: true, value })
}
