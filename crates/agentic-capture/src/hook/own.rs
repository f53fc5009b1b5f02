//! What the hook itself is the record of: that something happened, and what was said where there is no
//! transcript that says it.

use std::borrow::Cow;

use agentic_model::value::NESTING_MAX;
use agentic_model::{Instant, Map, Value, json};

use agentic_redact::SecretRedactor;

use crate::entry::{CapturedEntry, CapturedKind, EntryPlace};
use crate::event::{HookEvent, HookMoment};
use crate::line_json::LineJson;
use crate::{ConversationId, Source};

/// Fields that every event has, and that say nothing about this one.
const COMMON: [&str; 12] = [
    "session_id",
    "sessionId",
    "conversation_id",
    "session",
    "transcript_path",
    "transcriptPath",
    "cwd",
    "directory",
    "worktree",
    "workspace_roots",
    "hook_event_name",
    "v",
];

/// Whether what was said is read from a transcript, or known from the hook alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpeechRecord {
    /// The transcript has it, or will.
    Transcript,
    /// Nobody else has it.
    Hook,
}

/// Makes the entries of an event.
pub(super) struct OwnEntries<'o> {
    pub event: &'o HookEvent,
    /// Whose conversation it is: of a subagent that of its parent.
    pub conversation: &'o ConversationId,
    pub speech: SpeechRecord,
    pub now: Instant,
    pub redactor: &'o SecretRedactor,
}

impl OwnEntries<'_> {
    /// Makes them.
    pub fn make(&self) -> Vec<CapturedEntry> {
        match self.event.moment {
            HookMoment::Begins => vec![self.noted("session-start", &["source"])],
            HookMoment::Ends => vec![self.noted("session-end", &["reason"])],
            HookMoment::Asked => vec![self.noted("permission-request", &[])],
            HookMoment::TurnFails => vec![self.noted("stop-failure", &[])],
            HookMoment::Noted(word) => vec![self.noted(word, &[])],
            HookMoment::FileChanged | HookMoment::Unknown => vec![self.whole()],
            HookMoment::Prompt
            | HookMoment::AfterTool
            | HookMoment::TurnEnds
            | HookMoment::SubagentEnds => self.with_unknown(self.said()),
            HookMoment::BeforeTool
            | HookMoment::SubagentBegins
            | HookMoment::Compaction
            | HookMoment::ToolBatch
            | HookMoment::WorktreeWanted
            | HookMoment::WorktreeDone => self.with_unknown(Vec::new()),
        }
    }

    /// Puts fields that no table knows beside what is kept; of an event of which nothing else is, they
    /// are.
    fn with_unknown(&self, mut made: Vec<CapturedEntry>) -> Vec<CapturedEntry> {
        let more = self.clean_fields(self.event.unknown_fields());
        if more.is_empty() {
            return made;
        }
        if made.is_empty() {
            made.push(self.event_entry(&self.event.name, self.event.name.clone()));
        }
        made[0].put_more(more);
        made
    }

    /// Says that a call ran although nobody had decided about it.
    pub fn passed_by(&self) -> CapturedEntry {
        let mut entry = self.event_entry("hold-passed", "hold-passed".to_owned());
        if let Some(call) = &self.event.call {
            entry.put_known("call", call.id.as_deref());
            entry.put_text("tool", &self.clean(None, &call.tool));
        }
        entry
    }

    /// An event that has a word of ours: the word, and what else is said of it.
    fn noted(&self, word: &str, told: &[&str]) -> CapturedEntry {
        let detail = told.iter().find_map(|key| self.event.text(&[key]));
        let detail = detail.map(|text| self.clean(None, text)).filter(|text| !text.is_empty());
        let text = detail.map_or(word.to_owned(), |detail| format!("{word} {detail}"));
        let mut entry = self.event_entry(word, text);
        let is_more = |key: &str| !COMMON.contains(&key) && !told.contains(&key);
        let all = self.event.payload.map.iter();
        let more = all.filter(|(key, value)| is_more(key) && **value != Value::Null);
        entry.put_more(self.clean_fields(more));
        entry
    }

    /// An event that is not known: all of it, numbers as they were written.
    fn whole(&self) -> CapturedEntry {
        let payload = &self.event.payload;
        let written = payload.written.as_deref().and_then(|text| LineJson::parse(text).ok());
        let text = match written {
            Some(mut written) => {
                written.redact(&mut |key, text| match self.redacted(key, text) {
                    Cow::Owned(clean) => Some(clean),
                    Cow::Borrowed(_) => None,
                });
                written.to_text()
            }
            None => json::to_text(&self.value(None, &Value::Map(payload.map.clone()))),
        };
        self.event_entry(&self.clean(None, &self.event.name), text)
    }

    /// What was said, where nobody else has it.
    fn said(&self) -> Vec<CapturedEntry> {
        if self.speech == SpeechRecord::Transcript {
            return Vec::new();
        }
        let said = if self.event.moment == HookMoment::Prompt {
            return self.prompts();
        } else if self.event.moment == HookMoment::AfterTool {
            return self.result().into_iter().collect();
        } else {
            self.reply()
        };
        said.into_iter().collect()
    }

    fn prompts(&self) -> Vec<CapturedEntry> {
        let prompt = self.event.text(&["prompt"]);
        let parts = self.event.payload.map.get("parts");
        match (prompt, parts) {
            (Some(prompt), _) => vec![self.speech_entry(CapturedKind::Prompt, prompt)],
            (None, Some(parts)) => self.parts(parts),
            (None, None) => Vec::new(),
        }
    }

    /// The parts of a message, each under its own id, which its row in the store has, too.
    fn parts(&self, parts: &Value) -> Vec<CapturedEntry> {
        let id = |part: &Value| part.get("id").and_then(Value::as_text).map(str::to_owned);
        let items = parts.as_list().unwrap_or_default();
        if !items.iter().all(|part| id(part).is_some()) {
            return vec![self.speech_entry(CapturedKind::Prompt, &texts_of(parts))];
        }
        let entry = |part: &Value| {
            let text = self.clean(None, part.get("text")?.as_text()?);
            let is_injected = part.get("synthetic").and_then(Value::as_bool) == Some(true);
            let kind = if is_injected { CapturedKind::Event } else { CapturedKind::Prompt };
            let mut entry = self.entry(kind, &id(part)?, text);
            if is_injected {
                entry.put("injected", Value::Bool(true));
            }
            Some(entry)
        };
        items.iter().filter_map(entry).collect()
    }

    fn reply(&self) -> Option<CapturedEntry> {
        let keys = &["last_assistant_message", "last-assistant-message", "prompt_response"];
        let said = self.event.text(keys).filter(|said| !said.is_empty())?.to_owned();
        Some(self.speech_entry(CapturedKind::Reply, &said))
    }

    fn result(&self) -> Option<CapturedEntry> {
        let call = self.event.call.as_ref()?;
        let result = call.result.clone().unwrap_or(Value::Null);
        let text = match self.event.text(&["error"]) {
            Some(error) => self.clean(None, error),
            None => {
                let said = result.get("output").filter(|it| it.as_text().is_some());
                let clean = self.value(None, said.unwrap_or(&result));
                json::to_plain_text(&clean)
            }
        };
        let native = call.id.clone().unwrap_or_else(|| self.native());
        let mut entry = self.entry(CapturedKind::ToolResult, &native, text);
        entry.put_known("call", call.id.as_deref());
        entry.put_text("tool", &self.clean(None, &call.tool));
        if self.event.text(&["error"]).is_some() {
            entry.put("error", Value::Bool(true));
        }
        Some(entry)
    }

    fn speech_entry(&self, kind: CapturedKind, said: &str) -> CapturedEntry {
        let text = self.clean(None, said);
        let native = self.native();
        let mut entry = self.entry(kind, &native, text);
        let turn = self.event.text(&["turn_id", "turn-id", "generation_id"]);
        entry.put_known("turn", turn.map(|turn| self.clean(Some("id"), turn)).as_deref());
        entry
    }

    fn event_entry(&self, word: &str, text: String) -> CapturedEntry {
        // Two events of one name are two, however alike they are.
        let native = format!("{}@hook:{}:{word}", self.conversation.native, unique(self.at()));
        let mut entry = self.entry(CapturedKind::Event, &native, text);
        entry.put_text("type", word);
        entry
    }

    fn entry(&self, kind: CapturedKind, native: &str, text: String) -> CapturedEntry {
        let place = EntryPlace { kind, at: self.at(), native, part: 0 };
        let mut entry = CapturedEntry::new(self.conversation, place, text);
        let model = self.event.text(&["model"]).map(|model| self.clean(None, model));
        entry.put_known("model", model.as_deref());
        entry
    }

    fn at(&self) -> Instant {
        self.event.at.unwrap_or(self.now)
    }

    /// Names what the transcript's line would be called, as far as the hook says that.
    fn native(&self) -> String {
        let own = &self.conversation.native;
        let message = self.event.payload.map.get("message").and_then(|it| it.get("id")?.as_text());
        let turn = self.event.text(&["turn_id", "turn-id", "generation_id", "prompt_id"]);
        match (self.conversation.source, message, turn) {
            (Source::Opencode, Some(message), _) => message.to_owned(),
            (_, _, Some(turn)) => match &self.event.subagent {
                Some(subagent) => format!("{own}/{}@{turn}", subagent.id),
                None => format!("{own}@{turn}"),
            },
            (_, _, None) => format!("{own}@hook:{}", unique(self.at())),
        }
    }

    fn clean(&self, key: Option<&str>, text: &str) -> String {
        self.redacted(key, text).into_owned()
    }

    fn redacted<'t>(&self, key: Option<&str>, text: &'t str) -> Cow<'t, str> {
        match key {
            Some(key) => self.redactor.redact_beside(key, text).text,
            None => self.redactor.redact_text(text).text,
        }
    }

    /// Takes the secrets out of fields.
    fn clean_fields<'f>(&self, fields: impl Iterator<Item = (&'f String, &'f Value)>) -> Map {
        fields.map(|(key, value)| (self.clean(None, key), self.value(Some(key), value))).collect()
    }

    /// Takes the secrets out of a value; what nests too deep for an entry becomes a text.
    fn value(&self, key: Option<&str>, value: &Value) -> Value {
        if value.nesting() >= NESTING_MAX {
            return Value::Text(self.clean(key, &json::to_text(value)));
        }
        match value {
            Value::Text(text) => Value::Text(self.clean(key, text)),
            Value::List(items) => {
                Value::List(items.iter().map(|item| self.value(key, item)).collect())
            }
            Value::Map(map) => Value::Map(self.clean_fields(map.iter())),
            Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Bytes(_)
            | Value::Link(_) => value.clone(),
        }
    }
}

/// Joins the texts of a message's parts.
fn texts_of(parts: &Value) -> String {
    let texts = parts.as_list().unwrap_or_default().iter();
    let texts: Vec<&str> = texts.filter_map(|part| part.get("text")?.as_text()).collect();
    texts.join("\n")
}

/// Tells two events of one moment apart.
fn unique(at: Instant) -> String {
    let number = agentic_store::file::unique_number();
    format!("{}-{}-{number}", at.millis(), std::process::id())
}
