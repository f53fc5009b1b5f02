//! Which call of a tool wrote which lines into which file, as a trace says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use agentic_model::{Entry, Value};

/// Under which names tools take the path of a file.
const PATH_KEYS: [&str; 7] =
    ["file_path", "filePath", "path", "notebook_path", "absolute_path", "target_file", "file"];
/// Under which names tools take what they write.
const TEXT_KEYS: [&str; 9] = [
    "new_string",
    "newString",
    "new_str",
    "content",
    "contents",
    "file_text",
    "new_source",
    "code_edit",
    "newText",
];
/// Under which names tools take several edits of one file, or a patch.
const EDITS_KEY: &str = "edits";
const PATCH_KEYS: [&str; 3] = ["patch", "input", "command"];
/// How many characters of a prompt are shown.
const PROMPT_CHARS_MAX: usize = 200;

/// Where a line is looked for.
#[derive(Debug, Clone, Copy)]
pub struct EditPlace<'p> {
    /// The path of the file in the repository.
    pub path: &'p str,
    /// The folders of the worktrees that there are.
    pub roots: &'p [PathBuf],
}

/// The call that wrote a line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EditWitness {
    /// The id of the entry.
    pub entry: Option<String>,
    /// The conversation, `SOURCE:ID`.
    pub conversation: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The beginning of what a person asked before it.
    pub prompt: Option<String>,
}

/// The calls of a trace that wrote lines, oldest first.
#[derive(Debug, Default)]
pub struct TraceEdits {
    edits: Vec<TraceEdit>,
}

#[derive(Debug)]
struct TraceEdit {
    witness: EditWitness,
    /// The lines by the path that the call named, without blanks at their ends.
    lines: BTreeMap<String, BTreeSet<String>>,
}

impl TraceEdits {
    /// Reads the calls of a trace. One whose result is an error, or that has no result, wrote nothing
    /// that is known.
    pub fn read(entries: &[Entry]) -> TraceEdits {
        let succeeded = succeeded_calls(entries);
        let mut prompt = None;
        let mut found = TraceEdits::default();
        for pieces in entries.chunk_by(|piece, _| piece.continues) {
            let first = &pieces[0];
            let text =
                || pieces.iter().filter_map(|piece| piece.body.as_text()).collect::<String>();
            match first.kind.as_str() {
                "prompt" if !is_marked(first, "injected") => {
                    prompt = Some(text().chars().take(PROMPT_CHARS_MAX).collect::<String>());
                }
                "tool-call" if call_of(first).is_some_and(|call| succeeded.contains(call)) => {
                    let lines = written_lines(&text());
                    let witness = EditWitness { prompt: prompt.clone(), ..witness(first) };
                    found.edits.push(TraceEdit { witness, lines });
                }
                _ => {}
            }
        }
        found
    }

    /// Finds the last call that wrote a line into a file.
    pub fn find(&self, place: &EditPlace<'_>, line: &str) -> Option<EditWitness> {
        let line = line.trim_end();
        let wrote = |edit: &&TraceEdit| {
            edit.lines.iter().any(|(path, lines)| place.is(path) && lines.contains(line))
        };
        self.edits.iter().rev().find(wrote).map(|edit| edit.witness.clone())
    }
}

impl EditPlace<'_> {
    /// Tells whether a call that named a path meant this file. What lies in another repository, or
    /// outside of every worktree that there is, is another file; a worktree that is gone may have had it.
    fn is(&self, named: &str) -> bool {
        let path = Path::new(named);
        if path.is_relative() {
            let path = named.trim_start_matches("./");
            return self.path == path || self.path.ends_with(&format!("/{path}"));
        }
        let inside = self
            .roots
            .iter()
            .filter(|root| path.starts_with(root))
            .max_by_key(|root| root.as_os_str().len());
        match inside {
            Some(root) => path.strip_prefix(root).is_ok_and(|rest| rest == Path::new(self.path)),
            None => named
                .strip_suffix(self.path)
                .and_then(|start| start.strip_suffix('/'))
                .is_some_and(|root| !Path::new(root).exists()),
        }
    }
}

fn succeeded_calls(entries: &[Entry]) -> BTreeSet<&str> {
    let results = entries.iter().filter(|entry| entry.kind.as_str() == "tool-result");
    let good = results.filter(|entry| {
        let exit = entry.meta.get("exit").and_then(Value::as_int).unwrap_or(0);
        !is_marked(entry, "error") && exit == 0
    });
    good.filter_map(call_of).collect()
}

fn call_of(entry: &Entry) -> Option<&str> {
    entry.meta.get("call").and_then(Value::as_text)
}

fn is_marked(entry: &Entry, field: &str) -> bool {
    !matches!(entry.meta.get(field), None | Some(Value::Null | Value::Bool(false)))
}

fn witness(entry: &Entry) -> EditWitness {
    let text = |field: &str| entry.meta.get(field).and_then(Value::as_text).map(str::to_owned);
    EditWitness {
        entry: text("id"),
        conversation: text("conversation"),
        model: text("model"),
        prompt: None,
    }
}

/// Lists what a call wrote, by the paths that it named.
fn written_lines(input: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut lines = BTreeMap::new();
    match serde_json::from_str::<serde_json::Value>(input) {
        Ok(serde_json::Value::Object(input)) => {
            let path = PATH_KEYS.iter().find_map(|key| input.get(*key)?.as_str());
            if let Some(path) = path {
                collect_texts(&input, lines.entry(path.to_owned()).or_default());
            }
            for patch in PATCH_KEYS.iter().filter_map(|key| input.get(*key)) {
                patches_in(patch, &mut lines);
            }
        }
        Ok(serde_json::Value::String(text)) => read_patch(&text, &mut lines),
        Ok(_) => {}
        Err(_) => read_patch(input, &mut lines),
    }
    lines
}

fn collect_texts(input: &serde_json::Map<String, serde_json::Value>, lines: &mut BTreeSet<String>) {
    for text in TEXT_KEYS.iter().filter_map(|key| input.get(*key)?.as_str()) {
        lines.extend(text.split('\n').map(|line| line.trim_end().to_owned()));
    }
    let edits = input.get(EDITS_KEY).and_then(serde_json::Value::as_array);
    for edit in edits.into_iter().flatten().filter_map(serde_json::Value::as_object) {
        collect_texts(edit, lines);
    }
}

/// Finds patches in the arguments of a call: a text, or a list of words as shells are given.
fn patches_in(value: &serde_json::Value, lines: &mut BTreeMap<String, BTreeSet<String>>) {
    match value {
        serde_json::Value::String(text) => read_patch(text, lines),
        serde_json::Value::Array(words) => {
            words.iter().filter_map(serde_json::Value::as_str).for_each(|it| read_patch(it, lines));
        }
        serde_json::Value::Null
        | serde_json::Value::Bool(_)
        | serde_json::Value::Number(_)
        | serde_json::Value::Object(_) => {}
    }
}

/// Reads the added lines of a patch in the form of `apply_patch`.
fn read_patch(text: &str, lines: &mut BTreeMap<String, BTreeSet<String>>) {
    if !text.contains("*** Begin Patch") {
        return;
    }
    let mut path = None;
    for line in text.lines() {
        let named = ["*** Add File: ", "*** Update File: ", "*** Move to: "];
        if let Some(named) = named.iter().find_map(|start| line.strip_prefix(start)) {
            path = Some(named.trim().to_owned());
        } else if line.starts_with("*** ") {
            path = None;
        } else if let (Some(path), Some(added)) = (&path, line.strip_prefix('+')) {
            lines.entry(path.clone()).or_default().insert(added.trim_end().to_owned());
        }
    }
}

#[cfg(test)]
mod tests;
