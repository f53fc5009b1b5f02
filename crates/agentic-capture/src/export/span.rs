//! Spans of OpenTelemetry as OTLP/JSON, by its conventions for generative AI: a conversation is a
//! trace, in which an agent is invoked, models are asked and tools are called.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::commit::Claims;
use agentic_model::{AgentName, Entry, Instant, Value};
use serde_json::{Value as Json, json};

use super::agent_trace::vendor_of;
use super::commit::ProvedCommit;
use super::digest::hex_id;
use super::{ExportWork, SpanContent, nanoseconds};

/// How long the ids of traces and spans are, in bytes.
const TRACE_BYTES: usize = 16;
const SPAN_BYTES: usize = 8;
/// `SPAN_KIND_INTERNAL` and `SPAN_KIND_CLIENT`.
const INTERNAL: u64 = 1;
const CLIENT: u64 = 3;
/// `STATUS_CODE_ERROR`.
const STATUS_ERROR: u64 = 2;

/// The entries of one agent in one conversation, each once.
#[derive(Default)]
struct AgentEntries<'e> {
    entries: Vec<&'e Entry>,
    seen: BTreeSet<&'e str>,
}

/// Writes the spans of all conversations that some commits came from.
pub(super) fn resource_spans(work: &ExportWork<'_>, commits: &[ProvedCommit]) -> String {
    let mut conversations: BTreeMap<&str, BTreeMap<&AgentName, AgentEntries<'_>>> = BTreeMap::new();
    for (noted, trace) in commits.iter().flat_map(|commit| &commit.traces) {
        for entry in &trace.entries {
            let (Some(conversation), Some(id)) = (text(entry, "conversation"), text(entry, "id"))
            else {
                continue;
            };
            let agents = conversations.entry(conversation).or_default();
            let agent = agents.entry(&noted.agent).or_default();
            // Pieces of a long entry have its id; the first stands for all.
            if agent.seen.insert(id) {
                agent.entries.push(entry);
            }
        }
    }
    let mut resources = Vec::new();
    for (conversation, agents) in &conversations {
        let mut spans = Vec::new();
        for (agent, entries) in agents {
            let parent = parent_of(work, agent, agents);
            spans.extend(AgentSpans { work, conversation, agent }.all(&entries.entries, parent));
        }
        resources.push(json!({
            "resource": { "attributes": [attribute("service.name", "agentic")] },
            "scopeSpans": [{ "scope": { "name": "agentic" }, "spans": spans }],
        }));
    }
    format!("{}\n", json!({ "resourceSpans": resources }))
}

/// Names the agent of the same conversation whose child an agent is.
fn parent_of(
    work: &ExportWork<'_>,
    agent: &AgentName,
    agents: &BTreeMap<&AgentName, AgentEntries<'_>>,
) -> Option<AgentName> {
    // Of an archived agent it is not asked: its span stands beside the others.
    let genesis = work.space.genesis(agent).ok()??;
    Claims::read(&genesis.message).parent.filter(|parent| agents.contains_key(parent))
}

/// The spans of one agent in one conversation.
struct AgentSpans<'s> {
    work: &'s ExportWork<'s>,
    conversation: &'s str,
    agent: &'s AgentName,
}

impl AgentSpans<'_> {
    fn all(&self, entries: &[&Entry], parent: Option<AgentName>) -> Vec<Json> {
        let root = self.root_id(self.agent);
        let times = || entries.iter().map(|entry| entry.at);
        let (Some(first), Some(last)) = (times().min(), times().max()) else { return Vec::new() };
        let source = self.conversation.split_once(':').map_or("", |(source, _)| source);
        let mut attributes = vec![
            attribute("gen_ai.operation.name", "invoke_agent"),
            attribute("gen_ai.agent.name", self.agent.as_str()),
            attribute("gen_ai.conversation.id", self.conversation),
            attribute("agentic.source", source),
        ];
        if self.work.content == SpanContent::Told {
            attributes.extend(self.messages(entries));
        }
        let mut span = self.span(&root, &format!("invoke_agent {}", self.agent), first..last);
        span["attributes"] = Json::Array(attributes);
        if let Some(parent) = parent {
            span["parentSpanId"] = Json::String(self.root_id(&parent));
        }
        let mut spans = vec![span];
        let mut before = first;
        for entry in entries {
            match entry.kind.as_str() {
                "usage" => spans.push(self.chat(entry, before, &root)),
                "tool-call" => spans.push(self.call(entry, entries, &root)),
                _ => {}
            }
            if matches!(entry.kind.as_str(), "prompt" | "tool-result") {
                before = entry.at;
            }
        }
        spans
    }

    /// A question to a model, from what was said before it to its answer.
    fn chat(&self, entry: &Entry, before: Instant, root: &str) -> Json {
        let model = text(entry, "model");
        let name = model.map_or("chat".to_owned(), |model| format!("chat {model}"));
        let mut attributes = vec![
            attribute("gen_ai.operation.name", "chat"),
            attribute("gen_ai.conversation.id", self.conversation),
        ];
        if let Some(model) = model {
            attributes.push(attribute("gen_ai.request.model", model));
            attributes
                .extend(vendor_of(model).map(|vendor| attribute("gen_ai.provider.name", &vendor)));
        }
        let usage = entry.meta.get("usage");
        for (key, name) in [
            ("in", "gen_ai.usage.input_tokens"),
            ("out", "gen_ai.usage.output_tokens"),
            ("cache_read", "gen_ai.usage.cache_read.input_tokens"),
            ("cache_write", "gen_ai.usage.cache_creation.input_tokens"),
        ] {
            let count = usage.and_then(|usage| usage.get(key)).and_then(Value::as_int);
            attributes.extend(count.map(|count| counted(name, count)));
        }
        let mut span = self.span(&self.entry_id(entry), &name, before.min(entry.at)..entry.at);
        span["kind"] = json!(CLIENT);
        span["parentSpanId"] = json!(root);
        span["attributes"] = Json::Array(attributes);
        span
    }

    /// A call of a tool, until its result.
    fn call(&self, entry: &Entry, entries: &[&Entry], root: &str) -> Json {
        let call = text(entry, "call");
        let is_result = |other: &&&Entry| {
            other.kind.as_str() == "tool-result" && call.is_some() && text(other, "call") == call
        };
        let result = entries.iter().find(is_result);
        let tool = text(entry, "tool").unwrap_or("unknown");
        let mut attributes = vec![
            attribute("gen_ai.operation.name", "execute_tool"),
            attribute("gen_ai.tool.name", tool),
            attribute("gen_ai.conversation.id", self.conversation),
        ];
        attributes.extend(call.map(|call| attribute("gen_ai.tool.call.id", call)));
        if self.work.content == SpanContent::Told {
            let said = |entry: &Entry| self.work.clean(entry.body.as_text().unwrap_or_default());
            attributes.push(attribute("gen_ai.tool.call.arguments", &said(entry)));
            attributes
                .extend(result.map(|result| attribute("gen_ai.tool.call.result", &said(result))));
        }
        let until = result.map_or(entry.at, |result| result.at.max(entry.at));
        let mut span =
            self.span(&self.entry_id(entry), &format!("execute_tool {tool}"), entry.at..until);
        span["parentSpanId"] = json!(root);
        span["attributes"] = Json::Array(attributes);
        let has_failed = result.is_some_and(|result| {
            matches!(result.meta.get("error"), Some(Value::Bool(true) | Value::Text(_)))
        });
        if has_failed {
            span["status"] = json!({ "code": STATUS_ERROR });
        }
        span
    }

    /// What people and the agent said, as the conventions want it: messages as JSON.
    fn messages(&self, entries: &[&Entry]) -> Vec<Json> {
        let of = |kind: &str, role: &str| -> String {
            let said = entries.iter().filter(|entry| entry.kind.as_str() == kind);
            let said = said.map(|entry| {
                let text = self.work.clean(entry.body.as_text().unwrap_or_default());
                json!({ "role": role, "parts": [{ "type": "text", "content": text }] })
            });
            Json::Array(said.collect()).to_string()
        };
        vec![
            attribute("gen_ai.input.messages", &of("prompt", "user")),
            attribute("gen_ai.output.messages", &of("reply", "assistant")),
        ]
    }

    fn span(&self, id: &str, name: &str, times: std::ops::Range<Instant>) -> Json {
        json!({
            "traceId": hex_id("otlp", self.conversation, TRACE_BYTES),
            "spanId": id,
            "name": name,
            "kind": INTERNAL,
            "startTimeUnixNano": nanoseconds(times.start),
            "endTimeUnixNano": nanoseconds(times.end),
        })
    }

    fn root_id(&self, agent: &AgentName) -> String {
        hex_id("otlp-agent", &format!("{}\0{agent}", self.conversation), SPAN_BYTES)
    }

    fn entry_id(&self, entry: &Entry) -> String {
        hex_id("otlp-entry", text(entry, "id").unwrap_or_default(), SPAN_BYTES)
    }
}

fn text<'e>(entry: &'e Entry, field: &str) -> Option<&'e str> {
    entry.meta.get(field).and_then(Value::as_text)
}

fn attribute(key: &str, value: &str) -> Json {
    json!({ "key": key, "value": { "stringValue": value } })
}

/// OTLP/JSON writes integers of 64 bits as text.
fn counted(key: &str, count: i64) -> Json {
    json!({ "key": key, "value": { "intValue": count.to_string() } })
}
