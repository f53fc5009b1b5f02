//! What a hook tells: whose conversation it is, to the model and to what it starts.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use agentic_store::file::{open_regular, read_small};
use serde_json::json;

use super::{HookAnswer, HookScene};
use crate::bind::Binding;
use crate::conversation::BindReason;
use crate::event::HookMoment;
use crate::{ConversationId, Source};

/// How much of the file of variables is read, in bytes.
const ENV_FILE_BYTES_MAX: u64 = 1 << 20;

/// Writes the variables, and makes the answer to the beginning of a conversation.
pub(super) fn beginning(scene: &HookScene<'_>, binding: &Binding) -> HookAnswer {
    let event = scene.event;
    let is_compaction = event.text(&["source"]) == Some("compact");
    if event.moment != HookMoment::Begins || is_compaction {
        return HookAnswer::silent();
    }
    let variable = match event.source {
        Source::Claude => Some("CLAUDE_ENV_FILE"),
        Source::Codex => Some("CODEX_ENV_FILE"),
        Source::Cursor | Source::Gemini | Source::Copilot | Source::Opencode => None,
    };
    let file = variable.and_then(|variable| scene.request.environment.path(variable));
    if let Some(file) = file
        && write_variables(&file, binding.agent.as_str(), &binding.id).is_err()
    {
        scene.log.note("env-file");
    }
    let is_found = matches!(binding.reason, BindReason::Env | BindReason::Worktree);
    let hears = match event.source {
        Source::Claude | Source::Codex | Source::Gemini => true,
        Source::Cursor | Source::Copilot | Source::Opencode => false,
    };
    let tell = scene.space.repository().config("agentic.captureTell");
    let may_tell = !matches!(tell.as_deref(), Some("false" | "no" | "off" | "0"));
    if !(is_found && hears && may_tell) {
        return HookAnswer::silent();
    }
    let told = format!(
        "This conversation is recorded as agent {}. Commit with: agentic commit --trace -m WHY",
        binding.agent
    );
    let output = json!({
        "hookSpecificOutput": { "hookEventName": "SessionStart", "additionalContext": told }
    });
    HookAnswer::printed(format!("{output}\n"))
}

/// Appends the variables to the file that the vendor reads before each command, unless they are there.
fn write_variables(path: &Path, agent: &str, id: &ConversationId) -> std::io::Result<()> {
    let known = match read_small(path, ENV_FILE_BYTES_MAX) {
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        read => String::from_utf8_lossy(&read?).into_owned(),
    };
    let mut added = String::new();
    let wanted = [("AGENTIC_AGENT", agent), ("AGENTIC_CONVERSATION", &id.to_string())];
    for (name, value) in wanted {
        let line = format!("export {name}={}", quoted(value));
        let begin = format!("export {name}=");
        // What a shell reads last counts.
        if known.lines().rev().find(|it| it.starts_with(&begin)) != Some(&line) {
            added.push_str(&line);
            added.push('\n');
        }
    }
    if added.is_empty() {
        return Ok(());
    }
    if !known.is_empty() && !known.ends_with('\n') {
        added.insert(0, '\n');
    }
    let mut options = OpenOptions::new();
    open_regular(path, options.create(true).append(true))?.write_all(added.as_bytes())
}

/// Quotes a word for a shell, whatever it contains.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_written_once_and_quoted() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("env");
        std::fs::write(&path, "export X=1").expect("writable");
        let id = ConversationId { source: Source::Claude, native: "it's".to_owned() };
        for _ in 0..2 {
            write_variables(&path, "fix", &id).expect("writable");
        }
        let ours = "export AGENTIC_CONVERSATION='claude:it'\\''s'\n";
        let expected = format!("export X=1\nexport AGENTIC_AGENT='fix'\n{ours}");
        assert_eq!(std::fs::read_to_string(&path).expect("there"), expected);
        write_variables(&path, "other", &id).expect("writable");
        let text = std::fs::read_to_string(&path).expect("there");
        assert!(text.ends_with("export AGENTIC_AGENT='other'\n"), "{text}");
    }
}
