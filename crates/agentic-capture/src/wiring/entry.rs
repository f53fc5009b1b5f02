//! Which hooks of which coding agent we ask for, and how they are written: one table.

use super::json_text::WrittenJson;
use crate::Source;

/// What an entry is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryRole {
    /// To write down what happens. It never stands in the way.
    Capture,
    /// To hold what must not happen unasked. What it cannot check is stopped.
    Gate,
}

/// How long Claude Code and Codex wait for an entry that captures, in seconds.
const CAPTURE_SECONDS: i64 = 10;
/// How long Copilot waits for one, in seconds.
const COPILOT_SECONDS: i64 = 30;
/// How long a gate may take unless `agentic.gateTimeout` says otherwise, in seconds.
pub const GATE_SECONDS: i64 = 600;

const SHELLS: &str = "Bash|PowerShell";
const WRITERS: &str = "Bash|PowerShell|Edit|Write|MultiEdit|NotebookEdit|Agent";

/// An entry that a file is to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedEntry {
    /// The event.
    pub event: &'static str,
    /// Which tools it is for; all of them without.
    pub matcher: Option<String>,
    /// What it is for.
    pub role: EntryRole,
    /// The entry as it is written.
    pub shape: WrittenJson,
}

/// How the entries of a file are written.
#[derive(Debug, Clone)]
pub struct EntryStyle<'s> {
    /// Whose file it is.
    pub source: Source,
    /// The program, outside files that are committed by its whole path.
    pub program: &'s str,
    /// Whether conversations get worktrees of ours.
    pub worktrees: WorktreeHooks,
    /// How long a gate may take, in seconds.
    pub gate_seconds: i64,
}

/// Who makes worktrees for conversations that ask for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorktreeHooks {
    /// We do, and each is an agent's.
    Ours,
    /// The coding agent does.
    Theirs,
}

/// Returns the events that are captured, with the tools that count.
fn captured(source: Source) -> &'static [(&'static str, Option<&'static str>)] {
    match source {
        Source::Claude => &[
            ("SessionStart", None),
            ("UserPromptSubmit", None),
            ("PreToolUse", Some(SHELLS)),
            ("PostToolUse", Some(WRITERS)),
            ("PostToolUseFailure", Some(WRITERS)),
            ("SubagentStart", None),
            ("SubagentStop", None),
            ("Stop", None),
            ("StopFailure", None),
            ("PreCompact", None),
            ("SessionEnd", None),
        ],
        Source::Codex => &[
            ("SessionStart", None),
            ("UserPromptSubmit", None),
            ("PreToolUse", None),
            ("PermissionRequest", None),
            ("PostToolUse", None),
            ("SubagentStart", None),
            ("SubagentStop", None),
            ("PreCompact", None),
            ("Stop", None),
        ],
        Source::Cursor => &[
            ("sessionStart", None),
            ("beforeSubmitPrompt", None),
            ("preToolUse", None),
            ("postToolUse", None),
            ("postToolUseFailure", None),
            ("afterFileEdit", None),
            ("subagentStart", None),
            ("subagentStop", None),
            ("stop", None),
            ("preCompact", None),
            ("sessionEnd", None),
        ],
        Source::Gemini => &[
            ("SessionStart", None),
            ("BeforeAgent", None),
            ("BeforeTool", None),
            ("AfterTool", None),
            ("AfterAgent", None),
            ("PreCompress", None),
            ("SessionEnd", None),
        ],
        Source::Copilot => &[
            ("sessionStart", None),
            ("userPromptSubmitted", None),
            ("preToolUse", None),
            ("permissionRequest", None),
            ("postToolUse", None),
            ("postToolUseFailure", None),
            ("subagentStart", None),
            ("subagentStop", None),
            ("agentStop", None),
            ("errorOccurred", None),
            ("preCompact", None),
            ("sessionEnd", None),
        ],
        // Its plugin asks for all of them.
        Source::Opencode => &[],
    }
}

/// Returns the events at which a gate answers.
pub fn gated(source: Source) -> &'static [&'static str] {
    match source {
        Source::Claude | Source::Codex => &["PreToolUse", "PermissionRequest"],
        Source::Cursor => &["preToolUse"],
        Source::Gemini => &["BeforeTool"],
        Source::Copilot => &["preToolUse", "permissionRequest"],
        Source::Opencode => &[],
    }
}

/// Returns the entries that capture.
pub fn capture_entries(style: &EntryStyle<'_>) -> Vec<WantedEntry> {
    let claude = [("WorktreeCreate", None), ("WorktreeRemove", None)];
    let more = match (style.source, style.worktrees) {
        (Source::Claude, WorktreeHooks::Ours) => &claude[..],
        (_, _) => &[],
    };
    let events = captured(style.source).iter().chain(more);
    let wanted = |(event, matcher): &(&'static str, Option<&str>)| WantedEntry {
        event,
        matcher: matcher.map(str::to_owned),
        role: EntryRole::Capture,
        shape: shape(style, EntryRole::Capture, event),
    };
    events.map(wanted).collect()
}

/// Returns the entries that hold, for the tools that rules name; for all tools without.
pub fn gate_entries(style: &EntryStyle<'_>, matcher: Option<&str>) -> Vec<WantedEntry> {
    let wanted = |event: &&'static str| WantedEntry {
        event,
        matcher: matcher.map(str::to_owned),
        role: EntryRole::Gate,
        shape: shape(style, EntryRole::Gate, event),
    };
    gated(style.source).iter().map(wanted).collect()
}

/// Tells whether the entries of a source stand in groups that have a matcher.
pub fn is_grouped(source: Source) -> bool {
    match source {
        Source::Claude | Source::Codex | Source::Gemini => true,
        Source::Cursor | Source::Copilot | Source::Opencode => false,
    }
}

fn shape(style: &EntryStyle<'_>, role: EntryRole, event: &str) -> WrittenJson {
    let command = WrittenJson::Text(command_line(style, role, event));
    let kind = ("type", WrittenJson::text("command"));
    let seconds = match role {
        EntryRole::Capture => CAPTURE_SECONDS,
        EntryRole::Gate => style.gate_seconds,
    };
    match (style.source, role) {
        (Source::Claude, EntryRole::Capture) => WrittenJson::object([
            kind,
            ("command", WrittenJson::text(style.program)),
            (
                "args",
                WrittenJson::List(vec![WrittenJson::text("hook"), WrittenJson::text("claude")]),
            ),
            ("timeout", WrittenJson::Number(seconds)),
        ]),
        (Source::Claude | Source::Codex, _) => {
            let timeout = WrittenJson::Number(seconds);
            WrittenJson::object([kind, ("command", command), ("timeout", timeout)])
        }
        (Source::Gemini, _) => {
            let timeout = WrittenJson::Number(seconds * 1000);
            WrittenJson::object([kind, ("command", command), ("timeout", timeout)])
        }
        (Source::Cursor | Source::Opencode, EntryRole::Capture) => {
            WrittenJson::object([("command", command)])
        }
        (Source::Cursor | Source::Opencode, EntryRole::Gate) => WrittenJson::object([
            ("command", command),
            ("timeout", WrittenJson::Number(seconds)),
            ("failClosed", WrittenJson::True),
        ]),
        (Source::Copilot, _) => {
            let seconds = match role {
                EntryRole::Capture => COPILOT_SECONDS,
                EntryRole::Gate => seconds,
            };
            WrittenJson::object([
                kind,
                ("bash", command),
                ("timeoutSec", WrittenJson::Number(seconds)),
            ])
        }
    }
}

/// Returns the line that a shell runs. A gate that cannot start would be ignored, so the shell says
/// no in its place.
fn command_line(style: &EntryStyle<'_>, role: EntryRole, event: &str) -> String {
    let (program, source) = (shell_word(style.program), style.source);
    // Copilot does not say which event it is, and two of them look the same.
    let named = match source {
        Source::Copilot => format!(" --event {event}"),
        Source::Claude | Source::Codex | Source::Cursor | Source::Gemini | Source::Opencode => {
            String::new()
        }
    };
    match role {
        EntryRole::Capture => format!("{program} hook {source}{named}"),
        EntryRole::Gate => format!("{program} hook {source}{named} --gate || exit 2"),
    }
}

/// Writes a text as one word of a shell.
pub fn shell_word(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:@%,".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Tells what an entry of ours is for; nothing if it is somebody else's: ours start a program called
/// `agentic` with `hook` as its first argument.
pub fn role_of(entry: &serde_json::Value) -> Option<EntryRole> {
    let text = |key: &str| entry.get(key).and_then(serde_json::Value::as_str);
    if let Some(args) = entry.get("args").and_then(serde_json::Value::as_array) {
        let args: Vec<&str> = args.iter().filter_map(serde_json::Value::as_str).collect();
        let words: Vec<String> =
            text("command").into_iter().chain(args).map(str::to_owned).collect();
        return role_of_words(&words);
    }
    role_of_words(&first_words(text("command").or_else(|| text("bash"))?))
}

fn role_of_words(words: &[String]) -> Option<EntryRole> {
    let [program, first, rest @ ..] = words else { return None };
    let base = program.rsplit('/').next().unwrap_or(program);
    if base != "agentic" || first != "hook" {
        return None;
    }
    Some(match rest.iter().any(|word| word == "--gate") {
        true => EntryRole::Gate,
        false => EntryRole::Capture,
    })
}

/// Splits a command line as a shell does, as far as quotation marks and backslashes go.
fn first_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quote, mut begun) = (String::new(), None, false);
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (_, Some(mark)) if letter == mark => quote = None,
            ('\\', None | Some('"')) => word.extend(letters.next()),
            (_, Some(_)) => word.push(letter),
            ('\'' | '"', None) => (quote, begun) = (Some(letter), true),
            (' ' | '\t', None) => {
                if begun || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            (_, None) => word.push(letter),
        }
    }
    if begun || !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{EntryRole, role_of, shell_word};

    #[test]
    fn ours_are_known_by_program_and_first_argument() {
        let ours = [
            json!({"type": "command", "command": "/a b/agentic", "args": ["hook", "claude"]}),
            json!({"command": "agentic hook cursor"}),
            json!({"type": "command", "bash": "'/o''dd p/agentic'  hook copilot"}),
        ];
        for entry in ours {
            assert_eq!(role_of(&entry), Some(EntryRole::Capture), "{entry}");
        }
        let gate = json!({"command": "/x/agentic hook codex --gate || exit 2"});
        assert_eq!(role_of(&gate), Some(EntryRole::Gate));
        for entry in [
            json!({"command": "agentic-helper hook claude"}),
            json!({"command": "agentic log"}),
            json!({"command": "echo agentic hook"}),
            json!({"command": "agentic", "args": ["mcp", "hook"]}),
            json!({"type": "http", "url": "agentic hook"}),
            json!("agentic hook"),
        ] {
            assert_eq!(role_of(&entry), None, "{entry}");
        }
    }

    #[test]
    fn a_path_is_one_word_of_the_shell() {
        assert_eq!(shell_word("/usr/bin/agentic"), "/usr/bin/agentic");
        assert_eq!(shell_word("/it's/agentic"), r"'/it'\''s/agentic'");
    }
}
