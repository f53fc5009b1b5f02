//! `file://`: reading, listing, writing, patching and taking back.

use serde::Serialize;
use serde_json::Value as Json;

use super::argument::Argument;
use super::workspace::{Missing, Place, Workspace};
use super::{Done, ToolCall, ToolFault, json};

/// The folder of git, whose content tools do not change.
const GIT: &str = ".git";

#[derive(Serialize)]
struct Content {
    ok: bool,
    content: String,
}

#[derive(Serialize)]
struct Entries {
    ok: bool,
    entries: Vec<String>,
}

#[derive(Serialize)]
struct Changed<'a> {
    ok: bool,
    effects: [Effect<'a>; 1],
}

/// What was changed, and what it takes to change it back.
#[derive(Serialize)]
struct Effect<'a> {
    id: String,
    tool: &'a str,
    action: &'a str,
    path: &'a str,
    undoable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    existed: Option<bool>,
    previous: Option<String>,
}

#[derive(Serialize)]
struct Undone {
    ok: bool,
}

/// Performs a call.
pub(super) fn call(workspace: &Workspace, call: &ToolCall, key: &str) -> Done {
    match call.method.as_str() {
        "read" => read(workspace, call),
        "list" => list(workspace, call),
        "write" => write(workspace, call, key),
        "patch" => patch(workspace, call, key),
        "undo" => undo(workspace, call, key),
        other => Err(ToolFault::refused(format!(
            "files have no method `{other}`: use read, list, write, patch or undo"
        ))),
    }
}

fn read(workspace: &Workspace, call: &ToolCall) -> Done {
    let place = workspace.locate(&Argument::of(call)?.text("path")?, Missing::Refused)?;
    let content = place.read()?.ok_or_else(|| place.fault("does not exist"))?;
    json(&Content { ok: true, content })
}

fn list(workspace: &Workspace, call: &ToolCall) -> Done {
    let place = workspace.locate(&Argument::of(call)?.text("path")?, Missing::Refused)?;
    let entries = place.entries()?.into_iter().map(|entry| entry.name).collect();
    json(&Entries { ok: true, entries })
}

fn write(workspace: &Workspace, call: &ToolCall, key: &str) -> Done {
    let argument = Argument::of(call)?;
    let (path, content) = (argument.text("path")?, argument.content("content")?);
    let place = to_change(workspace, &path)?;
    let previous = place.read()?;
    place.write(content.as_bytes(), key)?;
    changed(call, &place, Some(previous.is_some()), previous)
}

fn patch(workspace: &Workspace, call: &ToolCall, key: &str) -> Done {
    let argument = Argument::of(call)?;
    let (path, search) = (argument.text("path")?, argument.text("search")?);
    let replace = argument.content("replace")?;
    let place = to_change(workspace, &path)?;
    let content = place.read()?.ok_or_else(|| place.fault("does not exist"))?;
    if !content.contains(&search) {
        return Err(ToolFault::refused("File.patch search text not found"));
    }
    place.write(content.replacen(&search, &replace, 1).as_bytes(), key)?;
    changed(call, &place, None, Some(content))
}

fn changed(
    call: &ToolCall,
    place: &Place,
    existed: Option<bool>,
    previous: Option<String>,
) -> Done {
    let effect = Effect {
        id: format!("file-{}:{}", call.method, place.path),
        tool: &call.tool,
        action: &call.method,
        path: &place.path,
        undoable: true,
        existed,
        previous,
    };
    json(&Changed { ok: true, effects: [effect] })
}

/// Takes effects back, the last first. Doing so twice is as good as once.
fn undo(workspace: &Workspace, call: &ToolCall, key: &str) -> Done {
    let effects = call.args.first().and_then(|list| serde_json::from_str::<Json>(list.get()).ok());
    let Some(Json::Array(effects)) = effects else {
        let message = "undo takes the list of effects of an earlier call";
        return Err(ToolFault::refused(message));
    };
    for effect in effects.iter().rev() {
        let path = effect["path"].as_str().unwrap_or_default();
        let place = to_change(workspace, path)?;
        match effect["previous"].as_str() {
            Some(previous) => place.write(previous.as_bytes(), key)?,
            None => place.remove()?,
        }
    }
    json(&Undone { ok: true })
}

/// Finds a place that may be changed.
fn to_change(workspace: &Workspace, path: &str) -> Result<Place, ToolFault> {
    let is_git = |part: &str| part.eq_ignore_ascii_case(GIT);
    if path.split('/').any(is_git) {
        return Err(ToolFault::refused(format!("`{path}` belongs to git")));
    }
    let place = workspace.locate(path, Missing::Made)?;
    // A link may lead there, too.
    if place.path.split('/').any(is_git) {
        return Err(place.fault("belongs to git"));
    }
    Ok(place)
}
