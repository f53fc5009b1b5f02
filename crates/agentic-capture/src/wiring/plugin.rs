//! Files that are ours as a whole: opencode's plugin, and a plugin of Claude Code for a marketplace.

use std::path::Path;

use super::entry::{EntryRole, EntryStyle, GATE_SECONDS, WorktreeHooks, capture_entries};
use super::hooks_text::fresh_text;
use super::json_text::WrittenJson;
use super::settings_file::{WiredAction, WiredText, WiringRun, change_file};
use super::{Misfit, WiringResult};
use crate::Source;

const OPENCODE: &str = include_str!("plugin.ts");
const GATES_OFF: &str = "const GATES: boolean = false";
const GATES_ON: &str = "const GATES: boolean = true";

/// Returns opencode's plugin; with the gate, if it had one before or is to have one.
///
/// # Errors
/// Fails when another plugin has its name.
pub fn with_opencode_plugin(
    old: Option<&str>,
    program: &str,
    role: EntryRole,
) -> WiringResult<WiredText> {
    if old.is_some_and(|old| !is_opencode_plugin(old)) {
        return Err(Misfit::Taken.into());
    }
    let gates = role == EntryRole::Gate || old.is_some_and(|old| old.contains(GATES_ON));
    let program = serde_json::to_string(program).expect("a text is JSON");
    let text = OPENCODE.replace("\"@PROGRAM@\"", &program);
    Ok(WiredText::Text(if gates { text.replace(GATES_OFF, GATES_ON) } else { text }))
}

/// Takes opencode's plugin away.
pub fn without_opencode_plugin(old: Option<&str>) -> WiredText {
    match old {
        Some(old) if is_opencode_plugin(old) => WiredText::Remove,
        Some(_) | None => WiredText::Keep,
    }
}

/// Tells which of our roles a plugin has.
pub fn opencode_roles(text: &str) -> Vec<EntryRole> {
    match (is_opencode_plugin(text), text.contains(GATES_ON)) {
        (false, _) => Vec::new(),
        (true, false) => vec![EntryRole::Capture],
        (true, true) => vec![EntryRole::Capture, EntryRole::Gate],
    }
}

fn is_opencode_plugin(text: &str) -> bool {
    text.lines().next() == OPENCODE.lines().next()
}

/// Writes a plugin of Claude Code into a folder. Returns what became of its files, by their names.
///
/// # Errors
/// Fails when a file cannot be written.
pub fn write_claude_plugin(
    folder: &Path,
    worktrees: WorktreeHooks,
    run: WiringRun,
) -> WiringResult<Vec<(&'static str, WiredAction)>> {
    let style = EntryStyle {
        source: Source::Claude,
        program: "agentic",
        worktrees,
        gate_seconds: GATE_SECONDS,
    };
    let manifest = WrittenJson::object([
        ("name", WrittenJson::text("agentic")),
        ("version", WrittenJson::text(env!("CARGO_PKG_VERSION"))),
        (
            "description",
            WrittenJson::text("Keeps what conversations do as agents, commits and traces of git"),
        ),
    ]);
    let files = [
        (".claude-plugin/plugin.json", format!("{}\n", manifest.pretty())),
        ("hooks/hooks.json", fresh_text(Source::Claude, &capture_entries(&style))),
    ];
    let write = |(name, text): (&'static str, String)| {
        let decide = |_: Option<&str>| Ok(WiredText::Text(text.clone()));
        change_file(&folder.join(name), run, &decide).map(|action| (name, action))
    };
    files.into_iter().map(write).collect()
}
