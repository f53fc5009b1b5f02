//! Whether what a hold asks of its decision can be read, looked at before anybody is asked.
//!
//! A field that is misspelt would leave a hold open to everybody, or closed for ever. So the program
//! is told instead, by a failure that it can catch and that names the field.

use std::collections::BTreeSet;

use agentic_model::{Map, Value};
use agentic_plan::MessageSeverity;
use agentic_replay::{ProgramFailure, Request};
use agentic_space::schema;

use super::{ESCALATIONS_MAX, instant};
use crate::action::{Action, ApprovalScope};

/// The code of the failure.
const BAD_HOLD: &str = "bad-hold";
/// What a hold may say, and what the front ends add to it.
const FIELDS: [&str; 15] = [
    "actions",
    "assignees",
    "body",
    "choices",
    "deadline",
    "input",
    "node",
    "on_expiry",
    "on_timeout",
    "payload",
    "question",
    "quorum",
    "schema",
    "scopes",
    "severity",
];
/// What a quorum may say.
const QUORUM_FIELDS: [&str; 3] = ["need", "reject", "role"];
/// What a step to other people may say.
const ESCALATE_FIELDS: [&str; 4] = ["after_ms", "deadline", "on_expiry", "to"];

/// What is wrong with a field.
struct Flaw {
    field: String,
    reason: String,
}

type CheckedPolicy = Result<(), Flaw>;

impl Flaw {
    fn new(field: impl Into<String>, reason: impl Into<String>) -> Flaw {
        Flaw { field: field.into(), reason: reason.into() }
    }

    fn failure(self) -> ProgramFailure {
        let Flaw { field, reason } = self;
        let message = match field.as_str() {
            "" => format!("nobody can be asked so: {reason}"),
            field => format!("nobody can be asked so: `{field}` {reason}"),
        };
        let details = Value::map([("field", Value::text(field))]);
        ProgramFailure { details, ..ProgramFailure::new(BAD_HOLD, message) }
    }
}

/// Checks a hold: every field must be known and well formed.
///
/// # Errors
/// Fails with what the program is told: the first field that is not.
pub fn check_hold(request: &Request) -> Result<(), ProgramFailure> {
    let Value::Map(payload) = &request.payload else {
        return Err(Flaw::new("", "a hold is a map").failure());
    };
    only(payload, "", &FIELDS).and_then(|()| check(payload)).map_err(Flaw::failure)
}

/// Checks what another kind that a human answers says of its decision; its other fields are its own.
pub(crate) fn check_policy(request: &Request) -> Result<(), ProgramFailure> {
    request.payload.as_map().map_or(Ok(()), |payload| check(payload).map_err(Flaw::failure))
}

fn check(payload: &Map) -> CheckedPolicy {
    for field in ["question", "body"] {
        text(payload, field)?;
    }
    let severity = text(payload, "severity")?;
    if severity.is_some_and(|word| MessageSeverity::parse(word).is_none()) {
        return Err(Flaw::new("severity", "is not `info`, `low`, `medium`, `high` or `critical`"));
    }
    check_actions(payload.get("actions"))?;
    check_scopes(payload.get("scopes"))?;
    check_choices(payload)?;
    check_schema(payload.get("schema"))?;
    let mut people = match payload.get("assignees") {
        Some(assignees) => people("assignees", assignees)?,
        None => Vec::new(),
    };
    let is_assigned = !people.is_empty();
    check_deadline("deadline", payload.get("deadline"))?;
    let steps = check_expiry(payload)?;
    people.extend(steps);
    let need = check_quorum(payload.get("quorum"))?;
    let named: BTreeSet<&str> = people.iter().map(String::as_str).collect();
    let is_role = |name: &&str| name.starts_with("role:");
    if is_assigned && !named.iter().any(is_role) && named.len() < need {
        let reason = format!("asks for {need} people, and {} may decide", named.len());
        return Err(Flaw::new("quorum.need", reason));
    }
    Ok(())
}

fn only(map: &Map, place: &str, known: &[&str]) -> CheckedPolicy {
    match map.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => {
            let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
            let reason = format!("is unknown; there is {}", names.join(", "));
            Err(Flaw::new(format!("{place}{key}"), reason))
        }
    }
}

fn text<'m>(map: &'m Map, field: &str) -> Result<Option<&'m str>, Flaw> {
    match map.get(field) {
        None => Ok(None),
        Some(Value::Text(text)) => Ok(Some(text)),
        Some(_) => Err(Flaw::new(field, "is no text")),
    }
}

fn check_actions(actions: Option<&Value>) -> CheckedPolicy {
    let Some(actions) = actions else { return Ok(()) };
    let names = actions.as_list().filter(|names| !names.is_empty());
    let is_action = |name: &Value| name.as_text().is_some_and(|name| Action::parse(name).is_some());
    match names.is_some_and(|names| names.iter().all(is_action)) {
        true => Ok(()),
        false => Err(Flaw::new("actions", "is no list of `approve`, `reject`, `edit`, `respond`")),
    }
}

fn check_scopes(scopes: Option<&Value>) -> CheckedPolicy {
    let Some(scopes) = scopes else { return Ok(()) };
    let is_scope =
        |name: &Value| name.as_text().is_some_and(|name| ApprovalScope::parse(name).is_some());
    match scopes.as_list().is_some_and(|names| names.iter().all(is_scope)) {
        true => Ok(()),
        false => Err(Flaw::new("scopes", "is no list of `once`, `rest-of-session`")),
    }
}

fn check_choices(payload: &Map) -> CheckedPolicy {
    let Some(choices) = payload.get("choices") else { return Ok(()) };
    // A node of a plan offers the two standard choices besides.
    let may_be_empty = payload.contains_key("node");
    let texts = choices.as_list().filter(|texts| may_be_empty || !texts.is_empty());
    let is_choice = |text: &Value| text.as_text().is_some_and(|text| !text.is_empty());
    match texts.is_some_and(|texts| texts.iter().all(is_choice)) {
        true => Ok(()),
        false => Err(Flaw::new("choices", "is no list of texts")),
    }
}

fn check_schema(schema: Option<&Value>) -> CheckedPolicy {
    let Some(schema) = schema else { return Ok(()) };
    let read = schema::validator(schema);
    read.map(drop).map_err(|error| Flaw::new("schema", format!("is no JSON Schema: {error}")))
}

/// Reads who may decide: one name or several.
fn people(field: &str, named: &Value) -> Result<Vec<String>, Flaw> {
    let form = || Flaw::new(field, "is no list of `user:NAME` and `role:NAME`");
    let names = match named {
        Value::Text(_) => std::slice::from_ref(named),
        Value::List(names) if !names.is_empty() => names.as_slice(),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Bytes(_)
        | Value::List(_)
        | Value::Map(_)
        | Value::Link(_) => return Err(form()),
    };
    let name = |name: &Value| name.as_text().filter(|name| is_principal(name)).map(str::to_owned);
    names.iter().map(name).collect::<Option<_>>().ok_or_else(form)
}

/// Says whether a text names who may decide: a person or a role.
pub fn is_principal(name: &str) -> bool {
    let rest = name.strip_prefix("user:").or(name.strip_prefix("role:"));
    rest.is_some_and(|rest| !rest.trim().is_empty())
}

fn check_deadline(field: &str, deadline: Option<&Value>) -> CheckedPolicy {
    match deadline {
        Some(deadline) if instant(deadline).is_none() => {
            let reason = "is no instant, such as \"2026-11-21T22:10:00Z\" or milliseconds";
            Err(Flaw::new(field, reason))
        }
        Some(_) | None => Ok(()),
    }
}

/// Checks what happens when nobody decides in time, and returns to whom it goes on.
fn check_expiry(payload: &Map) -> Result<Vec<String>, Flaw> {
    let mut has_deadline = payload.contains_key("deadline");
    let (mut form, mut field) = (payload.get("on_expiry"), "on_expiry".to_owned());
    let mut all = Vec::new();
    for n_steps in 0.. {
        let Some(value) = form else { return Ok(all) };
        if !has_deadline {
            return Err(Flaw::new(field, "never happens without a deadline before it"));
        }
        let Some(next) = value.get("escalate") else {
            return match payload.get("schema").map(|schema| schema::fits(schema, value)) {
                Some(Err(unfit)) => {
                    let reason = format!("does not fit `schema`: {}", unfit.reason);
                    Err(Flaw::new(field, reason))
                }
                Some(Ok(())) | None => Ok(all),
            };
        };
        only(value.as_map().unwrap_or(&Map::new()), &format!("{field}."), &["escalate"])?;
        let place = format!("{field}.escalate");
        let Some(next) = next.as_map() else { return Err(Flaw::new(place, "is no map")) };
        only(next, &format!("{place}."), &ESCALATE_FIELDS)?;
        let to = next.get("to").ok_or_else(|| Flaw::new(format!("{place}.to"), "is missing"))?;
        all.extend(people(&format!("{place}.to"), to)?);
        check_deadline(&format!("{place}.deadline"), next.get("deadline"))?;
        let after = next.get("after_ms");
        if after.is_some_and(|after| after.as_int().is_none_or(|after| after <= 0)) {
            return Err(Flaw::new(format!("{place}.after_ms"), "is no number above zero"));
        }
        if n_steps >= ESCALATIONS_MAX {
            return Err(Flaw::new(place, format!("is one of more than {ESCALATIONS_MAX} steps")));
        }
        has_deadline = after.is_some() || next.contains_key("deadline");
        (form, field) = (next.get("on_expiry"), format!("{place}.on_expiry"));
    }
    Ok(all)
}

/// Checks how many must agree, and returns how many.
fn check_quorum(quorum: Option<&Value>) -> Result<usize, Flaw> {
    let Some(quorum) = quorum else { return Ok(1) };
    let Some(quorum) = quorum.as_map() else {
        return Err(Flaw::new("quorum", "is no map of `need`, `reject` and `role`"));
    };
    only(quorum, "quorum.", &QUORUM_FIELDS)?;
    let count = |key: &str| match quorum.get(key) {
        None => Ok(1),
        Some(Value::Int(count)) if *count > 0 => Ok(usize::try_from(*count).unwrap_or(usize::MAX)),
        Some(_) => Err(Flaw::new(format!("quorum.{key}"), "is no number above zero")),
    };
    count("reject")?;
    match quorum.get("role") {
        None => {}
        Some(Value::Text(role)) if !role.trim_start_matches("role:").trim().is_empty() => {}
        Some(_) => return Err(Flaw::new("quorum.role", "is no name of a role")),
    }
    count("need")
}

#[cfg(test)]
mod tests;
