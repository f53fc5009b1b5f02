//! The table of Cursor: lines of `{role, message}` without ids or times, internal to its vendor.

use agentic_model::Value;

use crate::entry::{CapturedEntry, CapturedKind};
use crate::line_json::{LineJson, TextRedactor};
use crate::mapping::MappedLine;

/// Maps one line.
pub(super) fn line(
    mapped: &mut MappedLine<'_>,
    mut json: LineJson<'_>,
    redactor: &mut TextRedactor<'_>,
) {
    json.redact(redactor);
    let role = json.text("role").unwrap_or_default().to_owned();
    let content = json.get("message").and_then(|message| message.get("content"));
    let blocks = match content {
        Some(LineJson::Text(text)) => return said(mapped, &role, 0, text),
        Some(LineJson::List(blocks)) if role == "user" || role == "assistant" => blocks,
        Some(_) | None => {
            let mut entry = mapped.entry_at_offset(CapturedKind::Raw, json.to_text());
            entry.put_known("type", json.text("type"));
            return mapped.entries.push(entry);
        }
    };
    for (part, content) in blocks.iter().enumerate() {
        block(mapped, &role, part, content);
    }
}

fn block(mapped: &mut MappedLine<'_>, role: &str, part: usize, block: &LineJson<'_>) {
    let entry = match block.text("type").unwrap_or_default() {
        "text" if block.text("text").is_some() => {
            return said(mapped, role, part, block.text("text").unwrap_or_default());
        }
        "thinking" => {
            let text = block.text("thinking").or_else(|| block.text("text"));
            entry(mapped, CapturedKind::Thinking, part, text.unwrap_or_default().to_owned())
        }
        "tool_use" => {
            let input = block.get("input").map(LineJson::to_text).unwrap_or_default();
            let mut entry = entry(mapped, CapturedKind::ToolCall, part, input);
            entry.put_known("call", block.text("id"));
            entry.put_known("tool", block.text("name"));
            entry
        }
        "tool_result" => {
            let text = block.get("content").map(LineJson::to_plain_text).unwrap_or_default();
            let mut entry = entry(mapped, CapturedKind::ToolResult, part, text);
            entry.put_known("call", block.text("tool_use_id"));
            if block.is_true("is_error") {
                entry.put("error", Value::Bool(true));
            }
            entry
        }
        kind => {
            let mut entry = entry(mapped, CapturedKind::Raw, part, block.to_text());
            entry.put_known("type", Some(kind).filter(|kind| !kind.is_empty()));
            entry
        }
    };
    mapped.entries.push(entry);
}

/// What a person asked stands in a wrapper of its own.
fn said(mapped: &mut MappedLine<'_>, role: &str, part: usize, text: &str) {
    let asked = text.trim().strip_prefix("<user_query>");
    let asked = asked.and_then(|text| text.strip_suffix("</user_query>")).map(str::trim);
    let kind = if role == "assistant" { CapturedKind::Reply } else { CapturedKind::Prompt };
    let text = if kind == CapturedKind::Prompt { asked.unwrap_or(text) } else { text };
    let entry = entry(mapped, kind, part, text.to_owned());
    mapped.entries.push(entry);
}

fn entry(mapped: &MappedLine<'_>, kind: CapturedKind, part: usize, text: String) -> CapturedEntry {
    mapped.entry(kind, &mapped.offset_id(), part, text)
}
