//! Notes of git-ai, by its standard 3.0.0: which lines a session wrote, and by which call.
//!
//! Its human authors are people whom an editor watched while they typed. Nobody here did, so none is
//! named.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map as JsonMap, Value as Json, json};

use super::commit::ProvedCommit;
use super::digest::git_ai_digits;
use crate::blame::EditWitness;

/// The version of the standard.
const VERSION: &str = "authorship/3.0.0";
/// What stands between the lines and what is known of their sessions.
const DIVIDER: &str = "---";

/// Writes the note of a commit; nothing where no line of it is proved to be a session's.
pub(super) fn note(commit: &ProvedCommit) -> Option<String> {
    let mut lines = String::new();
    let mut sessions = JsonMap::new();
    for (path, ranges) in &commit.files {
        let mut by_call: BTreeMap<String, Vec<(usize, usize)>> = BTreeMap::new();
        for range in ranges {
            let Some(session) = range.edit.as_ref().and_then(GitAiSession::of) else { continue };
            let call = format!("{}::t_{}", session.key, git_ai_digits(session.entry));
            by_call.entry(call).or_default().push((range.first, range.last));
            sessions.entry(session.key.clone()).or_insert_with(|| session.record());
        }
        // The standard has no way to write such a name.
        if by_call.is_empty() || path.contains(['"', '\n']) {
            continue;
        }
        lines.push_str(&named(path));
        let mut calls: Vec<(&String, &Vec<(usize, usize)>)> = by_call.iter().collect();
        calls.sort_by_key(|(call, ranges)| (ranges.first().copied(), (*call).clone()));
        for (call, ranges) in calls {
            lines.push_str(&format!("  {call} {}\n", spelled(ranges)));
        }
    }
    let told: BTreeSet<&str> = lines
        .lines()
        .filter_map(|line| Some(line.strip_prefix("  ")?.split_once("::")?.0))
        .collect();
    sessions.retain(|key, _| told.contains(key.as_str()));
    if sessions.is_empty() {
        return None;
    }
    let metadata = json!({
        "schema_version": VERSION,
        "base_commit_sha": commit.info.oid.to_string(),
        "prompts": {},
        "sessions": sessions,
    });
    Some(format!("{lines}{DIVIDER}\n{metadata:#}\n"))
}

/// A session, as far as an edit names it.
struct GitAiSession<'s> {
    key: String,
    tool: &'s str,
    id: &'s str,
    model: Option<&'s str>,
    entry: &'s str,
}

impl GitAiSession<'_> {
    fn of(edit: &EditWitness) -> Option<GitAiSession<'_>> {
        let (tool, id) = edit.conversation.as_deref()?.split_once(':')?;
        let key = format!("s_{}", git_ai_digits(&format!("{tool}:{id}")));
        Some(GitAiSession {
            key,
            tool,
            id,
            model: edit.model.as_deref(),
            entry: edit.entry.as_deref()?,
        })
    }

    fn record(&self) -> Json {
        let model = self.model.unwrap_or("unknown");
        json!({ "agent_id": { "tool": self.tool, "id": self.id, "model": model } })
    }
}

/// Writes the line of a file. In quotes a blank at its end stays, and the divider is a name.
fn named(path: &str) -> String {
    let is_quoted = path == DIVIDER || path.contains(char::is_whitespace);
    if is_quoted { format!("\"{path}\"\n") } else { format!("{path}\n") }
}

fn spelled(ranges: &[(usize, usize)]) -> String {
    let spelled = ranges.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    spelled.collect::<Vec<String>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn names_that_would_be_read_otherwise_stand_in_quotes() {
        for (path, written) in [
            ("a/b.rs", "a/b.rs\n"),
            ("déjà", "déjà\n"),
            ("a b", "\"a b\"\n"),
            ("  a", "\"  a\"\n"),
            ("a\t", "\"a\t\"\n"),
            ("a\r", "\"a\r\"\n"),
            ("a\u{a0}", "\"a\u{a0}\"\n"),
            ("---", "\"---\"\n"),
        ] {
            assert_eq!(named(path), written);
        }
    }
}
