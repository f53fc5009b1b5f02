//! Records of Agent Trace, RFC 0.1.0 (<https://agent-trace.dev>): which lines of which files a
//! conversation brought.

use std::collections::BTreeMap;

use serde_json::{Map as JsonMap, Value as Json, json};
use uuid::Uuid;

use super::ExportWork;
use super::commit::{ProvedCommit, ProvedRange};
use super::digest::content_hash;
use crate::Source;

/// The version of the RFC.
const VERSION: &str = "0.1.0";
/// How long the name of a model may be, by the RFC, in characters.
const MODEL_CHARS_MAX: usize = 250;
/// How the names of models begin, by who makes them, as models.dev names those.
const VENDORS: [(&str, &str); 12] = [
    ("claude", "anthropic"),
    ("gpt", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
    ("codex", "openai"),
    ("gemini", "google"),
    ("grok", "xai"),
    ("deepseek", "deepseek"),
    ("mistral", "mistral"),
    ("kimi", "moonshotai"),
    ("qwen", "alibaba"),
];

/// What lines of a file are told of together.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ToldGroup {
    conversation: Option<String>,
    contributor: &'static str,
    model: Option<String>,
    traces: Vec<String>,
}

/// Writes the record of a commit.
pub(super) fn record(work: &ExportWork<'_>, commit: &ProvedCommit) -> String {
    let oid = commit.info.oid;
    let files: Vec<Json> = commit
        .files
        .iter()
        .map(|(path, ranges)| json!({ "path": path, "conversations": conversations(commit, ranges) }))
        .collect();
    let mut record = json!({
        "version": VERSION,
        "id": Uuid::new_v5(&Uuid::NAMESPACE_URL, format!("agentic:{oid}").as_bytes()).to_string(),
        "timestamp": commit.info.at.to_string(),
        "vcs": { "type": "git", "revision": oid.to_string() },
        "files": files,
        "metadata": { "dev.agentic": about(work, commit) },
    });
    if let Some(tool) = tool(commit) {
        record["tool"] = tool;
    }
    format!("{record}\n")
}

fn conversations(commit: &ProvedCommit, ranges: &[ProvedRange]) -> Vec<Json> {
    let mut groups: BTreeMap<ToldGroup, Vec<Json>> = BTreeMap::new();
    for range in ranges {
        let edit = range.edit.as_ref();
        let conversation = match edit.and_then(|edit| edit.conversation.clone()) {
            Some(conversation) => Some(conversation),
            None => commit.conversation_of(&range.traces),
        };
        let group = ToldGroup {
            conversation,
            contributor: if edit.is_some() { "ai" } else { "mixed" },
            model: edit.and_then(|edit| edit.model.as_deref()).and_then(model_id),
            traces: range.traces.iter().map(ToString::to_string).collect(),
        };
        groups.entry(group).or_default().push(json!({
            "start_line": range.first,
            "end_line": range.last,
            "content_hash": content_hash(&range.content),
        }));
    }
    groups.into_iter().map(|(group, ranges)| told(&group, ranges)).collect()
}

fn told(group: &ToldGroup, ranges: Vec<Json>) -> Json {
    let related = group.traces.iter();
    let related =
        related.map(|cid| json!({ "type": "trace", "url": format!("agentic:trace/{cid}") }));
    let mut told = json!({
        "contributor": { "type": group.contributor },
        "ranges": ranges,
        "related": related.collect::<Vec<Json>>(),
    });
    if let Some((source, id)) = group.conversation.as_deref().and_then(|it| it.split_once(':')) {
        let url = format!("agentic:conversation/{source}/{}", url_part(id));
        told["url"] = Json::String(url);
    }
    if let Some(model) = &group.model {
        told["contributor"]["model_id"] = Json::String(model.clone());
    }
    told
}

/// Names a model with who makes it; nothing where its name does not say that.
pub(super) fn model_id(model: &str) -> Option<String> {
    let vendor = VENDORS.iter().find(|(begin, _)| model.starts_with(begin));
    let named = match (model.contains('/'), vendor) {
        (true, _) => model.to_owned(),
        (false, Some((_, vendor))) => format!("{vendor}/{model}"),
        (false, None) => return None,
    };
    (named.chars().count() <= MODEL_CHARS_MAX).then_some(named)
}

/// Returns who makes a model, by the same names.
pub(super) fn vendor_of(model: &str) -> Option<String> {
    Some(model_id(model)?.split_once('/')?.0.to_owned())
}

/// Writes what may not stand in an address as `%XX`.
fn url_part(text: &str) -> String {
    let mut part = String::new();
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'-' | b'.' | b'_' | b'~' => {
                part.push(char::from(byte));
            }
            _ => part.push_str(&format!("%{byte:02X}")),
        }
    }
    part
}

/// Names the coding agent, where all conversations are of one.
fn tool(commit: &ProvedCommit) -> Option<Json> {
    let conversations = commit.conversations();
    let mut sources = conversations.iter().filter_map(|it| Some(it.split_once(':')?.0));
    let first = sources.next()?;
    let source = Source::parse(first).ok().filter(|_| sources.all(|other| other == first))?;
    Some(json!({ "name": source.to_string() }))
}

/// What else is known of a commit, in our own words.
fn about(work: &ExportWork<'_>, commit: &ProvedCommit) -> Json {
    let mut about = JsonMap::new();
    let agents = commit.agents();
    match agents.as_slice() {
        [only] => about.insert("agent".to_owned(), json!(only.as_str())),
        several => {
            let names: Vec<&str> = several.iter().map(|name| name.as_str()).collect();
            about.insert("agents".to_owned(), json!(names))
        }
    };
    let claims = &commit.claims;
    let kind = claims.kind.as_ref().map_or("commit", |kind| kind.as_str());
    about.insert("kind".to_owned(), json!(kind));
    if let Some(briefing) = agents.first().and_then(|agent| briefing(work, agent)) {
        about.insert("briefing".to_owned(), json!(briefing));
    }
    if let Some(session) = &claims.session {
        about.insert("session".to_owned(), json!(session));
    }
    about.insert("how".to_owned(), json!(commit.origin.proof.as_str()));
    Json::Object(about)
}

/// Names the briefing of an agent, as far as that is here.
pub(super) fn briefing(work: &ExportWork<'_>, agent: &agentic_model::AgentName) -> Option<String> {
    Some(work.space.briefing(agent).ok()?.0.to_string())
}
