//! The table of Claude Code: `projects/*/ID.jsonl`, internal to its vendor.

use agentic_model::{Instant, Map, Value};

use crate::ConversationId;
use crate::entry::{CapturedEntry, CapturedKind, EntryPlace};
use crate::line_json::{LineJson, TextRedactor};
use crate::mapping::claude::line::ClaudeLine;
use crate::mapping::claude::prune::{ClaudeDropped, prune};
use crate::mapping::facts::COPIES;
use crate::mapping::{MappedLine, unknown_fields};

mod line;
mod prune;

/// The fields of `message` that have a meaning here.
const MESSAGE_FIELDS: [&str; 8] =
    ["id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "usage"];
/// The counts of tokens: what they are called there, and here.
const USAGE_FIELDS: [(&str, &str); 4] = [
    ("input_tokens", "in"),
    ("output_tokens", "out"),
    ("cache_read_input_tokens", "cache_read"),
    ("cache_creation_input_tokens", "cache_write"),
];
/// What a text of the user begins with that no person typed.
const WRAPPERS: [&str; 22] = [
    "command-name",
    "command-message",
    "command-args",
    "command-contents",
    "local-command-stdout",
    "local-command-stderr",
    "local-command-caveat",
    "system-reminder",
    "task-notification",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
    "user-memory-input",
    "user-prompt-submit-hook",
    "session-start-hook",
    "ide_opened_file",
    "ide_selection",
    "ide_diagnostics",
    "new-diagnostics",
    "teammate-message",
    "background-task",
    "agent-notification",
];

/// What is held between the lines of a transcript.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct ClaudeTable {
    /// The count of the message that is still being written.
    usage: Option<HeldUsage>,
    /// The last message whose count was given, for its later lines repeat it.
    counted: Option<String>,
}

/// What a message cost, as its last line so far says.
#[derive(Debug, Clone, PartialEq)]
struct HeldUsage {
    message: String,
    at: Instant,
    meta: Map,
}

impl ClaudeTable {
    pub(super) fn restore(state: &Value) -> Option<ClaudeTable> {
        let text = |name: &str| state.get(name).and_then(Value::as_text).map(str::to_owned);
        let usage = match state.get("meta") {
            None => None,
            Some(meta) => Some(HeldUsage {
                message: text("message")?,
                at: Instant::from_millis(state.get("at")?.as_int()?),
                meta: meta.as_map()?.clone(),
            }),
        };
        Some(ClaudeTable { usage, counted: text("counted") })
    }

    pub(super) fn state(&self) -> Value {
        let mut state = Map::new();
        if let Some(usage) = &self.usage {
            state.insert("message".to_owned(), Value::text(&usage.message));
            state.insert("at".to_owned(), Value::Int(usage.at.millis()));
            state.insert("meta".to_owned(), Value::Map(usage.meta.clone()));
        }
        if let Some(counted) = &self.counted {
            state.insert("counted".to_owned(), Value::text(counted));
        }
        Value::Map(state)
    }

    pub(super) fn end(&mut self, conversation: &ConversationId) -> Vec<CapturedEntry> {
        let Some(held) = self.usage.take() else { return Vec::new() };
        let place =
            EntryPlace { kind: CapturedKind::Usage, at: held.at, native: &held.message, part: 0 };
        let mut entry = CapturedEntry::new(conversation, place, String::new());
        for (key, value) in held.meta {
            entry.put(&key, value);
        }
        self.counted = Some(held.message);
        vec![entry]
    }

    pub(super) fn line(
        &mut self,
        mapped: &mut MappedLine<'_>,
        mut json: LineJson<'_>,
        redactor: &mut TextRedactor<'_>,
    ) {
        let dropped = prune(&mut json);
        json.redact(redactor);
        mapped.take_time(json.text("timestamp"));
        saw_facts(mapped, &json);
        let kind = json.text("type").unwrap_or_default().to_owned();
        match kind.as_str() {
            "user" | "assistant" if has_content(&json) => {
                self.message(mapped, &kind, json, &dropped);
            }
            "system" => ClaudeLine::read(mapped, &json).system(mapped, &json),
            "file-history-snapshot" => ClaudeLine::read(mapped, &json).snapshot(mapped),
            "summary" | "custom-title" | "ai-title" if has_title(&json) => title(mapped, &json),
            _ => ClaudeLine::read(mapped, &json).raw(mapped, &json),
        }
    }

    /// Maps a line that holds a message, or a part of one.
    fn message(
        &mut self,
        mapped: &mut MappedLine<'_>,
        kind: &str,
        mut json: LineJson<'_>,
        dropped: &ClaudeDropped,
    ) {
        let Some(mut message) = json.take("message") else { return };
        let usage = message.take("usage").filter(|_| kind == "assistant");
        let mut line = ClaudeLine::read(mapped, &json);
        line.model = message.text("model").filter(|_| kind == "assistant").map(str::to_owned);
        mapped.facts.first("model", line.model.as_deref());
        let id = message.text("id").map_or_else(|| line.native.clone(), str::to_owned);
        let begins = kind == "assistant";
        if begins && self.usage.as_ref().is_some_and(|held| held.message != id) {
            mapped.entries.extend(self.end(mapped.conversation));
        }
        let first = mapped.entries.len();
        line.blocks(mapped, &json, message.get("content"), dropped);
        let mut more = unknown_fields(&json, &line::LINE_FIELDS);
        let in_message = unknown_fields(&message, &MESSAGE_FIELDS);
        if !in_message.is_empty() {
            more.insert("message".to_owned(), Value::Map(in_message));
        }
        if let Some(entry) = mapped.entries.get_mut(first) {
            entry.put_more(more);
        }
        let Some(usage) = usage.filter(LineJson::is_object) else { return };
        if self.counted.as_deref() == Some(id.as_str()) {
            return;
        }
        self.usage = Some(HeldUsage { message: id, at: mapped.at(), meta: line.usage(&usage) });
        let is_over = message.get("stop_reason").is_some_and(|reason| *reason != LineJson::Null);
        if is_over {
            mapped.entries.extend(self.end(mapped.conversation));
        }
    }
}

fn saw_facts(mapped: &mut MappedLine<'_>, json: &LineJson<'_>) {
    mapped.facts.saw_folder(json.text("cwd"));
    mapped.facts.first("version", json.text("version"));
    mapped.facts.first("branch", json.text("gitBranch").filter(|branch| !branch.is_empty()));
    if let Some(origin) = json.get("forkedFrom") {
        mapped.facts.first("forked_from_id", origin.text("sessionId"));
        mapped.facts.replace(COPIES, Value::Bool(true));
    } else if mapped.facts.said().contains_key(COPIES) {
        mapped.facts.replace(COPIES, Value::Bool(false));
    }
}

fn has_content(json: &LineJson<'_>) -> bool {
    let content = json.get("message").and_then(|message| message.get("content"));
    content.is_some_and(|content| content.as_text().is_some() || content.as_list().is_some())
}

/// The names of titles, the one that a person gave first.
const TITLES: [&str; 5] = ["customTitle", "aiTitle", "title", "summary", "name"];

fn has_title(json: &LineJson<'_>) -> bool {
    TITLES.iter().any(|name| json.text(name).is_some())
}

/// A title that a person gave stays; of the others the last one counts.
fn title(mapped: &mut MappedLine<'_>, json: &LineJson<'_>) {
    let Some(title) = TITLES.iter().find_map(|name| json.text(name)) else { return };
    let is_given = json.text("type") == Some("custom-title");
    if !is_given && mapped.facts.said().contains_key("title_given") {
        return;
    }
    let title = &title[..crate::entry::floor(title, 1024)];
    mapped.facts.replace("title", Value::text(title));
    if is_given {
        mapped.facts.replace("title_given", Value::Bool(true));
    }
}
