//! The table of Copilot CLI: `session-state/ID/events.jsonl`, whose form differs between versions.

use agentic_model::Value;

use crate::entry::{CapturedEntry, CapturedKind};
use crate::line_json::{LineJson, TextRedactor};
use crate::mapping::{MappedLine, count_fields, unknown_fields};

/// The fields of messages that have a meaning here.
const MESSAGE_FIELDS: [&str; 4] = ["messageId", "content", "toolRequests", "attachments"];
/// The fields of results that have a meaning here.
const RESULT_FIELDS: [&str; 4] = ["toolCallId", "success", "result", "error"];

/// Maps one event.
pub(super) fn line(
    mapped: &mut MappedLine<'_>,
    mut json: LineJson<'_>,
    redactor: &mut TextRedactor<'_>,
) {
    json.redact(redactor);
    mapped.take_time(json.text("timestamp"));
    let kind = json.text("type").unwrap_or_default().to_owned();
    let event = CopilotEvent {
        native: json.text("id").map_or_else(|| mapped.offset_id(), str::to_owned),
        parent: json.text("parentId").map(str::to_owned),
    };
    let data = json.get("data").filter(|data| data.is_object());
    match (kind.as_str(), data) {
        ("session.start", Some(data)) => head(mapped, data),
        ("tool.execution_start", Some(_)) => {}
        ("user.message", Some(data)) if data.text("content").is_some() => {
            event.said(mapped, CapturedKind::Prompt, data);
        }
        ("assistant.message", Some(data)) => event.answered(mapped, data),
        ("tool.execution_complete", Some(data)) => event.result(mapped, data),
        ("session.usage_record", Some(data)) => event.usage(mapped, data),
        (kind, Some(data)) if !kind.is_empty() => event.happened(mapped, kind, data),
        (kind, _) => event.raw(mapped, kind, &json),
    }
}

fn head(mapped: &mut MappedLine<'_>, data: &LineJson<'_>) {
    let facts = &mut *mapped.facts;
    facts.first("version", data.text("copilotVersion"));
    facts.first("model", data.text("selectedModel"));
    let Some(context) = data.get("context") else { return };
    facts.saw_folder(context.text("cwd"));
    facts.first("branch", context.text("branch"));
    facts.first("commit", context.text("headCommit"));
}

/// One event on its way to entries.
struct CopilotEvent {
    native: String,
    parent: Option<String>,
}

impl CopilotEvent {
    fn said(&self, mapped: &mut MappedLine<'_>, kind: CapturedKind, data: &LineJson<'_>) {
        let text = data.text("content").unwrap_or_default().to_owned();
        let mut entry = self.entry(mapped, kind, &self.native, text);
        entry.put_more(unknown_fields(data, &MESSAGE_FIELDS));
        let attached = data
            .get("attachments")
            .filter(|list| list.as_list().is_some_and(|attachments| !attachments.is_empty()));
        if let Some(attached) = attached {
            entry.put_more([("attachments".to_owned(), attached.to_value())].into());
        }
        mapped.entries.push(entry);
    }

    fn answered(&self, mapped: &mut MappedLine<'_>, data: &LineJson<'_>) {
        let first = mapped.entries.len();
        let says = data.text("content").is_some_and(|text| !text.is_empty());
        if says {
            self.said(mapped, CapturedKind::Reply, data);
        }
        let calls = data.get("toolRequests").and_then(LineJson::as_list).unwrap_or_default();
        for call in calls {
            let native = call.text("toolCallId").unwrap_or(&self.native);
            let input = call.get("arguments").map(LineJson::to_plain_text).unwrap_or_default();
            let mut entry = self.entry(mapped, CapturedKind::ToolCall, native, input);
            entry.put_known("call", call.text("toolCallId"));
            entry.put_known("tool", call.text("name"));
            entry.put_more(unknown_fields(call, &["toolCallId", "name", "arguments", "type"]));
            mapped.entries.push(entry);
        }
        if let Some(entry) = mapped.entries.get_mut(first).filter(|_| !says) {
            entry.put_more(unknown_fields(data, &MESSAGE_FIELDS));
        }
    }

    fn result(&self, mapped: &mut MappedLine<'_>, data: &LineJson<'_>) {
        let native = data.text("toolCallId").unwrap_or(&self.native);
        let result = data.get("result");
        let content = result.and_then(|result| result.get("content")).or(result);
        let error = data.get("error");
        let said = content.or_else(|| error.and_then(|error| error.get("message"))).or(error);
        let text = said.map(LineJson::to_plain_text).unwrap_or_default();
        let mut entry = self.entry(mapped, CapturedKind::ToolResult, native, text);
        entry.put_known("call", data.text("toolCallId"));
        if data.get("success") == Some(&LineJson::Bool(false)) {
            entry.put("error", Value::Bool(true));
        }
        entry.put_more(unknown_fields(data, &RESULT_FIELDS));
        mapped.entries.push(entry);
    }

    /// What a request cost, as versions since 1.0.100 say it.
    fn usage(&self, mapped: &mut MappedLine<'_>, data: &LineJson<'_>) {
        const FIELDS: [(&str, &str); 4] = [
            ("inputTokens", "in"),
            ("outputTokens", "out"),
            ("cacheReadTokens", "cache_read"),
            ("cacheWriteTokens", "cache_write"),
        ];
        let Some(usage) = data.get("usage").filter(|usage| usage.is_object()) else {
            return self.happened(mapped, "session.usage_record", data);
        };
        let mut entry = self.entry(mapped, CapturedKind::Usage, &self.native, String::new());
        entry.put_known("model", usage.text("model"));
        entry.put("usage", count_fields(usage, &FIELDS));
        mapped.entries.push(entry);
    }

    fn happened(&self, mapped: &mut MappedLine<'_>, kind: &str, data: &LineJson<'_>) {
        let text = ["message", "content"].iter().find_map(|name| data.text(name));
        let mut entry = self.entry(
            mapped,
            CapturedKind::Event,
            &self.native,
            text.unwrap_or_default().to_owned(),
        );
        entry.put_text("type", kind);
        entry.put_more(unknown_fields(data, &["message", "content"]));
        mapped.entries.push(entry);
    }

    fn raw(&self, mapped: &mut MappedLine<'_>, kind: &str, json: &LineJson<'_>) {
        let mut entry = self.entry(mapped, CapturedKind::Raw, &self.native, json.to_text());
        entry.put_known("type", Some(kind).filter(|kind| !kind.is_empty()));
        mapped.entries.push(entry);
    }

    fn entry(
        &self,
        mapped: &MappedLine<'_>,
        kind: CapturedKind,
        native: &str,
        text: String,
    ) -> CapturedEntry {
        let mut entry = mapped.entry(kind, native, 0, text);
        entry.put_text("line", &self.native);
        entry.put_known("parent", self.parent.as_deref());
        entry
    }
}
