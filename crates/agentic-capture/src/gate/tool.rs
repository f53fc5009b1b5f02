//! Tools of coding agents: what a rule may call them, and which files a call is about.

use std::path::{Component, Path, PathBuf};

use agentic_model::Value;

use crate::Source;

/// What tools of other vendors are called in Claude Code, whose names rules use.
const ALIASES: &[(Source, &str, &str)] = &[
    (Source::Codex, "shell", "Bash"),
    (Source::Codex, "local_shell", "Bash"),
    (Source::Codex, "shell_command", "Bash"),
    (Source::Codex, "exec_command", "Bash"),
    (Source::Codex, "unified_exec", "Bash"),
    (Source::Codex, "apply_patch", "Edit"),
    (Source::Cursor, "Shell", "Bash"),
    (Source::Cursor, "StrReplace", "Edit"),
    (Source::Cursor, "Delete", "Write"),
    (Source::Cursor, "TabWrite", "Write"),
    (Source::Gemini, "run_shell_command", "Bash"),
    (Source::Gemini, "write_file", "Write"),
    (Source::Gemini, "replace", "Edit"),
    (Source::Copilot, "bash", "Bash"),
    (Source::Copilot, "shell", "Bash"),
    (Source::Copilot, "powershell", "PowerShell"),
    (Source::Copilot, "create", "Write"),
    (Source::Copilot, "edit", "Edit"),
    (Source::Copilot, "str_replace_editor", "Edit"),
    (Source::Opencode, "bash", "Bash"),
    (Source::Opencode, "write", "Write"),
    (Source::Opencode, "edit", "Edit"),
    (Source::Opencode, "patch", "Edit"),
    (Source::Opencode, "apply_patch", "Edit"),
    (Source::Opencode, "multiedit", "MultiEdit"),
];

/// The tools that write files.
pub const WRITERS: [&str; 4] = ["Edit", "Write", "MultiEdit", "NotebookEdit"];
/// The tools that run commands.
pub const SHELLS: [&str; 2] = ["Bash", "PowerShell"];
/// The tools that ask a person something.
const QUESTIONS: [&str; 2] = ["AskUserQuestion", "ExitPlanMode"];
/// The keys under which tools take a command.
const COMMAND_KEYS: [&str; 2] = ["command", "cmd"];
/// The keys under which tools name files.
const PATH_KEYS: [&str; 7] =
    ["file_path", "filePath", "path", "notebook_path", "absolute_path", "target_file", "file"];
/// What patches put before the name of a file.
const PATCH_LINES: [&str; 4] =
    ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];
/// How deep an input is looked through for names of files.
const NESTING_MAX: usize = 8;

/// Returns the name by which rules know a tool.
pub fn common_name(source: Source, tool: &str) -> &str {
    let known = ALIASES.iter().find(|(whose, own, _)| *whose == source && *own == tool);
    known.map_or(tool, |(_, _, common)| *common)
}

/// Returns what a coding agent may call a tool that rules know by a name.
pub fn own_names(source: Source, common: &str) -> impl Iterator<Item = &'static str> {
    let known = ALIASES.iter().filter(move |(whose, _, name)| *whose == source && *name == common);
    known.map(|(_, own, _)| *own)
}

/// Tells whether a tool writes files.
pub fn writes(source: Source, tool: &str) -> bool {
    WRITERS.contains(&common_name(source, tool))
}

/// Tells whether a tool asks a person something.
pub fn asks_person(tool: &str) -> bool {
    QUESTIONS.contains(&tool)
}

/// Returns the commands of a call as they stand there, as a shell reads them that joins lines, and
/// without what quotes: none of that is a way around a rule.
pub fn commands(input: &Value) -> Vec<String> {
    let mut commands = lines(input);
    let joined: Vec<String> =
        commands.iter().map(|it| it.replace("\\\r\n", "").replace("\\\n", "")).collect();
    let plain = joined.iter().map(|it| it.replace(['"', '\'', '\\'], "")).collect::<Vec<_>>();
    commands.extend(joined);
    commands.extend(plain);
    commands
}

/// Returns the commands of a call as they stand there.
pub fn lines(input: &Value) -> Vec<String> {
    COMMAND_KEYS.iter().filter_map(|key| command(input.get(key)?)).collect()
}

fn command(value: &Value) -> Option<String> {
    match value {
        Value::Text(line) => Some(line.clone()),
        Value::List(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_text).collect();
            Some(words.join(" "))
        }
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Bytes(_)
        | Value::Map(_)
        | Value::Link(_) => None,
    }
}

/// Lists the files that a call names, as they lie in a folder. A tilde may be a name, or the home.
pub fn files(input: &Value, folder: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(input, None, NESTING_MAX, &mut found);
    found.sort();
    found.dedup();
    let at_home = |path: &String| Some(home?.join(path.strip_prefix("~/")?));
    let named = found.iter().flat_map(|path| {
        let here = folder.join(path);
        std::iter::once(here).chain(at_home(path))
    });
    named.flat_map(|path| places(&path)).collect()
}

fn collect(value: &Value, key: Option<&str>, depth: usize, found: &mut Vec<String>) {
    match value {
        Value::Text(text) => {
            if key.is_some_and(|key| PATH_KEYS.contains(&key)) {
                found.push(text.clone());
            }
            let named = text.lines().filter_map(|line| {
                PATCH_LINES.iter().find_map(|start| line.trim().strip_prefix(start.trim_start()))
            });
            found.extend(named.map(|name| name.trim().to_owned()));
        }
        Value::List(items) if depth > 0 => {
            items.iter().for_each(|item| collect(item, key, depth - 1, found));
        }
        Value::Map(members) if depth > 0 => {
            members.iter().for_each(|(key, item)| collect(item, Some(key), depth - 1, found));
        }
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Bytes(_)
        | Value::Link(_)
        | Value::List(_)
        | Value::Map(_) => {}
    }
}

/// Returns a path without detours, and where it really leads if that is another place.
pub fn places(path: &Path) -> Vec<PathBuf> {
    let plain = without_detours(path);
    let mut real = None;
    for parent in plain.ancestors() {
        if let Ok(there) = parent.canonicalize() {
            real = plain.strip_prefix(parent).ok().map(|rest| there.join(rest));
            break;
        }
    }
    let real = real.map(|real| without_detours(&real)).filter(|real| *real != plain);
    std::iter::once(plain).chain(real).collect()
}

/// Returns a path without detours.
pub fn without_detours(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use agentic_model::json;

    use super::{common_name, files};
    use crate::Source;

    #[test]
    fn shells_of_all_vendors_have_one_name() {
        for (source, tool) in [
            (Source::Claude, "Bash"),
            (Source::Codex, "Bash"),
            (Source::Codex, "exec_command"),
            (Source::Cursor, "Shell"),
            (Source::Gemini, "run_shell_command"),
            (Source::Copilot, "bash"),
            (Source::Opencode, "bash"),
        ] {
            assert_eq!(common_name(source, tool), "Bash", "{source} {tool}");
        }
    }

    #[test]
    fn files_are_found_by_key_and_in_patches() {
        for (input, wanted) in [
            (r#"{"file_path": "a/../b"}"#, "/w/b"),
            (r#"{"edits": [{"path": "/x/y"}]}"#, "/x/y"),
            (r#"{"command": "*** Begin Patch\n*** Update File: m/1.sql\n@@"}"#, "/w/m/1.sql"),
            (r#"{"path": "a~/b"}"#, "/w/a~/b"),
        ] {
            let input = json::from_text(input).expect("JSON");
            let found = files(&input, Path::new("/w"), Some(Path::new("/home/ada")));
            assert_eq!(found, [Path::new(wanted)], "{input:?}");
        }
        let input = json::from_text(r#"{"path": "~/../x/y"}"#).expect("JSON");
        let found = files(&input, Path::new("/w"), Some(Path::new("/home/ada")));
        assert_eq!(found, [Path::new("/w/x/y"), Path::new("/home/x/y")]);
    }
}
