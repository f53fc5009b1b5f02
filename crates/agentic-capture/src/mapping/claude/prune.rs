//! What Claude Code repeats or encodes: taken out of a line before anything looks into it.

use agentic_model::{Map, Value};

use crate::line_json::LineJson;
use crate::mapping::pictures::decoded_length;

/// How many changed places of one edit are kept.
const HUNKS_MAX: usize = 256;

/// What was taken out of a line and still counts.
#[derive(Debug, Default)]
pub(super) struct ClaudeDropped {
    /// Which places of a file a tool changed.
    pub hunks: Option<Vec<Value>>,
}

/// Takes out copies of files and outputs, signatures, encrypted thoughts and pictures. Lengths stay
/// under the names that the data had.
pub(super) fn prune(json: &mut LineJson<'_>) -> ClaudeDropped {
    let mut dropped = ClaudeDropped::default();
    if json.text("type") == Some("file-history-snapshot") {
        json.take("snapshot");
    }
    let content = json.get_mut("message").and_then(|message| message.get_mut("content"));
    let is_known =
        |content: &&mut LineJson<'_>| content.as_text().is_some() || content.as_list().is_some();
    let Some(content) = content.filter(is_known) else { return dropped };
    content.as_list_mut().into_iter().flatten().for_each(prune_block);
    if let Some(result) = json.take("toolUseResult") {
        dropped.hunks = keep_result(json, result);
    }
    dropped
}

fn prune_block(block: &mut LineJson<'_>) {
    match block.text("type").unwrap_or_default() {
        "thinking" => drop(block.take("signature")),
        "redacted_thinking" => measure(block, "data"),
        "image" | "document" => prune_picture(block),
        "tool_result" => {
            let inner = block.get_mut("content").and_then(LineJson::as_list_mut);
            inner.into_iter().flatten().for_each(prune_block);
        }
        _ => {}
    }
}

fn prune_picture(block: &mut LineJson<'_>) {
    let Some(source) = block.get_mut("source") else { return };
    let is_base64 = source.text("type") == Some("base64");
    let length = match source.text("data") {
        Some(data) if is_base64 => decoded_length(data),
        Some(data) => data.len(),
        None => match source.take("content") {
            Some(content) => content.to_text().len(),
            None => return,
        },
    };
    source.put("data", LineJson::number_of(length));
}

/// Puts the length of a text in its place.
fn measure(block: &mut LineJson<'_>, key: &'static str) {
    if let Some(length) = block.text(key).map(str::len) {
        block.put(key, LineJson::number_of(length));
    }
}

/// Of what a tool returned only the path and the changed places are kept, and which subagent it was.
fn keep_result(json: &mut LineJson<'_>, mut result: LineJson<'_>) -> Option<Vec<Value>> {
    let mut kept = LineJson::Object(Vec::new());
    for key in ["filePath", "agentId"] {
        if let Some(text) = result.text(key) {
            kept.put(key, LineJson::text_of(text));
        }
    }
    json.put("toolUseResult", kept);
    let patch = result.take("structuredPatch")?;
    let hunks = patch.as_list()?.iter().take(HUNKS_MAX).filter_map(hunk);
    Some(hunks.collect())
}

fn hunk(hunk: &LineJson<'_>) -> Option<Value> {
    let place = ["oldStart", "oldLines", "newStart", "newLines"];
    let place = place.iter().map(|name| hunk.int(name).map(Value::Int));
    place.collect::<Option<Vec<Value>>>().map(Value::List)
}

/// Says which places of a file a tool changed.
pub(super) fn edit(path: &str, hunks: Vec<Value>) -> Value {
    Value::Map(Map::from([
        ("path".to_owned(), Value::text(path)),
        ("hunks".to_owned(), Value::List(hunks)),
    ]))
}
