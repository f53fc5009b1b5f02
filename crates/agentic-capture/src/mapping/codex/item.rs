//! What the model sees and says: the items of its conversation.

use agentic_model::Value;

use super::CodexLine;
use super::held::CallEnd;
use crate::entry::CapturedKind;
use crate::line_json::LineJson;
use crate::mapping::unknown_fields;

/// What a text of the user begins with that no person typed.
const WRAPPERS: [&str; 17] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<user_shell_command>",
    "<user_action>",
    "<model_switch>",
    "<personality_spec>",
    "<skills_instructions>",
    "<skill>",
    "<apps_instructions>",
    "<plugins_instructions>",
    "<hook_prompt",
];
/// The fields of items that have a meaning here.
const ITEM_FIELDS: [&str; 14] = [
    "type",
    "id",
    "role",
    "content",
    "summary",
    "encrypted_content",
    "call_id",
    "status",
    "name",
    "arguments",
    "input",
    "action",
    "output",
    "result",
];
/// How many files of one patch are named.
const PATCHED_FILES_MAX: usize = 128;

impl CodexLine<'_, '_> {
    /// Maps an item.
    pub(super) fn item(mut self, item: &LineJson<'_>) {
        let kind = item.text("type").unwrap_or_default();
        if kind.ends_with("_output") {
            return self.result(item);
        }
        let held = self.table.held.go_on();
        self.mapped.entries.extend(held);
        let first = self.mapped.entries.len();
        match kind {
            "message" => self.message(item),
            "reasoning" => self.reasoning(item),
            "function_call" => self.call(item, item.text("name"), item.get("arguments")),
            "custom_tool_call" => self.call(item, item.text("name"), item.get("input")),
            "local_shell_call" => self.call(item, Some("shell"), item.get("action")),
            "web_search_call" => self.call(item, Some("web_search"), item.get("action")),
            "tool_search_call" => self.call(item, Some("tool_search"), item.get("arguments")),
            "image_generation_call" => {
                self.call(item, Some("image_generation"), item.get("revised_prompt"));
            }
            _ => return self.raw_item(item),
        }
        if let Some(entry) = self.mapped.entries.get_mut(first) {
            entry.put_more(unknown_fields(item, &ITEM_FIELDS));
        }
    }

    fn message(&mut self, item: &LineJson<'_>) {
        let role = item.text("role").unwrap_or_default();
        let parts = match item.get("content") {
            Some(LineJson::Text(text)) => return self.said(role, 0, text),
            content => content.and_then(LineJson::as_list).unwrap_or_default(),
        };
        for (part, content) in parts.iter().enumerate() {
            if let Some(text) = content.text("text") {
                self.said(role, part, text);
            } else if content.get("image_url").is_some() {
                self.picture(&self.native.clone(), part, content);
            } else {
                self.raw_part(&self.native.clone(), part, content);
            }
        }
    }

    fn said(&mut self, role: &str, part: usize, text: &str) {
        self.table.held.item_said(text);
        let kind = match role {
            "assistant" => CapturedKind::Reply,
            "user" if !is_wrapped(text) => CapturedKind::Prompt,
            _ => CapturedKind::Event,
        };
        let mut entry = self.entry(kind, part, text.to_owned());
        if kind == CapturedKind::Reply {
            entry.put_known("model", self.table.model.as_deref());
        }
        if kind == CapturedKind::Event {
            entry.put("injected", Value::Bool(true));
            entry.put_text("type", role);
        }
        self.mapped.entries.push(entry);
    }

    fn reasoning(&mut self, item: &LineJson<'_>) {
        let parts = ["summary", "content"]
            .into_iter()
            .flat_map(|name| item.get(name).and_then(LineJson::as_list).unwrap_or_default());
        let texts: Vec<&str> = parts.filter_map(|part| part.text("text")).collect();
        for text in &texts {
            self.table.held.item_said(text);
        }
        let text = texts.join("\n\n");
        self.table.held.item_said(&text);
        let mut entry = self.entry(CapturedKind::Thinking, 0, text);
        entry.put_known("model", self.table.model.as_deref());
        if let Some(length) = item.int("encrypted_content") {
            entry.put_drop("encrypted", usize::try_from(length).unwrap_or(0));
        }
        self.mapped.entries.push(entry);
    }

    fn call(&mut self, item: &LineJson<'_>, tool: Option<&str>, input: Option<&LineJson<'_>>) {
        let call = item.text("call_id");
        let native = call.unwrap_or(&self.native).to_owned();
        let text = input.map(LineJson::to_plain_text).unwrap_or_default();
        if let Some(call) = call {
            self.table.held.call_patches(call, input.map(patched_files).unwrap_or_default());
        }
        let mut entry = self.entry_of(CapturedKind::ToolCall, &native, 0, text);
        entry.put_known("call", call);
        entry.put_known("tool", tool);
        entry.put_known("model", self.table.model.as_deref());
        if let Some(length) = item.int("result") {
            entry.put_drop("picture", usize::try_from(length).unwrap_or(0));
        }
        self.mapped.entries.push(entry);
    }

    fn result(&mut self, item: &LineJson<'_>) {
        let call = item.text("call_id").unwrap_or_default();
        let native = item.text("call_id").unwrap_or(&self.native).to_owned();
        let output = item.get("output");
        let (text, end) = read_output(output);
        let mut entry = self.entry_of(CapturedKind::ToolResult, &native, 0, text);
        entry.put_known("call", item.text("call_id"));
        entry.put_more(unknown_fields(item, &ITEM_FIELDS));
        let given = self.table.held.result(call, entry, end);
        self.mapped.entries.extend(given);
        let parts = output.and_then(|output| output.get("content").or(Some(output)));
        let parts = parts.and_then(LineJson::as_list).unwrap_or_default();
        if !parts.is_empty() {
            // Pictures follow it, so it does not wait for how the call ended.
            let result = self.table.held.release(call);
            self.mapped.entries.extend(result);
        }
        for (part, content) in parts.iter().enumerate() {
            if content.get("image_url").is_some() {
                self.picture(&native, part, content);
            } else if content.text("text").is_none() {
                self.raw_part(&native, part, content);
            }
        }
    }

    fn picture(&mut self, native: &str, part: usize, content: &LineJson<'_>) {
        let mut entry = self.entry_of(CapturedKind::Image, native, part, String::new());
        let picture = match content.get("image_url") {
            Some(LineJson::Text(url)) => Value::map([("url", Value::text(url.as_ref()))]),
            Some(described) => described.to_value(),
            None => Value::map::<String>([]),
        };
        entry.put("image", picture);
        self.mapped.entries.push(entry);
    }

    fn raw_part(&mut self, native: &str, part: usize, content: &LineJson<'_>) {
        let mut entry = self.entry_of(CapturedKind::Raw, native, part, content.to_text());
        entry.put_known("type", content.text("type"));
        self.mapped.entries.push(entry);
    }

    fn raw_item(self, item: &LineJson<'_>) {
        let mut entry = self.entry(CapturedKind::Raw, 0, item.to_text());
        entry.put_known("type", item.text("type"));
        self.mapped.entries.push(entry);
    }
}

/// Reads what a tool answered; its form differs between versions and tools.
fn read_output(output: Option<&LineJson<'_>>) -> (String, CallEnd) {
    match output {
        None | Some(LineJson::Null) => (String::new(), CallEnd::default()),
        Some(LineJson::List(parts)) => (joined(parts), CallEnd::default()),
        Some(object @ LineJson::Object(_)) => {
            let end = CallEnd {
                exit: object.get("metadata").and_then(|metadata| metadata.int("exit_code")),
                success: success_of(object),
                paths: Vec::new(),
            };
            let content = object.get("output").or_else(|| object.get("content"));
            let text = match content {
                Some(LineJson::List(parts)) => joined(parts),
                Some(content) => content.to_plain_text(),
                None => object.to_text(),
            };
            (text, end)
        }
        Some(scalar @ (LineJson::Text(_) | LineJson::Bool(_) | LineJson::Number(_))) => {
            (scalar.to_plain_text(), CallEnd::default())
        }
    }
}

fn success_of(object: &LineJson<'_>) -> Option<bool> {
    match object.get("success") {
        Some(LineJson::Bool(success)) => Some(*success),
        Some(_) | None => None,
    }
}

fn joined(parts: &[LineJson<'_>]) -> String {
    let texts: Vec<&str> = parts.iter().filter_map(|part| part.text("text")).collect();
    texts.join("\n")
}

/// Tells whether a text begins with what programs wrap their own texts in.
pub(super) fn is_wrapped(text: &str) -> bool {
    let text = text.trim_start();
    WRAPPERS.iter().any(|begin| text.starts_with(begin))
}

/// Finds the files that a call patches, wherever in its input the patch stands.
fn patched_files(input: &LineJson<'_>) -> Vec<String> {
    let mut files = Vec::new();
    find_files(input, &mut files);
    files
}

fn find_files(input: &LineJson<'_>, files: &mut Vec<String>) {
    match input {
        LineJson::Text(text) if text.contains("*** Begin Patch") => {
            for name in text.lines().filter_map(patched_file) {
                if files.len() < PATCHED_FILES_MAX && !files.iter().any(|file| file == name) {
                    files.push(name.to_owned());
                }
            }
        }
        LineJson::List(items) => items.iter().for_each(|item| find_files(item, files)),
        LineJson::Object(members) => members.iter().for_each(|(_, item)| find_files(item, files)),
        LineJson::Null | LineJson::Bool(_) | LineJson::Number(_) | LineJson::Text(_) => {}
    }
}

fn patched_file(line: &str) -> Option<&str> {
    const HEADS: [&str; 4] =
        ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];
    HEADS.iter().find_map(|head| line.strip_prefix(head)).map(str::trim_end)
}
