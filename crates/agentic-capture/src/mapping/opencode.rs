//! The table of opencode: rows of its tables `session`, `message` and `part`, a line of JSON each.
//! Their form differs between versions.

use agentic_model::{Instant, Map, Value};

use crate::ConversationId;
use crate::entry::{CapturedEntry, CapturedKind, EntryPlace};
use crate::line_json::{LineJson, TextRedactor};
use crate::mapping::pictures::{data_url, decoded_length};
use crate::mapping::{MappedLine, count_fields, unknown_fields};

/// The counts of tokens: what they are called there, and here.
const USAGE_FIELDS: [(&str, &str); 3] =
    [("input", "in"), ("output", "out"), ("reasoning", "reasoning")];
const CACHE_FIELDS: [(&str, &str); 2] = [("read", "cache_read"), ("write", "cache_write")];
/// The fields of parts that have a meaning here, or name what the row names already.
const PART_FIELDS: [&str; 12] = [
    "id",
    "sessionID",
    "messageID",
    "type",
    "text",
    "time",
    "synthetic",
    "tool",
    "callID",
    "state",
    "snapshot",
    "tokens",
];

/// What is held between the rows: the message to which the next parts belong.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct OpencodeTable {
    message: Option<OpencodeMessage>,
}

#[derive(Debug, Clone, PartialEq)]
struct OpencodeMessage {
    id: String,
    role: String,
    at: Instant,
    model: Option<String>,
    /// What it cost; told after its parts.
    usage: Option<Map>,
}

impl OpencodeTable {
    pub(super) fn restore(state: &Value) -> Option<OpencodeTable> {
        let Some(message) = state.get("message") else { return Some(OpencodeTable::default()) };
        Some(OpencodeTable {
            message: Some(OpencodeMessage {
                id: message.get("id")?.as_text()?.to_owned(),
                role: message.get("role")?.as_text()?.to_owned(),
                at: Instant::from_millis(message.get("at")?.as_int()?),
                model: message.get("model").and_then(Value::as_text).map(str::to_owned),
                usage: message.get("usage").and_then(Value::as_map).cloned(),
            }),
        })
    }

    pub(super) fn state(&self) -> Value {
        let message = self.message.as_ref().map(|message| {
            let mut state = Map::from([
                ("id".to_owned(), Value::text(&message.id)),
                ("role".to_owned(), Value::text(&message.role)),
                ("at".to_owned(), Value::Int(message.at.millis())),
            ]);
            let model = message.model.as_ref().map(Value::text);
            state.extend(model.map(|model| ("model".to_owned(), model)));
            let usage = message.usage.clone().map(Value::Map);
            state.extend(usage.map(|usage| ("usage".to_owned(), usage)));
            ("message", Value::Map(state))
        });
        Value::map(message)
    }

    pub(super) fn end(&mut self, conversation: &ConversationId) -> Vec<CapturedEntry> {
        let Some(message) = self.message.take() else { return Vec::new() };
        let Some(usage) = message.usage else { return Vec::new() };
        let place =
            EntryPlace { kind: CapturedKind::Usage, at: message.at, native: &message.id, part: 0 };
        let mut entry = CapturedEntry::new(conversation, place, String::new());
        entry.put_known("model", message.model.as_deref());
        entry.put("usage", Value::Map(usage));
        vec![entry]
    }

    pub(super) fn line(
        &mut self,
        mapped: &mut MappedLine<'_>,
        mut json: LineJson<'_>,
        redactor: &mut TextRedactor<'_>,
    ) {
        prune(&mut json);
        json.redact(redactor);
        if let Some(at) = json.int("time_created") {
            mapped.facts.saw_time(Instant::from_millis(at));
        }
        let data = json.get("data").filter(|data| data.is_object());
        match (json.text("table").unwrap_or_default(), data) {
            ("session", Some(data)) => session(mapped, data),
            ("message", Some(data)) => self.message(mapped, &json, data),
            ("part", Some(data)) => self.part(mapped, &json, data),
            (kind, _) => {
                let too_long = json.int("too_long").and_then(|it| usize::try_from(it).ok());
                let text = if too_long.is_some() { String::new() } else { json.to_text() };
                let mut entry = mapped.entry(CapturedKind::Raw, &native(mapped, &json), 0, text);
                entry.put_known("type", Some(kind).filter(|kind| !kind.is_empty()));
                if let Some(length) = too_long {
                    entry.put("bad", Value::Bool(true));
                    entry.put_drop("line", length);
                }
                mapped.entries.push(entry);
            }
        }
    }

    fn message(&mut self, mapped: &mut MappedLine<'_>, json: &LineJson<'_>, data: &LineJson<'_>) {
        mapped.entries.extend(self.end(mapped.conversation));
        let model = data.text("modelID").map(str::to_owned);
        mapped.facts.first("model", model.as_deref());
        let path = data.get("path").and_then(|path| path.text("cwd"));
        mapped.facts.saw_folder(path);
        self.message = Some(OpencodeMessage {
            id: native(mapped, json),
            role: data.text("role").unwrap_or_default().to_owned(),
            at: mapped.at(),
            model,
            usage: data
                .get("tokens")
                .filter(|tokens| tokens.is_object())
                .map(|tokens| usage(data, tokens)),
        });
    }

    fn part(&self, mapped: &mut MappedLine<'_>, json: &LineJson<'_>, data: &LineJson<'_>) {
        let native = native(mapped, json);
        let kind = data.text("type").unwrap_or_default();
        let first = mapped.entries.len();
        // Its own time, where it says one; rows that were carried over from files say that of then.
        let own = data.get("time").or_else(|| data.get("state")?.get("time"));
        let own = own.and_then(|time| time.int("start")).map(Instant::from_millis);
        if let Some(at) = own.or(self.message.as_ref().map(|message| message.at)) {
            mapped.facts.saw_time(at);
        }
        match kind {
            "text" if data.text("text").is_some() => self.said(mapped, &native, data),
            "reasoning" => {
                let text = data.text("text").unwrap_or_default().to_owned();
                self.push(mapped, CapturedKind::Thinking, &native, text);
            }
            "tool" => self.tool(mapped, &native, data),
            "file" => self.file(mapped, &native, data),
            "snapshot" | "patch" => self.happened(mapped, &native, kind),
            _ if kind.starts_with("step-") => self.happened(mapped, &native, kind),
            _ => {
                self.push(mapped, CapturedKind::Raw, &native, data.to_text());
                if let Some(entry) = mapped.entries.last_mut() {
                    entry.put_known("type", Some(kind).filter(|kind| !kind.is_empty()));
                }
                return;
            }
        }
        if let Some(entry) = mapped.entries.get_mut(first).filter(|_| kind != "file") {
            entry.put_more(unknown_fields(data, &PART_FIELDS));
        }
    }

    fn said(&self, mapped: &mut MappedLine<'_>, native: &str, data: &LineJson<'_>) {
        let is_reply = self.message.as_ref().is_some_and(|message| message.role == "assistant");
        let kind = match is_reply {
            true => CapturedKind::Reply,
            false if data.is_true("synthetic") => CapturedKind::Event,
            false => CapturedKind::Prompt,
        };
        self.push(mapped, kind, native, data.text("text").unwrap_or_default().to_owned());
        if let Some(entry) = mapped.entries.last_mut().filter(|_| kind == CapturedKind::Event) {
            entry.put("injected", Value::Bool(true));
            entry.put_text("type", "user");
        }
    }

    /// One row tells a call and its result. A call whose input is still being written is not told.
    fn tool(&self, mapped: &mut MappedLine<'_>, native: &str, data: &LineJson<'_>) {
        let call = data.text("callID").unwrap_or(native).to_owned();
        let state = data.get("state");
        let status = state.and_then(|state| state.text("status")).unwrap_or_default();
        if status == "pending" {
            return;
        }
        let input = state.and_then(|state| state.get("input")).map(LineJson::to_text);
        self.push(mapped, CapturedKind::ToolCall, &call, input.unwrap_or_default());
        if let Some(entry) = mapped.entries.last_mut() {
            entry.put_text("call", &call);
            entry.put_known("tool", data.text("tool"));
        }
        if status != "completed" && status != "error" {
            return;
        }
        let failed = status == "error";
        let said = state.and_then(|state| state.get(if failed { "error" } else { "output" }));
        let text = said.map(LineJson::to_plain_text).unwrap_or_default();
        self.push(mapped, CapturedKind::ToolResult, &call, text);
        if let Some(entry) = mapped.entries.last_mut() {
            entry.put_text("call", &call);
            if failed {
                entry.put("error", Value::Bool(true));
            }
        }
    }

    fn file(&self, mapped: &mut MappedLine<'_>, native: &str, data: &LineJson<'_>) {
        self.push(mapped, CapturedKind::Image, native, String::new());
        let media = data.text("mime").map(|media| ("media", Value::text(media)));
        let url = match data.get("url") {
            Some(LineJson::Number(_)) => data.int("url").map(|bytes| ("bytes", Value::Int(bytes))),
            url => url.and_then(LineJson::as_text).map(|url| ("url", Value::text(url))),
        };
        if let Some(entry) = mapped.entries.last_mut() {
            entry.put("image", Value::map([media, url].into_iter().flatten()));
        }
    }

    fn happened(&self, mapped: &mut MappedLine<'_>, native: &str, kind: &str) {
        self.push(mapped, CapturedKind::Event, native, String::new());
        if let Some(entry) = mapped.entries.last_mut() {
            entry.put_text("type", kind);
        }
    }

    fn push(&self, mapped: &mut MappedLine<'_>, kind: CapturedKind, native: &str, text: String) {
        let mut entry = mapped.entry(kind, native, 0, text);
        if let Some(message) = &self.message {
            entry.put_text("parent", &message.id);
            if message.role == "assistant" && kind != CapturedKind::ToolResult {
                entry.put_known("model", message.model.as_deref());
            }
        }
        mapped.entries.push(entry);
    }
}

/// Takes the data of attached files out; their lengths stay.
fn prune(json: &mut LineJson<'_>) {
    let Some(data) = json.get_mut("data") else { return };
    let length = data.text("url").and_then(data_url).map(|(_, data)| decoded_length(data));
    if let Some(length) = length {
        data.put("url", LineJson::number_of(length));
    }
    data.take("snapshot");
}

fn session(mapped: &mut MappedLine<'_>, data: &LineJson<'_>) {
    let facts = &mut *mapped.facts;
    facts.saw_folder(data.text("directory"));
    facts.first("version", data.text("version"));
    facts.first("parent_thread_id", data.text("parentID"));
    if let Some(title) = data.text("title") {
        facts.replace("title", Value::text(title));
    }
}

fn usage(data: &LineJson<'_>, tokens: &LineJson<'_>) -> Map {
    let mut usage = Map::new();
    for (counts, fields) in
        [(Some(tokens), &USAGE_FIELDS[..]), (tokens.get("cache"), &CACHE_FIELDS[..])]
    {
        if let Some(Value::Map(counts)) = counts.map(|counts| count_fields(counts, fields)) {
            usage.extend(counts);
        }
    }
    let cost = data.get("cost").filter(|cost| matches!(cost, LineJson::Number(_)));
    usage.extend(cost.map(|cost| ("cost".to_owned(), cost.to_value())));
    usage
}

fn native(mapped: &MappedLine<'_>, json: &LineJson<'_>) -> String {
    json.text("id").map_or_else(|| mapped.offset_id(), str::to_owned)
}
