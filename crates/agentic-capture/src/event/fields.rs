//! Fields of payloads, by whichever of their spellings is there.

use std::path::PathBuf;

use agentic_model::{Instant, Map, Value};

use super::{EventCall, EventSubagent, HookMoment, NATIVE_ID_BYTES_MAX, TranscriptPath};
use crate::{ConversationId, Source};

/// Fields of every source, in all their spellings.
#[rustfmt::skip]
pub(super) const FIELDS: &[&str] = &[
    "agentId", "agentName", "agentTranscriptPath", "agentType", "agent_id", "agent_name",
    "agent_transcript_path", "agent_type", "args", "call", "callID", "callId", "call_id",
    "command", "conversationId", "conversation_id", "cwd", "directory", "event",
    "hookEventName", "hook_event_name", "output", "parentAgentId", "parent_agent_id",
    "permission", "session", "sessionID", "sessionId", "session_id", "subagentId",
    "subagentType", "subagent_id", "subagent_type", "thread-id", "thread_id", "timestamp",
    "tool", "toolArgs", "toolInput", "toolName", "toolResponse", "toolResult", "toolUseId",
    "tool_args", "tool_input", "tool_name", "tool_output", "tool_response", "tool_result",
    "tool_use_id", "transcriptPath", "transcript_path", "type", "workingDirectory",
    "working_directory", "workspaceRoots", "workspace_roots",
];

/// How vendors call the id of a conversation.
const CONVERSATION: &[&str] =
    &["session_id", "sessionId", "conversation_id", "conversationId", "thread-id", "thread_id"];
/// The same, with those first that Cursor itself uses.
const CONVERSATION_OF_CURSOR: &[&str] =
    &["conversation_id", "conversationId", "session_id", "sessionId"];

/// How they call a tool.
const TOOL: &[&str] = &["tool_name", "toolName", "tool"];

/// Returns the first text among some spellings.
pub(super) fn text<'m>(map: &'m Map, spellings: &[&str]) -> Option<&'m str> {
    spellings.iter().find_map(|spelling| map.get(*spelling)?.as_text())
}

/// Returns the first value among some spellings.
fn value<'m>(map: &'m Map, spellings: &[&str]) -> Option<&'m Value> {
    spellings.iter().find_map(|spelling| map.get(*spelling))
}

/// Returns an id of the vendor's: a text that is not empty, not endless and free of control characters.
pub(super) fn native_id(map: &Map, spellings: &[&str]) -> Option<String> {
    let is_id = |id: &&str| {
        !id.is_empty() && id.len() <= NATIVE_ID_BYTES_MAX && !id.chars().any(char::is_control)
    };
    text(map, spellings).filter(is_id).map(str::to_owned)
}

pub(super) fn conversation(source: Source, map: &Map) -> Option<ConversationId> {
    let spellings = match source {
        Source::Cursor => CONVERSATION_OF_CURSOR,
        Source::Opencode => &["session", "sessionID", "session_id", "sessionId"],
        Source::Claude | Source::Codex | Source::Gemini | Source::Copilot => CONVERSATION,
    };
    native_id(map, spellings).map(|native| ConversationId { source, native })
}

pub(super) fn folder(map: &Map) -> Option<PathBuf> {
    let said = text(map, &["cwd", "working_directory", "workingDirectory", "directory"]);
    let first = || {
        let roots = value(map, &["workspace_roots", "workspaceRoots"])?.as_list()?;
        roots.first()?.as_text()
    };
    said.or_else(first).filter(|path| !path.is_empty()).map(PathBuf::from)
}

pub(super) fn transcript(map: &Map) -> TranscriptPath {
    transcript_of(map, &["transcript_path", "transcriptPath"])
}

fn transcript_of(map: &Map, spellings: &[&str]) -> TranscriptPath {
    match value(map, spellings) {
        None => TranscriptPath::Unsaid,
        Some(Value::Text(path)) if !path.is_empty() => TranscriptPath::At(PathBuf::from(path)),
        Some(_) => TranscriptPath::None,
    }
}

pub(super) fn subagent(moment: HookMoment, map: &Map) -> Option<EventSubagent> {
    let begins_or_ends = matches!(moment, HookMoment::SubagentBegins | HookMoment::SubagentEnds);
    let mut spellings = vec!["agent_id", "agentId", "subagent_id", "subagentId"];
    if begins_or_ends {
        spellings.extend(["agentName", "agent_name"]);
    }
    Some(EventSubagent {
        id: native_id(map, &spellings)?,
        sort: text(map, &["agent_type", "agentType", "subagent_type", "subagentType", "agentName"])
            .unwrap_or_default()
            .to_owned(),
        parent: native_id(map, &["parent_agent_id", "parentAgentId"]),
        transcript: transcript_of(map, &["agent_transcript_path", "agentTranscriptPath"]),
    })
}

pub(super) fn call(map: &Map) -> Option<EventCall> {
    if let Some(permission) = map.get("permission").and_then(Value::as_map) {
        return permission_call(permission);
    }
    let tool = match value(map, TOOL) {
        Some(_) => text(map, TOOL).filter(|tool| !tool.is_empty())?.to_owned(),
        // What Cursor says before it runs a command has no other name for the tool.
        None => text(map, &["command"]).map(|_| "Shell".to_owned())?,
    };
    let input = value(map, &["tool_input", "toolInput", "toolArgs", "tool_args", "args"]).cloned();
    let input = input.unwrap_or_else(|| match map.get("command") {
        Some(command) => Value::map([("command", command.clone())]),
        None => Value::Null,
    });
    let result =
        &["tool_response", "toolResponse", "tool_result", "toolResult", "tool_output", "output"];
    Some(EventCall {
        id: native_id(map, &["tool_use_id", "toolUseId", "callID", "call_id", "callId", "call"]),
        tool,
        input: parsed_if_text(input),
        result: value(map, result).cloned(),
    })
}

/// What opencode asks leave for: its own words, which name no input but the command or the path.
fn permission_call(permission: &Map) -> Option<EventCall> {
    let tool = text(permission, &["type"])?.to_owned();
    let pattern = value(permission, &["pattern"]).cloned().unwrap_or(Value::Null);
    let key = if tool == "bash" { "command" } else { "pattern" };
    let id = native_id(permission, &["callID", "call"]);
    Some(EventCall { id, tool, input: Value::map([(key, pattern)]), result: None })
}

/// Some versions of Copilot pass the arguments as text with JSON in it.
fn parsed_if_text(input: Value) -> Value {
    let parsed = input.as_text().and_then(|text| super::payload::read_value(text).ok());
    parsed.filter(|parsed| parsed.as_map().is_some()).unwrap_or(input)
}

pub(super) fn instant(map: &Map) -> Option<Instant> {
    match map.get("timestamp")? {
        Value::Int(millis) => Some(Instant::from_millis(*millis)),
        Value::Text(text) => Instant::parse(text),
        Value::Null
        | Value::Bool(_)
        | Value::Float(_)
        | Value::Bytes(_)
        | Value::List(_)
        | Value::Map(_)
        | Value::Link(_) => None,
    }
}
