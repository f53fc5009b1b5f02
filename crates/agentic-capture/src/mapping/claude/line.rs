//! One line of Claude Code: its header, and its blocks.

use agentic_model::{Map, Value};

use super::prune::{ClaudeDropped, edit};
use super::{USAGE_FIELDS, WRAPPERS};
use crate::entry::{CapturedEntry, CapturedKind};
use crate::line_json::LineJson;
use crate::mapping::{MappedLine, count_fields, unknown_fields};

/// The fields of a line that have a meaning here.
pub(super) const LINE_FIELDS: [&str; 22] = [
    "parentUuid",
    "logicalParentUuid",
    "isSidechain",
    "userType",
    "cwd",
    "sessionId",
    "version",
    "gitBranch",
    "type",
    "uuid",
    "timestamp",
    "message",
    "requestId",
    "toolUseResult",
    "isMeta",
    "isCompactSummary",
    "isVisibleInTranscriptOnly",
    "forkedFrom",
    "agentId",
    "subtype",
    "content",
    "compactMetadata",
];
/// The fields of each block that have a meaning here.
const BLOCK_FIELDS: [&str; 11] = [
    "type",
    "text",
    "thinking",
    "signature",
    "data",
    "id",
    "name",
    "input",
    "tool_use_id",
    "content",
    "is_error",
];

/// The header of a line.
pub(super) struct ClaudeLine {
    /// The id that its entries are named by.
    pub native: String,
    /// Which model spoke.
    pub model: Option<String>,
    uuid: Option<String>,
    parent: Option<String>,
    kind: Option<String>,
    origin: ClaudeOrigin,
    is_side: bool,
    /// The next place for a block within a block: behind those of the line.
    inner_part: usize,
}

/// Where the texts of a line of the user come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ClaudeOrigin {
    Person,
    Program,
    Summary,
}

impl ClaudeLine {
    pub(super) fn read(mapped: &MappedLine<'_>, json: &LineJson<'_>) -> ClaudeLine {
        let owned = |name: &str| json.text(name).map(str::to_owned);
        let uuid = owned("uuid");
        let copied = json.get("forkedFrom").and_then(|origin| origin.text("messageUuid"));
        let native = copied.map(str::to_owned).or_else(|| uuid.clone());
        ClaudeLine {
            native: native.unwrap_or_else(|| mapped.offset_id()),
            model: None,
            uuid,
            parent: owned("logicalParentUuid").or_else(|| owned("parentUuid")),
            kind: owned("type"),
            origin: ClaudeOrigin::read(json),
            is_side: json.is_true("isSidechain"),
            inner_part: 0,
        }
    }

    /// Maps the blocks of a message.
    pub(super) fn blocks(
        &mut self,
        mapped: &mut MappedLine<'_>,
        json: &LineJson<'_>,
        content: Option<&LineJson<'_>>,
        dropped: &ClaudeDropped,
    ) {
        if let Some(text) = content.and_then(LineJson::as_text) {
            let entry = self.said(mapped, 0, text);
            mapped.entries.push(entry);
            return;
        }
        let blocks = content.and_then(LineJson::as_list).unwrap_or_default();
        self.inner_part = blocks.len();
        // A line says once what a tool returned; whose that is among several nobody can say.
        let has_one = blocks.iter().filter(|block| is_result(block)).count() == 1;
        let returned = json.get("toolUseResult").filter(|_| has_one);
        for (part, block) in blocks.iter().enumerate() {
            self.block(mapped, part, block);
            if let Some(returned) = returned.filter(|_| is_result(block)) {
                saw_result(mapped, block, returned, dropped);
            }
        }
    }

    /// Maps something that happened.
    pub(super) fn system(&self, mapped: &mut MappedLine<'_>, json: &LineJson<'_>) {
        let text = json.text("content").unwrap_or_default().to_owned();
        let mut entry = self.entry(mapped, CapturedKind::Event, 0, text);
        let subtype = json.text("subtype").unwrap_or("system");
        if subtype == "compact_boundary" {
            entry.put_text("type", "compaction");
            entry.put("compaction", compaction(json.get("compactMetadata")));
        } else {
            entry.put_text("type", subtype);
        }
        entry.put_more(unknown_fields(json, &LINE_FIELDS));
        let content = json.get("content").filter(|content| content.as_text().is_none());
        if let Some(content) = content.filter(|content| **content != LineJson::Null) {
            entry.put_more(Map::from([("content".to_owned(), content.to_value())]));
        }
        mapped.entries.push(entry);
    }

    /// Notes that files were copied aside.
    pub(super) fn snapshot(&self, mapped: &mut MappedLine<'_>) {
        let mut entry = self.entry(mapped, CapturedKind::Event, 0, String::new());
        entry.put_text("type", "file-history-snapshot");
        entry.put_drop("file copies", mapped.length);
        mapped.entries.push(entry);
    }

    /// Keeps a line of a type that nobody here knows.
    pub(super) fn raw(&self, mapped: &mut MappedLine<'_>, json: &LineJson<'_>) {
        let mut entry = self.entry(mapped, CapturedKind::Raw, 0, json.to_text());
        entry.put_known("type", self.kind.as_deref());
        mapped.entries.push(entry);
    }

    /// Says what a message cost.
    pub(super) fn usage(&self, usage: &LineJson<'_>) -> Map {
        let counts = count_fields(usage, &USAGE_FIELDS);
        let mut meta = Map::from([("usage".to_owned(), counts)]);
        meta.extend(self.model.as_ref().map(|model| ("model".to_owned(), Value::text(model))));
        if self.is_side {
            meta.insert("side".to_owned(), Value::Bool(true));
        }
        meta
    }

    fn block(&mut self, mapped: &mut MappedLine<'_>, part: usize, block: &LineJson<'_>) {
        let text = |name: &str| block.text(name).unwrap_or_default().to_owned();
        let mut entry = match block.text("type").unwrap_or_default() {
            "text" if block.text("text").is_some() => self.said(mapped, part, &text("text")),
            "thinking" => self.entry(mapped, CapturedKind::Thinking, part, text("thinking")),
            "redacted_thinking" => {
                let mut entry = self.entry(mapped, CapturedKind::Thinking, part, String::new());
                let length = block.int("data").unwrap_or(0);
                entry.put_drop("encrypted", usize::try_from(length).unwrap_or(0));
                entry
            }
            "tool_use" | "server_tool_use" | "mcp_tool_use" => self.call(mapped, part, block),
            "tool_result" => return self.result(mapped, part, block),
            "image" | "document" => self.picture(mapped, part, block),
            _ => self.raw_block(mapped, part, block),
        };
        if !matches!(entry.kind, CapturedKind::Raw | CapturedKind::Image) {
            entry.put_more(unknown_fields(block, &BLOCK_FIELDS));
        }
        mapped.entries.push(entry);
    }

    /// Makes an entry of what somebody said.
    fn said(&self, mapped: &MappedLine<'_>, part: usize, text: &str) -> CapturedEntry {
        let kind = match self.origin {
            _ if self.kind.as_deref() == Some("assistant") => CapturedKind::Reply,
            ClaudeOrigin::Summary => CapturedKind::Summary,
            ClaudeOrigin::Person if !is_wrapped(text) => CapturedKind::Prompt,
            ClaudeOrigin::Person | ClaudeOrigin::Program => CapturedKind::Event,
        };
        let mut entry = self.entry(mapped, kind, part, text.to_owned());
        if kind == CapturedKind::Event {
            entry.put("injected", Value::Bool(true));
            entry.put_known("type", self.kind.as_deref());
        }
        entry
    }

    fn call(
        &self,
        mapped: &mut MappedLine<'_>,
        part: usize,
        block: &LineJson<'_>,
    ) -> CapturedEntry {
        let input = block.get("input");
        let text = input.map(LineJson::to_text).unwrap_or_default();
        let mut entry = self.entry(mapped, CapturedKind::ToolCall, part, text);
        entry.put_known("call", block.text("id"));
        entry.put_known("tool", block.text("name"));
        let kind = input.and_then(|input| input.text("subagent_type"));
        if let (Some(call), Some(kind)) = (block.text("id"), kind) {
            mapped.facts.saw_start(call, kind);
        }
        entry
    }

    fn result(&mut self, mapped: &mut MappedLine<'_>, part: usize, block: &LineJson<'_>) {
        let content = block.get("content");
        let mut entry = self.entry(mapped, CapturedKind::ToolResult, part, result_text(content));
        if block.is_true("is_error") {
            entry.put("error", Value::Bool(true));
        }
        entry.put_more(unknown_fields(block, &BLOCK_FIELDS));
        let call = block.text("tool_use_id");
        entry.put_known("call", call);
        mapped.entries.push(entry);
        let inner = content.and_then(LineJson::as_list).unwrap_or_default();
        // The first shares the place of its block, later ones have places of their own.
        let mut part = part;
        for inner in inner.iter().filter(|inner| inner.text("text").is_none()) {
            let mut entry = match inner.text("type") {
                Some("image" | "document") => self.picture(mapped, part, inner),
                _ => self.raw_block(mapped, part, inner),
            };
            entry.put_known("call", call);
            mapped.entries.push(entry);
            part = self.inner_part;
            self.inner_part += 1;
        }
    }

    fn picture(&self, mapped: &MappedLine<'_>, part: usize, block: &LineJson<'_>) -> CapturedEntry {
        let mut entry = self.entry(mapped, CapturedKind::Image, part, String::new());
        let source = block.get("source");
        let text = |name: &str| source.and_then(|source| source.text(name)).map(Value::text);
        let length = source.and_then(|source| source.int("data")).map(Value::Int);
        let described = [
            ("media", text("media_type")),
            ("bytes", length),
            ("url", text("url")),
            ("file", text("file_id")),
        ];
        let known = described.into_iter().filter_map(|(name, value)| Some((name, value?)));
        entry.put("image", Value::map(known));
        entry
    }

    fn raw_block(
        &self,
        mapped: &MappedLine<'_>,
        part: usize,
        block: &LineJson<'_>,
    ) -> CapturedEntry {
        let mut entry = self.entry(mapped, CapturedKind::Raw, part, block.to_text());
        entry.put_known("type", block.text("type"));
        entry
    }

    /// Makes an entry with all that the header says.
    fn entry(
        &self,
        mapped: &MappedLine<'_>,
        kind: CapturedKind,
        part: usize,
        text: String,
    ) -> CapturedEntry {
        let mut entry = mapped.entry(kind, &self.native, part, text);
        entry.put_known("line", self.uuid.as_deref());
        entry.put_known("parent", self.parent.as_deref());
        entry.put_known("model", self.model.as_deref());
        if self.is_side {
            entry.put("side", Value::Bool(true));
        }
        entry
    }
}

impl ClaudeOrigin {
    fn read(json: &LineJson<'_>) -> ClaudeOrigin {
        let speaker = json.get("origin").and_then(|origin| origin.text("kind"));
        if json.is_true("isCompactSummary") {
            return ClaudeOrigin::Summary;
        }
        let is_program = json.is_true("isMeta") || speaker.is_some_and(|kind| kind != "human");
        if is_program { ClaudeOrigin::Program } else { ClaudeOrigin::Person }
    }
}

fn is_result(block: &LineJson<'_>) -> bool {
    block.text("type") == Some("tool_result")
}

/// Joins the texts of a result.
fn result_text(content: Option<&LineJson<'_>>) -> String {
    match content {
        Some(LineJson::List(inner)) => {
            let texts: Vec<&str> = inner.iter().filter_map(|inner| inner.text("text")).collect();
            texts.join("\n")
        }
        Some(LineJson::Null) | None => String::new(),
        Some(
            other @ (LineJson::Text(_)
            | LineJson::Bool(_)
            | LineJson::Number(_)
            | LineJson::Object(_)),
        ) => other.to_plain_text(),
    }
}

/// Adds to the result of a tool what its line says about it beside the message.
fn saw_result(
    mapped: &mut MappedLine<'_>,
    block: &LineJson<'_>,
    returned: &LineJson<'_>,
    dropped: &ClaudeDropped,
) {
    let call = block.text("tool_use_id").unwrap_or_default();
    if let Some(agent) = returned.text("agentId") {
        mapped.facts.saw_child(call, agent);
    }
    let entry = mapped.entries.iter_mut().rfind(|entry| entry.kind == CapturedKind::ToolResult);
    let changed = (entry, returned.text("filePath"), dropped.hunks.as_ref());
    if let (Some(entry), Some(path), Some(hunks)) = changed {
        entry.put("edit", edit(path, hunks.clone()));
    }
}

/// Tells whether a text begins with what programs wrap their own texts in.
fn is_wrapped(text: &str) -> bool {
    let Some(rest) = text.trim_start().strip_prefix('<') else { return false };
    let ends_name = |rest: &str| rest.starts_with(['>', ' ', '/', '\n']);
    WRAPPERS.iter().any(|name| rest.strip_prefix(name).is_some_and(ends_name))
}

fn compaction(metadata: Option<&LineJson<'_>>) -> Value {
    let trigger = metadata.and_then(|metadata| metadata.text("trigger"));
    let tokens = metadata.and_then(|metadata| metadata.int("preTokens"));
    let trigger = trigger.map(|trigger| ("trigger", Value::text(trigger)));
    let tokens = tokens.map(|tokens| ("pre_tokens", Value::Int(tokens)));
    Value::map([trigger, tokens].into_iter().flatten())
}
