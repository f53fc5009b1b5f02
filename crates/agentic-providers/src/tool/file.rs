//! `file://`: reading, listing, writing, patching and taking back.

use agentic_model::Value;
use serde::Serialize;
use serde_json::Value as Json;

use super::argument::ToolArgument;
use super::workspace::{MissingFolders, Workspace, WorkspacePlace};
use super::{ToolCall, ToolFault, ToolResult, ToolSetting, json};

#[derive(Serialize)]
struct FileContent {
    ok: bool,
    content: String,
}

#[derive(Serialize)]
struct FolderEntries {
    ok: bool,
    entries: Vec<String>,
}

#[derive(Serialize)]
struct FileChange<'a> {
    ok: bool,
    effects: [FileEffect<'a>; 1],
}

/// What was changed, and what it takes to change it back.
#[derive(Serialize)]
struct FileEffect<'a> {
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
struct UndoneWrite {
    ok: bool,
}

/// What stood at a path before it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundPath {
    /// The text of the file; nothing if there was none.
    previous: Option<String>,
}

/// The field of [`FoundPath`].
const PREVIOUS: &str = "previous";

impl FoundPath {
    pub fn into_value(self) -> Value {
        Value::map([(PREVIOUS, self.previous.map_or(Value::Null, Value::Text))])
    }

    fn of(value: &Value) -> FoundPath {
        let previous = value.get(PREVIOUS).and_then(Value::as_text);
        FoundPath { previous: previous.map(str::to_owned) }
    }
}

/// Performs a call.
pub(super) fn call(
    workspace: &Workspace,
    call: &ToolCall,
    setting: &ToolSetting<'_>,
) -> ToolResult {
    match call.method.as_str() {
        "read" => read(workspace, call),
        "list" => list(workspace, call),
        "write" => write(workspace, call, setting),
        "patch" => patch(workspace, call, setting),
        "undo" => undo(workspace, call, setting.key),
        other => Err(ToolFault::refused(format!(
            "files have no method `{other}`: use read, list, write, patch or undo"
        ))),
    }
}

/// Looks at what a call will replace; nothing for one that replaces nothing.
pub(super) fn look(workspace: &Workspace, call: &ToolCall) -> Result<Option<FoundPath>, ToolFault> {
    if !matches!(call.method.as_str(), "write" | "patch") {
        return Ok(None);
    }
    let path = ToolArgument::of(call)?.text("path")?;
    let place = workspace.find(&path)?;
    let previous = place.as_ref().map(WorkspacePlace::read).transpose()?.flatten();
    Ok(Some(FoundPath { previous }))
}

/// Returns what stood at the path of a call before it was made for the first time.
fn found(
    workspace: &Workspace,
    call: &ToolCall,
    setting: &ToolSetting<'_>,
) -> Result<Option<String>, ToolFault> {
    let found = match setting.found {
        Some(value) => Some(FoundPath::of(value)),
        None => look(workspace, call)?,
    };
    Ok(found.and_then(|found| found.previous))
}

fn read(workspace: &Workspace, call: &ToolCall) -> ToolResult {
    let place =
        workspace.locate(&ToolArgument::of(call)?.text("path")?, MissingFolders::Refused)?;
    let content = place.read()?.ok_or_else(|| place.fault("does not exist"))?;
    json(&FileContent { ok: true, content })
}

fn list(workspace: &Workspace, call: &ToolCall) -> ToolResult {
    let place =
        workspace.locate(&ToolArgument::of(call)?.text("path")?, MissingFolders::Refused)?;
    let entries = place.entries()?.into_iter().map(|entry| entry.name).collect();
    json(&FolderEntries { ok: true, entries })
}

fn write(workspace: &Workspace, call: &ToolCall, setting: &ToolSetting<'_>) -> ToolResult {
    let argument = ToolArgument::of(call)?;
    let (path, content) = (argument.text("path")?, argument.content("content")?);
    let previous = found(workspace, call, setting)?;
    let place = workspace.locate(&path, MissingFolders::Made)?;
    place.write(content.as_bytes(), setting.key)?;
    changed(call, &place, Some(previous.is_some()), previous)
}

/// Replaces a part of what was found. Where that was done already, by a call before a crash, nothing
/// is done; where somebody else has changed the file since, nobody knows whether it was.
fn patch(workspace: &Workspace, call: &ToolCall, setting: &ToolSetting<'_>) -> ToolResult {
    let argument = ToolArgument::of(call)?;
    let (path, search) = (argument.text("path")?, argument.text("search")?);
    let replace = argument.content("replace")?;
    let previous = found(workspace, call, setting)?;
    let place = workspace.locate(&path, MissingFolders::Made)?;
    let previous = previous.ok_or_else(|| place.fault("does not exist"))?;
    if !previous.contains(&search) {
        return Err(ToolFault::refused("File.patch search text not found"));
    }
    let patched = previous.replacen(&search, &replace, 1);
    match place.read()? {
        Some(now) if now == patched => {}
        Some(now) if now == previous => place.write(patched.as_bytes(), setting.key)?,
        Some(_) | None => return Err(place.fault("was changed by somebody else meanwhile")),
    }
    changed(call, &place, None, Some(previous))
}

fn changed(
    call: &ToolCall,
    place: &WorkspacePlace,
    existed: Option<bool>,
    previous: Option<String>,
) -> ToolResult {
    let effect = FileEffect {
        id: format!("file-{}:{}", call.method, place.path),
        tool: &call.tool,
        action: &call.method,
        path: &place.path,
        undoable: true,
        existed,
        previous,
    };
    json(&FileChange { ok: true, effects: [effect] })
}

/// Takes effects back, the last first. Doing so twice is as good as once.
fn undo(workspace: &Workspace, call: &ToolCall, key: &str) -> ToolResult {
    let effects = call.args.first().and_then(|list| serde_json::from_str::<Json>(list.get()).ok());
    let Some(Json::Array(effects)) = effects else {
        let message = "undo takes the list of effects of an earlier call";
        return Err(ToolFault::refused(message));
    };
    for effect in effects.iter().rev() {
        let path = effect["path"].as_str().unwrap_or_default();
        let place = workspace.locate(path, MissingFolders::Made)?;
        match effect["previous"].as_str() {
            Some(previous) => place.write(previous.as_bytes(), key)?,
            None => place.remove()?,
        }
    }
    json(&UndoneWrite { ok: true })
}
