//! The table of Codex: `sessions/YYYY/MM/DD/rollout-*.jsonl`, internal to its vendor.
//!
//! Results and messages stand twice in a file: as items that the model sees, and as events for the
//! screen. Events are held until their turn ends, and count only where no item says the same.

use agentic_model::{Map, Value};

use crate::entry::{CapturedEntry, CapturedKind};
use crate::line_json::{LineJson, TextRedactor};
use crate::mapping::codex::copies::CopiedItems;
use crate::mapping::codex::held::HeldTurn;
use crate::mapping::codex::prune::prune;
use crate::mapping::{MappedLine, count_fields};

pub(super) mod copies;
mod event;
mod held;
mod item;
mod prune;

/// What of a turn's circumstances is told when it changes, and under which names it stands.
const CONTEXT_FIELDS: [(&str, &str); 4] = [
    ("model", "model"),
    ("approval_policy", "approval_policy"),
    ("cwd", "cwd"),
    ("effort", "effort"),
];
/// Facts that stand as texts in the head of a file.
const HEAD_FACTS: [&str; 7] = [
    "originator",
    "cli_version",
    "model_provider",
    "forked_from_id",
    "parent_thread_id",
    "agent_role",
    "agent_nickname",
];

/// What is held between the lines of a transcript.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct CodexTable {
    /// Whether the head of the file was read.
    has_head: bool,
    turn: Option<String>,
    model: Option<String>,
    /// The circumstances that were told last.
    context: Map,
    /// What the last record of a request's usage counts; nothing while there was none.
    recorded: Option<Value>,
    held: HeldTurn,
    /// What of the parent's items the next lines may repeat.
    pub(super) copies: CopiedItems,
}

impl CodexTable {
    pub(super) fn restore(state: &Value) -> Option<CodexTable> {
        let text = |name: &str| state.get(name).and_then(Value::as_text).map(str::to_owned);
        Some(CodexTable {
            has_head: state.get("head")?.as_bool()?,
            turn: text("turn"),
            model: text("model"),
            context: state.get("context")?.as_map()?.clone(),
            recorded: state.get("recorded").filter(|counts| **counts != Value::Null).cloned(),
            held: HeldTurn::restore(state.get("held")?)?,
            copies: CopiedItems::restore(state.get("copies")?)?,
        })
    }

    pub(super) fn state(&self) -> Value {
        let text = |text: &Option<String>| text.as_ref().map_or(Value::Null, Value::text);
        Value::map([
            ("head", Value::Bool(self.has_head)),
            ("turn", text(&self.turn)),
            ("model", text(&self.model)),
            ("context", Value::Map(self.context.clone())),
            ("recorded", self.recorded.clone().unwrap_or(Value::Null)),
            ("held", self.held.state()),
            ("copies", self.copies.state()),
        ])
    }

    pub(super) fn end(&mut self) -> Vec<CapturedEntry> {
        self.held.end_turn()
    }

    pub(super) fn line(
        &mut self,
        mapped: &mut MappedLine<'_>,
        mut json: LineJson<'_>,
        redactor: &mut TextRedactor<'_>,
    ) {
        prune(&mut json);
        json.redact(redactor);
        let kind = json.text("type").unwrap_or_default().to_owned();
        let is_head = kind == "session_meta" && !self.has_head;
        if !is_head && self.copies.is_copy(&json) {
            mapped.facts.count("copied");
            return;
        }
        mapped.take_time(json.text("timestamp"));
        let payload = json.get("payload").filter(|payload| payload.is_object());
        let line = CodexLine { native: native(mapped, &json), table: self, mapped };
        match (kind.as_str(), payload) {
            ("session_meta", Some(payload)) => line.head(payload),
            ("turn_context", Some(payload)) => line.context(payload),
            ("response_item", Some(payload)) => line.item(payload),
            ("event_msg", Some(payload)) => line.event(payload),
            ("token_usage_record", Some(payload)) => line.usage_record(payload),
            ("compacted", Some(payload)) => line.compacted(payload),
            ("inter_agent_communication" | "world_state", Some(payload)) => {
                line.happened(&kind, payload);
            }
            _ => line.raw(&json, &kind),
        }
    }
}

/// Names a line by its ordinal, or by its place.
fn native(mapped: &MappedLine<'_>, json: &LineJson<'_>) -> String {
    match json.int("ordinal") {
        Some(ordinal) => format!("{}#{ordinal}", mapped.conversation.native),
        None => mapped.offset_id(),
    }
}

/// One line on its way to entries.
struct CodexLine<'c, 'm> {
    native: String,
    table: &'c mut CodexTable,
    mapped: &'c mut MappedLine<'m>,
}

impl CodexLine<'_, '_> {
    /// Reads the head of a file; a second one is something that happened.
    fn head(self, payload: &LineJson<'_>) {
        if self.table.has_head {
            return self.happened("session_meta", payload);
        }
        self.table.has_head = true;
        let facts = &mut *self.mapped.facts;
        facts.saw_folder(payload.text("cwd"));
        let spawn = payload.get("source").and_then(|source| source.get("subagent"));
        let spawn = spawn.and_then(|subagent| subagent.get("thread_spawn"));
        for name in HEAD_FACTS {
            let said = payload.text(name).or_else(|| spawn.and_then(|spawn| spawn.text(name)));
            facts.first(name, said);
        }
        for name in ["git", "history_base"] {
            if let Some(said) = payload.get(name).filter(|said| said.is_object()) {
                facts.first_value(name, said.to_value());
            }
        }
        let forks = facts.forked_from().is_some();
        self.table.copies.expect(forks);
    }

    /// Takes in what holds from here on; tells it if it is not what was told last.
    fn context(mut self, payload: &LineJson<'_>) {
        self.mapped.facts.saw_folder(payload.text("cwd"));
        self.mapped.facts.first("model", payload.text("model"));
        let turn = payload.text("turn_id").map(str::to_owned);
        if turn.is_none() || turn != self.table.turn {
            self.end_turn();
        }
        self.table.turn = turn.or_else(|| self.table.turn.take());
        if let Some(model) = payload.text("model") {
            self.table.model = Some(model.to_owned());
        }
        let known = CONTEXT_FIELDS.iter().filter_map(|(theirs, ours)| {
            payload.text(theirs).map(|text| ((*ours).to_owned(), Value::text(text)))
        });
        let mut context: Map = known.collect();
        context.extend(sandbox(payload).map(|name| ("sandbox".to_owned(), Value::text(name))));
        if context == self.table.context {
            return;
        }
        let mut entry = self.entry(CapturedKind::Event, 0, String::new());
        entry.put_text("type", "turn_context");
        entry.put("context", Value::Map(context.clone()));
        self.table.context = context;
        self.mapped.entries.push(entry);
    }

    fn usage_record(mut self, payload: &LineJson<'_>) {
        let native = payload.text("response_id").unwrap_or(&self.native).to_owned();
        let Some(usage) = payload.get("usage") else {
            return self.happened("token_usage_record", payload);
        };
        let counts = usage_counts(usage);
        self.usage(&native, counts.clone());
        self.table.recorded = Some(counts);
    }

    fn compacted(self, payload: &LineJson<'_>) {
        let text = payload.text("message").unwrap_or_default().to_owned();
        let mut entry = self.entry(CapturedKind::Summary, 0, text);
        if let Some(items) = payload.int("replacement_history") {
            let what = Value::text("replacement history");
            entry.put("drop", Value::map([("what", what), ("items", Value::Int(items))]));
        }
        self.mapped.entries.push(entry);
    }

    /// Tells what a request cost.
    fn usage(&mut self, native: &str, counts: Value) {
        let mut entry = self.entry_of(CapturedKind::Usage, native, 0, String::new());
        entry.put_known("model", self.table.model.as_deref());
        entry.put("usage", counts);
        self.mapped.entries.push(entry);
    }

    /// Keeps a line of a type that nobody here knows.
    fn raw(self, json: &LineJson<'_>, kind: &str) {
        let mut entry = self.entry(CapturedKind::Raw, 0, json.to_text());
        entry.put_known("type", Some(kind).filter(|kind| !kind.is_empty()));
        self.mapped.entries.push(entry);
    }

    fn end_turn(&mut self) {
        let held = self.table.held.end_turn();
        self.mapped.entries.extend(held);
    }

    /// Makes an entry of this line.
    fn entry(&self, kind: CapturedKind, part: usize, text: String) -> CapturedEntry {
        self.entry_of(kind, &self.native, part, text)
    }

    /// Makes an entry under another id than the line's.
    fn entry_of(
        &self,
        kind: CapturedKind,
        native: &str,
        part: usize,
        text: String,
    ) -> CapturedEntry {
        let mut entry = self.mapped.entry(kind, native, part, text);
        entry.put_known("turn", self.table.turn.as_deref());
        entry
    }
}

fn usage_counts(usage: &LineJson<'_>) -> Value {
    const FIELDS: [(&str, &str); 4] = [
        ("input_tokens", "in"),
        ("cached_input_tokens", "cache_read"),
        ("output_tokens", "out"),
        ("reasoning_output_tokens", "reasoning"),
    ];
    count_fields(usage, &FIELDS)
}

/// Names the sandbox in which commands run; its form differs between versions.
fn sandbox<'j>(payload: &'j LineJson<'_>) -> Option<&'j str> {
    let policy = payload.get("sandbox_policy")?;
    policy.as_text().or_else(|| policy.text("type")).or_else(|| policy.text("mode"))
}
