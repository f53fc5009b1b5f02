//! The effects that the corpus names, read from the store afterwards.

use serde_json::Value;

use crate::stage::{CaptureStage, files};

/// Tells whether a case is one of a gate, which is tested with gates.
pub fn is_of_gate(case: &Value) -> bool {
    let says = |text: &str| {
        case["does"]
            .as_array()
            .into_iter()
            .flatten()
            .any(|effect| effect.as_str().is_some_and(|effect| effect.contains(text)))
    };
    let note = case["note"].as_str().unwrap_or_default();
    note.starts_with("gate") || says("hold")
}

/// Checks one effect.
// size: a table, an arm for each effect of the corpus.
pub fn check_effect(stage: &CaptureStage, case: &Value, effect: &str) -> Result<(), String> {
    let agent = case["agent"].as_str().unwrap_or_default();
    let words: Vec<&str> = effect.split(' ').collect();
    let held = |truth: bool, wrong: &str| match truth {
        true => Ok(()),
        false => Err(wrong.to_owned()),
    };
    match words.as_slice() {
        ["bind"] => Ok(()),
        ["catch-up", ..] if agent.is_empty() || !reads_transcript(stage) => Ok(()),
        ["catch-up", rest @ ..] => {
            let text = if rest.is_empty() { "Go on" } else { "Find callers" };
            let entries = stage.entries(agent);
            let is_there = entries.iter().any(|it| it["kind"] == "prompt" && it["text"] == text);
            held(is_there, &format!("not read: {entries:?}"))
        }
        ["entry", kind, "from", "the", "hook"] => {
            let entries = stage.entries(agent);
            let is_there = entries.iter().any(|it| it["kind"] == *kind);
            held(is_there, &format!("there is none: {entries:?}"))
        }
        ["entry", "event", words @ ..] => {
            let (text, named) = (words.join(" "), format!("\"{}\"", words[0]));
            let entries = stage.entries(agent);
            let is_it = |it: &Value| {
                let said = it["text"].as_str().unwrap_or_default();
                it["kind"] == "event" && (said == text || said.contains(&named))
            };
            held(entries.iter().any(is_it), &format!("there is none: {entries:?}"))
        }
        ["spawn", "with", "worktree"] => held(
            stage.folder.join("shop.agents").join(agent).join("README.md").exists(),
            "no worktree",
        ),
        ["spawn", name, "at", "HEAD"] => {
            let parent = stage.git("shop", &format!("rev-parse agents/{name}^"));
            held(parent == stage.git("shop", "rev-parse main"), "it begins elsewhere")
        }
        ["spawn", name, "from", parent] => {
            let said = stage.agentic("shop", &format!("sub-agents {parent} --all --json"));
            let is_child = said.contains(&format!("\"{name}\""));
            held(is_child, &format!("its parent is another: {said}"))
        }
        ["env-file"] => {
            let text = std::fs::read_to_string(stage.folder.join("env-file")).unwrap_or_default();
            let line = format!("export AGENTIC_AGENT='{agent}'\n");
            held(text.starts_with(&line) && text.contains("export AGENTIC_CONVERSATION='"), &text)
        }
        ["error", code] => held(stage.errors().iter().any(|one| one == code), "not in the log"),
        ["window", "open", ..] => held(!files(&stage.capture("window")).is_empty(), "no window"),
        ["window", "close", ..] => held(files(&stage.capture("window")).is_empty(), "still open"),
        ["attach"] => {
            let pending = format!("trace pending --agent {agent} --json");
            let ended = stage.agentic_or_archived(&pending);
            held(ended.trim() == "[]", &format!("still pending: {ended}"))
        }
        ["worktree", "removed"] => {
            held(!stage.folder.join("shop.agents").join(agent).exists(), "it is there")
        }
        ["branch", "kept"] => {
            stage.git("shop", &format!("rev-parse agents/{agent}"));
            Ok(())
        }
        ["nothing", "removed"] => {
            held(stage.folder.join("shop.agents").join(agent).join("new.rs").exists(), "it is gone")
        }
        ["source", source] => {
            let records = files(&stage.capture("conversation").join(source));
            held(!records.is_empty(), "it is another's")
        }
        _ => Err("nobody knows how to check this".to_owned()),
    }
}

/// Tells whether there is a transcript that the hook could read.
fn reads_transcript(stage: &CaptureStage) -> bool {
    let lies_there = !files(&stage.folder.join("home/.claude/projects")).is_empty();
    let is_claude = !files(&stage.capture("conversation/claude")).is_empty();
    lies_there && is_claude
}
