//! The file and search tools over a workspace in memory.
//!
//! The rules are those of the real tools, so tests and dry runs see what a workspace on disk would
//! answer, and whoever serves one on disk can compare.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::Value;
use agentic_replay::RequestAnswer;

use crate::json::Json;

use super::{args, done, refused, text_field};

/// How many results a search returns unless it says so.
const RESULTS_DEFAULT: usize = 100;
/// The largest file that is searched, in bytes.
const SEARCHED_BYTES_MAX: usize = 1 << 20;

/// A tree of text files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TextTree {
    files: BTreeMap<String, String>,
    folders: BTreeSet<String>,
}

type WorkspaceResult = Result<Json, String>;

impl TextTree {
    /// Makes a workspace of files by their paths.
    pub fn new(files: impl IntoIterator<Item = (String, String)>) -> TextTree {
        let mut workspace = TextTree::default();
        for (path, content) in files {
            workspace.put(path, content);
        }
        workspace
    }

    /// Returns the content of a file.
    pub fn file(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Answers a request of kind `tool` to `file:` or `sh:`.
    pub fn answer(&mut self, payload: &Value) -> RequestAnswer {
        let call = WorkspaceCall {
            tool: text_field(payload, "tool").to_owned(),
            method: text_field(payload, "method").to_owned(),
            args: args(payload),
        };
        let uri = text_field(payload, "uri");
        let result = match uri.split_once("://") {
            Some(("file", _)) => self.file_tool(&call),
            Some(("sh", command)) => self.shell_tool(&call, command),
            _ => Err(format!("the tool `{uri}` has no workspace")),
        };
        match result {
            Ok(json) => done(&json),
            Err(message) => refused(message),
        }
    }

    fn put(&mut self, path: String, content: String) {
        let parents = path.match_indices('/').map(|(at, _)| path[..at].to_owned());
        self.folders.extend(parents);
        self.files.insert(path, content);
    }

    fn file_tool(&mut self, call: &WorkspaceCall) -> WorkspaceResult {
        match call.method.as_str() {
            "read" => {
                let path = call.path()?;
                let content = self.content(&path)?;
                Ok(ok([("content", Json::text(content))]))
            }
            "list" => self.list(&call.path()?),
            "write" => self.write(call),
            "patch" => self.patch(call),
            "undo" => self.undo(call),
            other => {
                Err(format!("files have no method `{other}`: use read, list, write, patch or undo"))
            }
        }
    }

    fn content(&self, path: &str) -> Result<&str, String> {
        self.file(path).ok_or_else(|| format!("there is no file `{path}`"))
    }

    fn list(&self, path: &str) -> WorkspaceResult {
        if !path.is_empty() && !self.folders.contains(path) {
            return Err(format!("there is no folder `{path}`"));
        }
        let names: BTreeSet<&str> = self
            .files
            .keys()
            .chain(&self.folders)
            .filter_map(|entry| below(path, entry))
            .filter_map(|rest| rest.split('/').next())
            .collect();
        let entries = names.into_iter().map(Json::text).collect();
        Ok(ok([("entries", Json::List(entries))]))
    }

    fn write(&mut self, call: &WorkspaceCall) -> WorkspaceResult {
        let path = call.path()?;
        let content = match call.argument()?.get("content") {
            Some(Json::Text(content)) => content.to_string(),
            _ => return Err(call.missing("content")),
        };
        let previous = self.files.get(&path).map(|text| Json::text(text.as_str()));
        let existed = Json::Bool(previous.is_some());
        self.put(path.clone(), content);
        let mut effect = call.effect(&path);
        effect.push(("existed", existed));
        effect.push(("previous", previous.unwrap_or_default()));
        Ok(ok([("effects", Json::List(vec![Json::object(effect)]))]))
    }

    fn patch(&mut self, call: &WorkspaceCall) -> WorkspaceResult {
        let path = call.path()?;
        let (search, replace) = (call.text("search")?, call.argument()?.get("replace").cloned());
        let Some(Json::Text(replace)) = replace else { return Err(call.missing("replace")) };
        let content = self.content(&path)?.to_owned();
        if !content.contains(&search) {
            return Err("File.patch search text not found".to_owned());
        }
        self.put(path.clone(), content.replacen(&search, &replace, 1));
        let mut effect = call.effect(&path);
        effect.push(("previous", Json::text(content)));
        Ok(ok([("effects", Json::List(vec![Json::object(effect)]))]))
    }

    /// Takes effects back, the last first.
    fn undo(&mut self, call: &WorkspaceCall) -> WorkspaceResult {
        let effects = call.args.first().and_then(Json::as_list);
        let effects = effects.ok_or("undo takes the list of effects of an earlier call")?;
        for effect in effects.iter().rev() {
            let path = effect.get("path").and_then(Json::as_text).unwrap_or_default();
            let path = inside(path)?;
            match effect.get("previous") {
                Some(Json::Text(previous)) => self.put(path, previous.to_string()),
                _ => {
                    self.files.remove(&path);
                }
            }
        }
        Ok(ok([]))
    }

    fn shell_tool(&self, call: &WorkspaceCall, command: &str) -> WorkspaceResult {
        if call.method != "run" {
            return Err(format!("`{command}` has no method `{}`: use run", call.method));
        }
        match command {
            "find" => self.find(call),
            "grep" => self.grep(call),
            "read-range" | "sed" => self.read_range(call),
            "sh" | "bash" | "zsh" | "fish" => Err(format!("the shell `{command}` is forbidden")),
            other => Err(format!("there is no tool `{other}`: use find, grep or read-range")),
        }
    }

    fn find(&self, call: &WorkspaceCall) -> WorkspaceResult {
        let (root, max) = (call.path()?, call.count("max", RESULTS_DEFAULT)?);
        let (name, kind) = (call.optional("name")?, call.optional("type")?);
        let wants = |wanted: &str| kind.as_deref().is_none_or(|kind| kind == wanted);
        let files = self.files.keys().filter(|_| wants("file"));
        let folders = self.folders.iter().filter(|_| wants("dir"));
        let found: BTreeSet<&String> = files
            .chain(folders)
            .filter(|entry| **entry == root || below(&root, entry).is_some())
            .filter(|entry| name.as_deref().is_none_or(|name| matches_end(name, entry)))
            .collect();
        let found = found.into_iter().take(max).map(|entry| Json::text(entry.as_str()));
        Ok(ok([("files", Json::List(found.collect()))]))
    }

    fn grep(&self, call: &WorkspaceCall) -> WorkspaceResult {
        let (root, pattern) = (call.path()?, call.text("pattern")?);
        let (include, max) = (call.optional("include")?, call.count("max", RESULTS_DEFAULT)?);
        let mut matches = Vec::new();
        let files = self
            .files
            .iter()
            .filter(|(path, _)| **path == root || below(&root, path).is_some())
            .filter(|(path, _)| include.as_deref().is_none_or(|glob| matches_end(glob, path)))
            .filter(|(_, content)| content.len() <= SEARCHED_BYTES_MAX);
        for (path, content) in files {
            for (at, line) in content.lines().enumerate() {
                if line.contains(&pattern) && matches.len() < max {
                    matches.push(Json::object([
                        ("path", Json::text(path.as_str())),
                        ("line", Json::count(at + 1)),
                        ("text", Json::text(line)),
                    ]));
                }
            }
        }
        Ok(ok([("matches", Json::List(matches))]))
    }

    fn read_range(&self, call: &WorkspaceCall) -> WorkspaceResult {
        let path = call.path()?;
        let (start, max) = (call.count("start", 1)?, call.count("max", RESULTS_DEFAULT)?);
        let lines: Vec<&str> = self.content(&path)?.lines().skip(start - 1).take(max).collect();
        Ok(ok([
            ("text", Json::text(lines.join("\n"))),
            ("start", Json::count(start)),
            ("end", Json::count(start + lines.len() - 1)),
        ]))
    }
}

/// A call with its arguments.
struct WorkspaceCall {
    tool: String,
    method: String,
    args: Vec<Json>,
}

impl WorkspaceCall {
    fn argument(&self) -> Result<&Json, String> {
        match self.args.as_slice() {
            [argument @ Json::Object(_)] => Ok(argument),
            _ => Err(format!("{}.{} expects one json object argument", self.tool, self.method)),
        }
    }

    fn missing(&self, key: &str) -> String {
        format!("{}.{}.{key} is required", self.tool, self.method)
    }

    fn optional(&self, key: &str) -> Result<Option<String>, String> {
        match self.argument()?.get(key) {
            None | Some(Json::Null) => Ok(None),
            Some(Json::Text(text)) => Ok(Some(text.to_string())),
            Some(_) => Err(format!("{}.{}.{key} is a text", self.tool, self.method)),
        }
    }

    fn text(&self, key: &str) -> Result<String, String> {
        let text = self.optional(key)?.filter(|text| !text.is_empty());
        text.ok_or_else(|| self.missing(key))
    }

    fn count(&self, key: &str, default: usize) -> Result<usize, String> {
        match self.argument()?.get(key) {
            None | Some(Json::Null) => Ok(default),
            Some(Json::Number(number)) if *number >= 1.0 && number.fract() == 0.0 => {
                Ok(*number as usize)
            }
            Some(_) => {
                Err(format!("{}.{}.{key} is a whole number above 0", self.tool, self.method))
            }
        }
    }

    fn path(&self) -> Result<String, String> {
        inside(&self.text("path")?)
    }

    fn effect(&self, path: &str) -> Vec<(&'static str, Json)> {
        vec![
            ("id", Json::text(format!("file-{}:{path}", self.method))),
            ("tool", Json::text(self.tool.as_str())),
            ("action", Json::text(self.method.as_str())),
            ("path", Json::text(path)),
            ("undoable", Json::Bool(true)),
        ]
    }
}

fn ok<const N: usize>(fields: [(&'static str, Json); N]) -> Json {
    Json::object(std::iter::once(("ok", Json::Bool(true))).chain(fields))
}

/// Resolves a path; one that leaves the workspace is refused. The workspace itself is empty.
fn inside(path: &str) -> Result<String, String> {
    let escapes = || format!("the path `{path}` escapes the workspace");
    if path.starts_with('/') || path.contains(['\\', '\0']) {
        return Err(escapes());
    }
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop().ok_or_else(escapes)?;
            }
            other => parts.push(other),
        }
    }
    Ok(parts.join("/"))
}

/// Returns the part of a path below a folder.
fn below<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
    if folder.is_empty() {
        return Some(path);
    }
    path.strip_prefix(folder)?.strip_prefix('/')
}

/// Matches a pattern with `*` and `?` against the end of a path, from the start of a component.
fn matches_end(pattern: &str, path: &str) -> bool {
    let starts = std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1));
    let pattern: Vec<char> = pattern.chars().collect();
    starts.into_iter().any(|start| {
        let text: Vec<char> = path[start..].chars().collect();
        matches(&pattern, &text)
    })
}

/// Matches a whole text; neither `*` nor `?` stands for `/`. Takes steps in proportion to the
/// product of both lengths at most.
fn matches(pattern: &[char], text: &[char]) -> bool {
    let mut reachable = vec![false; text.len() + 1];
    reachable[0] = true;
    for symbol in pattern {
        let mut next = vec![false; text.len() + 1];
        for at in 0..=text.len() {
            if *symbol == '*' {
                let goes_on = at > 0 && next[at - 1] && text[at - 1] != '/';
                next[at] = reachable[at] || goes_on;
            } else if at > 0 && reachable[at - 1] {
                let found = text[at - 1];
                next[at] = *symbol == found || (*symbol == '?' && found != '/');
            }
        }
        reachable = next;
    }
    reachable[text.len()]
}
