//! What keeps wired hooks from running, and what is left for a person to do.

use std::path::Path;

use serde_json::Value;

use super::place::{AgentHomes, WiringScope};
use super::settings_file::read;
use crate::Source;

/// Where an administrator's settings of Claude Code are.
const MANAGED: &str = "/etc/claude-code/managed-settings.json";

/// Finds what keeps hooks of a coding agent from running.
pub fn switches(homes: &AgentHomes, source: Source, checkout: &Path) -> Vec<String> {
    match source {
        Source::Claude => claude_switches(homes, checkout),
        Source::Codex => codex_switches(homes, checkout),
        Source::Gemini | Source::Cursor | Source::Copilot | Source::Opencode => Vec::new(),
    }
}

fn claude_switches(homes: &AgentHomes, checkout: &Path) -> Vec<String> {
    let scopes = [WiringScope::User, WiringScope::Project, WiringScope::Local];
    let own = scopes.map(|scope| homes.hooks_file(Source::Claude, scope, checkout));
    let mut said = Vec::new();
    for path in own.into_iter().chain([MANAGED.into()]) {
        let Ok(Some(text)) = read(&path) else { continue };
        let settings: Value = serde_json::from_str(&text).unwrap_or_default();
        for switch in ["disableAllHooks", "allowManagedHooksOnly"] {
            if settings.get(switch) == Some(&Value::Bool(true)) {
                let path = path.display();
                said.push(format!("claude runs no hook of ours: `{switch}` is set in {path}"));
            }
        }
    }
    said
}

fn codex_switches(homes: &AgentHomes, checkout: &Path) -> Vec<String> {
    let scopes = [WiringScope::User, WiringScope::Project];
    let files = scopes.map(|scope| homes.servers_file(Source::Codex, scope, checkout));
    let is_off = |path: &&std::path::PathBuf| {
        let text = read(path).ok().flatten();
        let settings = text.and_then(|it| agentic_providers::configuration::toml_value(&it).ok());
        settings.is_some_and(|it| it.pointer("/features/hooks") == Some(&Value::Bool(false)))
    };
    let said = |path: &std::path::PathBuf| {
        format!("codex runs no hooks: `[features] hooks = false` in {}", path.display())
    };
    files.iter().filter(is_off).map(said).collect()
}

/// Returns what a person still has to do for a coding agent that was wired.
pub fn trust_hint(source: Source) -> Option<&'static str> {
    match source {
        Source::Codex => Some(
            "codex runs no hook before its user has looked at it: start codex and use `/hooks`",
        ),
        Source::Claude | Source::Cursor | Source::Gemini | Source::Copilot | Source::Opencode => {
            None
        }
    }
}

/// Returns what gates of a coding agent cannot do.
pub fn gate_hint(source: Source) -> Option<&'static str> {
    match source {
        Source::Copilot => {
            Some("copilot goes on when a hook fails: its gate holds only while `agentic` starts")
        }
        Source::Claude | Source::Codex | Source::Cursor | Source::Gemini | Source::Opencode => None,
    }
}
