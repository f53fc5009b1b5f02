//! The events of Copilot CLI that mean something to the store. It does not say which one it sends.

use agentic_model::Map;

use super::HookMoment;

/// Names and meanings.
pub(super) const EVENTS: &[(&str, HookMoment)] = &[
    ("sessionStart", HookMoment::Begins),
    ("userPromptSubmitted", HookMoment::Prompt),
    ("preToolUse", HookMoment::BeforeTool),
    ("permissionRequest", HookMoment::Asked),
    ("postToolUse", HookMoment::AfterTool),
    ("postToolUseFailure", HookMoment::AfterTool),
    ("subagentStart", HookMoment::SubagentBegins),
    ("subagentStop", HookMoment::SubagentEnds),
    ("agentStop", HookMoment::TurnEnds),
    ("errorOccurred", HookMoment::TurnFails),
    ("preCompact", HookMoment::Compaction),
    ("sessionEnd", HookMoment::Ends),
];

/// Fields of them that are known, beside those of every source.
#[rustfmt::skip]
pub(super) const FIELDS: &[&str] = &[
    "customInstructions", "error", "errorContext", "initialPrompt", "prompt", "reason",
    "recoverable", "source", "stopReason", "trigger",
];

/// Fields by which an event is known, the most telling first. All of a line must be there. A request
/// for leave has those of `preToolUse`, the stricter of the two.
const SIGNS: &[(&[&str], &str)] = &[
    (&["toolName", "toolResult"], "postToolUse"),
    (&["tool_name", "tool_result"], "postToolUse"),
    (&["toolName", "error"], "postToolUseFailure"),
    (&["toolName", "permissionSuggestions"], "permissionRequest"),
    (&["toolName"], "preToolUse"),
    (&["tool_name"], "preToolUse"),
    (&["agentName", "stopReason"], "subagentStop"),
    (&["agentName"], "subagentStart"),
    (&["stopReason"], "agentStop"),
    (&["initialPrompt"], "sessionStart"),
    (&["trigger"], "preCompact"),
    (&["prompt"], "userPromptSubmitted"),
    (&["error"], "errorOccurred"),
    (&["reason"], "sessionEnd"),
    (&["source"], "sessionStart"),
];

/// Tells an event by the fields that it has.
pub(super) fn guess(map: &Map) -> Option<&'static str> {
    let is_there = |signs: &[&str]| signs.iter().all(|sign| map.contains_key(*sign));
    SIGNS.iter().find(|(signs, _)| is_there(signs)).map(|(_, name)| *name)
}
