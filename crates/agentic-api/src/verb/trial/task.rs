//! The tasks of a trial, checked before anything runs.

use agentic_model::{Map, Value, json};

use crate::{Caller, Refusal};

/// The fields that a task may have.
const FIELDS: [&str; 5] = ["briefing", "base", "input", "protect", "edits_protected"];
/// What no run may touch, whatever a task says.
const ALWAYS: [&str; 2] = ["agentic.toml", ".github"];

/// Reads tasks: each with the commit that it begins at, by its whole id.
pub(super) fn tasks(caller: &Caller<'_>, text: &str) -> Result<Vec<Value>, Refusal> {
    let hint = "a list of {\"briefing\":TEXT,\"base\":COMMIT,\"protect\":[PATH]}";
    let wrong = |message: &str| Refusal::schema(message, hint);
    let read = json::from_text(text).map_err(|error| wrong(&error.to_string()))?;
    let list = read.as_list().ok_or_else(|| wrong("the tasks are no list"))?;
    if list.is_empty() {
        return Err(Refusal::usage("there is no task", hint));
    }
    list.iter().map(|task| one(caller, task, &wrong)).collect()
}

fn one(
    caller: &Caller<'_>,
    task: &Value,
    wrong: &dyn Fn(&str) -> Refusal,
) -> Result<Value, Refusal> {
    let map = task.as_map().ok_or_else(|| wrong("a task is no map"))?;
    if let Some(unknown) = map.keys().find(|key| !FIELDS.contains(&key.as_str())) {
        return Err(wrong(&format!("a task has no field `{unknown}`")));
    }
    let text = |name: &str| {
        let found = map.get(name).and_then(Value::as_text).filter(|text| !text.is_empty());
        found.ok_or_else(|| wrong(&format!("a task lacks the text `{name}`")))
    };
    let base = caller.space.repository().resolve_commit(text("base")?)?;
    let listed = map.get("protect").map(|paths| paths.as_list().ok_or(())).transpose();
    let listed = listed.map_err(|()| wrong("`protect` is no list of paths"))?.unwrap_or_default();
    let mut protect: Vec<String> = ALWAYS.map(quoted).to_vec();
    for path in listed {
        match path.as_text() {
            Some(path) if is_plain(path) => protect.push(quoted(path)),
            Some(_) | None => return Err(wrong("`protect` has a path that is none")),
        }
    }
    let edits = map.get("edits_protected").and_then(Value::as_bool).unwrap_or(false);
    Ok(Value::Map(Map::from([
        ("briefing".to_owned(), Value::text(text("briefing")?)),
        ("base".to_owned(), Value::text(base.to_string())),
        ("input".to_owned(), map.get("input").cloned().unwrap_or(Value::Null)),
        ("protect".to_owned(), Value::text(protect.join(" "))),
        ("edits_protected".to_owned(), Value::Bool(edits)),
    ])))
}

/// A path stands in a command: it must not end its quotes.
fn is_plain(path: &str) -> bool {
    !path.is_empty() && !path.contains(['\'', '\0', '\n'])
}

fn quoted(path: &str) -> String {
    format!("'{path}'")
}
