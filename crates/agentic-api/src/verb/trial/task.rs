//! The tasks of a trial, checked before anything runs.

use agentic_model::{Map, Value, json};

use crate::{Caller, Refusal};

/// The fields that a task may have.
const FIELDS: [&str; 6] = ["briefing", "base", "input", "protect", "edits_protected", "seconds"];
/// What no run may touch, whatever a task says: our configuration, and what builds and tests by itself.
const ALWAYS: [&str; 11] = [
    "agentic.toml",
    ".github",
    ".gitlab-ci.yml",
    ".gitea",
    ".forgejo",
    ".woodpecker",
    ".circleci",
    ".buildkite",
    ".travis.yml",
    "azure-pipelines.yml",
    "Jenkinsfile",
];
/// How long a run may take where its task does not say, in seconds; and at most.
const SECONDS: i64 = 3_600;
const SECONDS_MAX: i64 = 86_400;

/// Reads tasks: each with the commit that it begins at, by its whole id.
pub(super) fn tasks(caller: &Caller<'_>, text: &str) -> Result<Vec<Value>, Refusal> {
    let hint = "a list of {\"briefing\":TEXT,\"base\":COMMIT,\"protect\":[PATH]}";
    let wrong = |message: &str| Refusal::schema(message, hint);
    let read = json::from_text(text).map_err(|error| wrong(&error.to_string()))?;
    let list = read.as_list().ok_or_else(|| wrong("the tasks are no list"))?;
    if list.is_empty() {
        return Err(Refusal::usage("there is no task", hint));
    }
    let mut read = Vec::new();
    for task in list {
        let task = one(caller, task, &wrong)?;
        if let Some(place) = read.iter().position(|known| *known == task) {
            let message = format!("tasks {} and {} are the same", place, read.len());
            return Err(Refusal::usage(&message, "give it once; --runs says how often it is run"));
        }
        read.push(task);
    }
    Ok(read)
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
    let edits = match map.get("edits_protected") {
        None => false,
        Some(value) => value.as_bool().ok_or_else(|| wrong("`edits_protected` is yes or no"))?,
    };
    let seconds = match map.get("seconds") {
        None => SECONDS,
        Some(value) => {
            let seconds = value.as_int().filter(|it| (1..=SECONDS_MAX).contains(it));
            seconds.ok_or_else(|| wrong("`seconds` is a whole number of them, a day at most"))?
        }
    };
    Ok(Value::Map(Map::from([
        ("briefing".to_owned(), Value::text(text("briefing")?)),
        ("base".to_owned(), Value::text(base.to_string())),
        ("input".to_owned(), map.get("input").cloned().unwrap_or(Value::Null)),
        ("protect".to_owned(), Value::List(protected(map, wrong)?)),
        ("edits_protected".to_owned(), Value::Bool(edits)),
        ("seconds".to_owned(), Value::Int(seconds)),
    ])))
}

/// Lists what a run must not touch.
fn protected(map: &Map, wrong: &dyn Fn(&str) -> Refusal) -> Result<Vec<Value>, Refusal> {
    let listed = map.get("protect").map(|paths| paths.as_list().ok_or(())).transpose();
    let listed = listed.map_err(|()| wrong("`protect` is no list of paths"))?.unwrap_or_default();
    let mut protect: Vec<Value> = ALWAYS.into_iter().map(Value::text).collect();
    for path in listed {
        match path.as_text() {
            Some(path) if is_inside(path) => protect.push(Value::text(path.trim_end_matches('/'))),
            Some(_) | None => return Err(wrong("`protect` has a path that is none")),
        }
    }
    Ok(protect)
}

/// Says whether a path is one of a file or folder in a tree.
fn is_inside(path: &str) -> bool {
    let parts = || path.trim_end_matches('/').split('/');
    !path.contains(['\0', '\n']) && parts().all(|part| !matches!(part, "" | "." | ".."))
}
