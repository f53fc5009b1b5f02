//! `sh://find`, `sh://grep` and `sh://read-range`: looking through the workspace.
//!
//! No program is started. A walk does not go through links, and ends after a bounded number of
//! entries.

use serde::Serialize;

use super::argument::ToolArgument;
use super::workspace::{EntryKind, MissingFolders, Workspace, WorkspacePlace};
use super::{ToolCall, ToolFault, ToolResult, json};
use crate::host::CancelFlag;

/// How many results a search returns unless it says so.
const RESULTS_DEFAULT: usize = 100;
/// The largest file that is searched, in bytes.
const SEARCHED_BYTES_MAX: u64 = 1 << 20;
/// How many entries a walk looks at.
const ENTRIES_MAX: usize = 1_000_000;
/// How deep a walk goes.
const DEPTH_MAX: usize = 128;

#[derive(Serialize)]
struct Files {
    ok: bool,
    files: Vec<String>,
}

#[derive(Serialize)]
struct Matches {
    ok: bool,
    matches: Vec<Match>,
}

#[derive(Serialize)]
struct Match {
    path: String,
    line: usize,
    text: String,
}

#[derive(Serialize)]
struct LineRange {
    ok: bool,
    text: String,
    start: usize,
    end: usize,
}

/// The searches that are built in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BuiltinSearch {
    Find,
    Grep,
    ReadRange,
}

impl BuiltinSearch {
    /// Finds a search by its name.
    pub fn of(command: &str) -> Option<BuiltinSearch> {
        match command {
            "find" => Some(BuiltinSearch::Find),
            "grep" => Some(BuiltinSearch::Grep),
            "read-range" | "sed" => Some(BuiltinSearch::ReadRange),
            _ => None,
        }
    }

    /// Performs a call.
    pub fn call(self, workspace: &Workspace, call: &ToolCall, cancel: &CancelFlag) -> ToolResult {
        let argument = ToolArgument::of(call)?;
        let place = workspace.locate(&argument.text("path")?, MissingFolders::Refused)?;
        match self {
            BuiltinSearch::Find => find(place, &argument, cancel),
            BuiltinSearch::Grep => grep(place, &argument, cancel),
            BuiltinSearch::ReadRange => read_range(&place, &argument),
        }
    }
}

fn find(root: WorkspacePlace, argument: &ToolArgument<'_>, cancel: &CancelFlag) -> ToolResult {
    let max = argument.count("max", RESULTS_DEFAULT)?;
    let (name, kind) = (argument.optional("name")?, argument.optional("type")?);
    let wanted = match kind.as_deref() {
        None => None,
        Some("file") => Some(EntryKind::File),
        Some("dir") => Some(EntryKind::Folder),
        Some(_) => return Err(argument.fault("type", "is `file` or `dir`")),
    };
    let mut files = Vec::new();
    walk(root, cancel, &mut |place, kind| {
        let is_wanted = wanted.is_none_or(|wanted| wanted == kind);
        let is_named = name.as_deref().is_none_or(|name| matches_end(name, &place.path));
        if is_wanted && is_named && files.len() < max {
            files.push(if place.path.is_empty() { ".".to_owned() } else { place.path.clone() });
        }
        Ok(files.len() < max)
    })?;
    json(&Files { ok: true, files })
}

fn grep(root: WorkspacePlace, argument: &ToolArgument<'_>, cancel: &CancelFlag) -> ToolResult {
    let (pattern, include) = (argument.text("pattern")?, argument.optional("include")?);
    let max = argument.count("max", RESULTS_DEFAULT)?;
    let mut matches = Vec::new();
    walk(root, cancel, &mut |place, kind| {
        let is_included = include.as_deref().is_none_or(|glob| matches_end(glob, &place.path));
        if kind != EntryKind::File || !is_included {
            return Ok(true);
        }
        // What is too long, unreadable or gone meanwhile holds no match.
        let Ok(Some(bytes)) = place.read_bytes(SEARCHED_BYTES_MAX) else { return Ok(true) };
        let Ok(text) = String::from_utf8(bytes) else { return Ok(true) };
        for (at, line) in text.lines().enumerate() {
            if matches.len() < max && line.contains(&pattern) {
                let (path, text) = (place.path.clone(), line.to_owned());
                matches.push(Match { path, line: at + 1, text });
            }
        }
        Ok(matches.len() < max)
    })?;
    json(&Matches { ok: true, matches })
}

fn read_range(place: &WorkspacePlace, argument: &ToolArgument<'_>) -> ToolResult {
    let (start, max) = (argument.count("start", 1)?, argument.count("max", RESULTS_DEFAULT)?);
    let content = place.read()?.ok_or_else(|| place.fault("does not exist"))?;
    let lines: Vec<&str> = content.lines().skip(start - 1).take(max).collect();
    let end = (start - 1).saturating_add(lines.len());
    json(&LineRange { ok: true, text: lines.join("\n"), start, end })
}

/// Visits a place and everything below it by name, a folder before what is in it, until the
/// visitor has enough.
fn walk(
    root: WorkspacePlace,
    cancel: &CancelFlag,
    visit: &mut dyn FnMut(&WorkspacePlace, EntryKind) -> Result<bool, ToolFault>,
) -> Result<(), ToolFault> {
    let kind = root.kind()?.ok_or_else(|| root.fault("does not exist"))?;
    let (mut left, mut n_seen) = (vec![(root, kind, 0)], 0);
    while let Some((place, kind, depth)) = left.pop() {
        n_seen += 1;
        if cancel.is_set() {
            return Err(ToolFault::cancelled());
        }
        if n_seen > ENTRIES_MAX {
            return Err(place.fault("stands in a tree with too many entries"));
        }
        if !visit(&place, kind)? {
            return Ok(());
        }
        if kind != EntryKind::Folder || depth >= DEPTH_MAX {
            continue;
        }
        // A folder that is gone or closed to us holds nothing for us.
        let children = place.children().unwrap_or_default();
        left.extend(children.into_iter().rev().map(|(child, kind)| (child, kind, depth + 1)));
    }
    Ok(())
}

/// Matches a pattern with `*` and `?` against the end of a path, from the start of a part.
fn matches_end(pattern: &str, path: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let starts = std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1));
    starts.into_iter().any(|start| {
        let text: Vec<char> = path[start..].chars().collect();
        matches(&pattern, &text)
    })
}

/// Matches a whole text; neither `*` nor `?` stands for `/`. Takes steps in proportion to the
/// product of both lengths at most.
fn matches(pattern: &[char], text: &[char]) -> bool {
    let mut reached = vec![false; text.len() + 1];
    reached[0] = true;
    for symbol in pattern {
        let mut next = vec![false; text.len() + 1];
        for at in 0..=text.len() {
            let letter = at.checked_sub(1).map(|before| text[before]);
            next[at] = match (symbol, letter) {
                ('*', Some(letter)) => reached[at] || (next[at - 1] && letter != '/'),
                ('*', None) => reached[at],
                ('?', Some(letter)) => reached[at - 1] && letter != '/',
                (symbol, Some(letter)) => reached[at - 1] && *symbol == letter,
                (_, None) => false,
            };
        }
        reached = next;
    }
    reached[text.len()]
}
