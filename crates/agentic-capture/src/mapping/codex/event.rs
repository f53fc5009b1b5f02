//! What the screen of Codex shows: events beside the items.

use agentic_model::Value;

use super::held::CallEnd;
use super::item::is_wrapped;
use super::{CodexLine, usage_counts};
use crate::entry::CapturedKind;
use crate::line_json::LineJson;
use crate::mapping::unknown_fields;

/// The fields of events that have a meaning here, or repeat what an item says.
const EVENT_FIELDS: [&str; 4] = ["type", "message", "reason", "last_agent_message"];
/// How many files of one patch are named.
const CHANGED_FILES_MAX: usize = 128;

impl CodexLine<'_, '_> {
    /// Maps an event.
    pub(super) fn event(mut self, event: &LineJson<'_>) {
        let kind = event.text("type").unwrap_or_default();
        match kind {
            "exec_command_end" | "patch_apply_end" | "mcp_tool_call_end" => self.call_end(event),
            "user_message" => self.showed(CapturedKind::Prompt, event.text("message")),
            "agent_message" => self.showed(CapturedKind::Reply, event.text("message")),
            "agent_reasoning" => self.showed(CapturedKind::Thinking, event.text("text")),
            "token_count" => self.token_count(event),
            "task_started" | "turn_started" | "task_complete" | "turn_complete"
            | "turn_aborted" => {
                self.end_turn();
                self.happened(kind, event);
            }
            _ => self.happened(kind, event),
        }
    }

    /// Notes something that happened.
    pub(super) fn happened(self, kind: &str, event: &LineJson<'_>) {
        let text = ["message", "reason"].iter().find_map(|name| event.text(name));
        let mut entry = self.entry(CapturedKind::Event, 0, text.unwrap_or_default().to_owned());
        entry.put_text("type", kind);
        entry.put_more(unknown_fields(event, &EVENT_FIELDS));
        self.mapped.entries.push(entry);
    }

    /// Holds what the screen shows until it is known whether an item says the same.
    fn showed(&mut self, kind: CapturedKind, text: Option<&str>) {
        let Some(text) = text.filter(|text| !text.is_empty()) else { return };
        let is_injected = kind == CapturedKind::Prompt && is_wrapped(text);
        let kind = if is_injected { CapturedKind::Event } else { kind };
        let mut entry = self.entry(kind, 0, text.to_owned());
        if is_injected {
            entry.put("injected", Value::Bool(true));
            entry.put_text("type", "user");
        }
        if matches!(kind, CapturedKind::Reply | CapturedKind::Thinking) {
            entry.put_known("model", self.table.model.as_deref());
        }
        let given = self.table.held.event_said(entry);
        self.mapped.entries.extend(given);
    }

    fn call_end(&mut self, event: &LineJson<'_>) {
        let call = event.text("call_id").unwrap_or_default();
        let native = event.text("call_id").unwrap_or(&self.native).to_owned();
        let mut entry = self.entry_of(CapturedKind::ToolResult, &native, 0, output_of(event));
        entry.put_known("call", event.text("call_id"));
        let given = self.table.held.ended(call, entry, end_of(event));
        self.mapped.entries.extend(given);
    }

    fn token_count(mut self, event: &LineJson<'_>) {
        let last = event.get("info").and_then(|info| info.get("last_token_usage"));
        let Some(last) = last.filter(|last| last.is_object()) else { return };
        let (native, counts) = (self.native.clone(), usage_counts(last));
        // Newer versions record each request, and count it here once more, and again with each new limit.
        if self.table.recorded.as_ref() != Some(&counts) {
            self.usage(&native, counts);
        }
    }
}

fn output_of(event: &LineJson<'_>) -> String {
    let whole = ["aggregated_output", "formatted_output"].iter().find_map(|name| event.text(name));
    if let Some(whole) = whole {
        return whole.to_owned();
    }
    let pieces = ["stdout", "stderr"].iter().filter_map(|name| event.text(name));
    let pieces: String = pieces.collect();
    let result = event.get("result");
    match result.and_then(|result| result.get("Ok").or_else(|| result.get("Err"))).or(result) {
        Some(result) if pieces.is_empty() => {
            let parts = result.get("content").and_then(LineJson::as_list).unwrap_or_default();
            let texts: Vec<&str> = parts.iter().filter_map(|part| part.text("text")).collect();
            if texts.is_empty() { result.to_plain_text() } else { texts.join("\n") }
        }
        Some(_) | None => pieces,
    }
}

fn end_of(event: &LineJson<'_>) -> CallEnd {
    let result = event.get("result");
    let success = match (event.get("success"), result) {
        (Some(LineJson::Bool(success)), _) => Some(*success),
        (_, Some(result)) if result.get("Err").is_some() => Some(false),
        (_, Some(result)) => {
            let failed = |ok: &LineJson<'_>| ok.is_true("isError") || ok.is_true("is_error");
            result.get("Ok").map(|ok| !failed(ok))
        }
        (_, None) => None,
    };
    let changes = event.get("changes").map(LineJson::members).unwrap_or_default();
    let paths = changes.iter().take(CHANGED_FILES_MAX).map(|(path, _)| path.to_string());
    CallEnd { exit: event.int("exit_code"), success, paths: paths.collect() }
}
