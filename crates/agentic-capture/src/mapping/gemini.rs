//! The table of Gemini CLI: `tmp/*/chats/*.jsonl`, whose form differs between versions.

use agentic_model::Value;

use crate::entry::{CapturedEntry, CapturedKind};
use crate::line_json::{LineJson, TextRedactor};
use crate::mapping::pictures::decoded_length;
use crate::mapping::{MappedLine, count_fields, unknown_fields};

/// The counts of tokens: what they are called there, and here.
const USAGE_FIELDS: [(&str, &str); 4] =
    [("input", "in"), ("output", "out"), ("cached", "cache_read"), ("thoughts", "reasoning")];
/// The fields of records that have a meaning here.
const RECORD_FIELDS: [&str; 8] =
    ["id", "timestamp", "type", "content", "thoughts", "tokens", "model", "toolCalls"];
/// The fields of calls that have a meaning here, or repeat what others say.
const CALL_FIELDS: [&str; 10] = [
    "id",
    "name",
    "args",
    "result",
    "status",
    "timestamp",
    "resultDisplay",
    "displayName",
    "description",
    "renderOutputAsMarkdown",
];

/// Maps one record.
pub(super) fn line(
    mapped: &mut MappedLine<'_>,
    mut json: LineJson<'_>,
    redactor: &mut TextRedactor<'_>,
) {
    prune(&mut json);
    json.redact(redactor);
    mapped.take_time(json.text("timestamp").or_else(|| json.text("startTime")));
    let record = GeminiRecord {
        native: json.text("id").map_or_else(|| mapped.offset_id(), str::to_owned),
        model: json.text("model").map(str::to_owned),
    };
    let kind = json.text("type").unwrap_or_default().to_owned();
    match kind.as_str() {
        "user" => record.spoke(mapped, CapturedKind::Prompt, &json),
        "gemini" => record.model_turn(mapped, &json),
        "info" | "error" | "warning" => record.happened(mapped, &kind, &json),
        "" if json.get("$rewindTo").is_some() => record.rewound(mapped, &json),
        "" if is_state(&json) => {}
        "" if json.text("sessionId").is_some() => head(mapped, &json),
        _ => record.raw(mapped, &kind, &json),
    }
}

/// Takes pictures out; their lengths stay.
fn prune(json: &mut LineJson<'_>) {
    for part in json.get_mut("content").and_then(LineJson::as_list_mut).into_iter().flatten() {
        let Some(inline) = part.get_mut("inlineData") else { continue };
        let length = inline.text("data").map(decoded_length);
        if let Some(length) = length {
            inline.put("data", LineJson::number_of(length));
        }
    }
}

/// Tells whether a record only changes what the vendor keeps about the conversation.
fn is_state(json: &LineJson<'_>) -> bool {
    !json.members().is_empty() && json.members().iter().all(|(key, _)| key.starts_with('$'))
}

fn head(mapped: &mut MappedLine<'_>, json: &LineJson<'_>) {
    mapped.facts.saw_folder(json.text("cwd"));
    mapped.facts.first("project", json.text("projectHash"));
    let folders = json.get("directories").and_then(LineJson::as_list).unwrap_or_default();
    for folder in folders {
        mapped.facts.saw_folder(folder.as_text());
    }
}

/// One record on its way to entries.
struct GeminiRecord {
    native: String,
    model: Option<String>,
}

impl GeminiRecord {
    fn spoke(&self, mapped: &mut MappedLine<'_>, kind: CapturedKind, json: &LineJson<'_>) {
        let first = mapped.entries.len();
        match json.get("content") {
            Some(LineJson::Text(text)) if text.is_empty() && kind == CapturedKind::Reply => {}
            Some(LineJson::Text(text)) => {
                let entry = self.entry(mapped, kind, 0, text.clone().into_owned());
                mapped.entries.push(entry);
            }
            Some(LineJson::List(parts)) => {
                for (at, part) in parts.iter().enumerate() {
                    let entry = self.part(mapped, kind, at, part);
                    mapped.entries.push(entry);
                }
            }
            None | Some(LineJson::Null) if kind == CapturedKind::Reply => {}
            None
            | Some(
                LineJson::Null | LineJson::Bool(_) | LineJson::Number(_) | LineJson::Object(_),
            ) => self.raw(mapped, json.text("type").unwrap_or_default(), json),
        }
        if let Some(entry) = mapped.entries.get_mut(first) {
            entry.put_more(unknown_fields(json, &RECORD_FIELDS));
        }
    }

    fn part(
        &self,
        mapped: &MappedLine<'_>,
        kind: CapturedKind,
        at: usize,
        part: &LineJson<'_>,
    ) -> CapturedEntry {
        if let Some(text) = part.text("text").or_else(|| part.as_text()) {
            return self.entry(mapped, kind, at, text.to_owned());
        }
        let Some(inline) = part.get("inlineData") else {
            return self.entry(mapped, CapturedKind::Raw, at, part.to_text());
        };
        let mut entry = self.entry(mapped, CapturedKind::Image, at, String::new());
        let media = inline.text("mimeType").map(|media| ("media", Value::text(media)));
        let bytes = inline.int("data").map(|bytes| ("bytes", Value::Int(bytes)));
        entry.put("image", Value::map([media, bytes].into_iter().flatten()));
        entry
    }

    fn model_turn(&self, mapped: &mut MappedLine<'_>, json: &LineJson<'_>) {
        mapped.facts.first("model", self.model.as_deref());
        let thoughts = json.get("thoughts").and_then(LineJson::as_list).unwrap_or_default();
        for (at, thought) in thoughts.iter().enumerate() {
            let pieces = ["subject", "description"].iter().filter_map(|name| thought.text(name));
            let text = pieces.collect::<Vec<&str>>().join("\n\n");
            let entry = self.entry(mapped, CapturedKind::Thinking, at, text);
            mapped.entries.push(entry);
        }
        self.spoke(mapped, CapturedKind::Reply, json);
        let calls = json.get("toolCalls").and_then(LineJson::as_list).unwrap_or_default();
        for call in calls {
            self.call(mapped, call);
        }
        if let Some(tokens) = json.get("tokens").filter(|tokens| tokens.is_object()) {
            let mut entry = self.entry(mapped, CapturedKind::Usage, 0, String::new());
            entry.put("usage", count_fields(tokens, &USAGE_FIELDS));
            mapped.entries.push(entry);
        }
    }

    fn call(&self, mapped: &mut MappedLine<'_>, call: &LineJson<'_>) {
        let native = call.text("id").unwrap_or(&self.native);
        let input = call.get("args").map(LineJson::to_text).unwrap_or_default();
        let mut entry = self.entry_of(mapped, CapturedKind::ToolCall, native, 0, input);
        entry.put_known("call", call.text("id"));
        entry.put_known("tool", call.text("name"));
        entry.put_more(unknown_fields(call, &CALL_FIELDS));
        mapped.entries.push(entry);
        let status = call.text("status").unwrap_or_default();
        let is_over = ["success", "error", "cancelled"].contains(&status);
        let result = call.get("result").filter(|result| **result != LineJson::Null);
        if result.is_none() && !is_over {
            return;
        }
        let (text, failed) = result.map(answer).unwrap_or_default();
        let mut entry = self.entry_of(mapped, CapturedKind::ToolResult, native, 0, text);
        entry.put_known("call", call.text("id"));
        if failed || ["error", "cancelled"].contains(&status) {
            entry.put("error", Value::Bool(true));
        }
        mapped.entries.push(entry);
    }

    fn happened(&self, mapped: &mut MappedLine<'_>, kind: &str, json: &LineJson<'_>) {
        let text = json.get("content").map(LineJson::to_plain_text).unwrap_or_default();
        let mut entry = self.entry(mapped, CapturedKind::Event, 0, text);
        entry.put_text("type", kind);
        entry.put_more(unknown_fields(json, &RECORD_FIELDS));
        mapped.entries.push(entry);
    }

    fn rewound(&self, mapped: &mut MappedLine<'_>, json: &LineJson<'_>) {
        let mut entry = self.entry(mapped, CapturedKind::Event, 0, String::new());
        entry.put_text("type", "rewind");
        entry.put_known("parent", json.text("$rewindTo"));
        mapped.entries.push(entry);
    }

    fn raw(&self, mapped: &mut MappedLine<'_>, kind: &str, json: &LineJson<'_>) {
        let mut entry = self.entry(mapped, CapturedKind::Raw, 0, json.to_text());
        entry.put_known("type", Some(kind).filter(|kind| !kind.is_empty()));
        mapped.entries.push(entry);
    }

    fn entry(
        &self,
        mapped: &MappedLine<'_>,
        kind: CapturedKind,
        part: usize,
        text: String,
    ) -> CapturedEntry {
        self.entry_of(mapped, kind, &self.native, part, text)
    }

    fn entry_of(
        &self,
        mapped: &MappedLine<'_>,
        kind: CapturedKind,
        native: &str,
        part: usize,
        text: String,
    ) -> CapturedEntry {
        let mut entry = mapped.entry(kind, native, part, text);
        entry.put_text("line", &self.native);
        if kind != CapturedKind::ToolResult {
            entry.put_known("model", self.model.as_deref());
        }
        entry
    }
}

/// Reads what a tool answered, and whether that says it failed.
fn answer(result: &LineJson<'_>) -> (String, bool) {
    let one = std::slice::from_ref(result);
    let mut texts = Vec::new();
    let mut failed = false;
    for piece in result.as_list().unwrap_or(one) {
        let response = piece.get("functionResponse").and_then(|call| call.get("response"));
        let Some(response) = response else {
            let text = piece.text("text").map_or_else(|| piece.to_plain_text(), str::to_owned);
            texts.push(text);
            continue;
        };
        failed |= response.get("error").is_some();
        let said = response.get("output").or_else(|| response.get("error")).unwrap_or(response);
        texts.push(said.to_plain_text());
    }
    (texts.join("\n"), failed)
}
