//! The events of Gemini CLI that mean something to the store.

use super::HookMoment;

/// Names and meanings.
pub(super) const EVENTS: &[(&str, HookMoment)] = &[
    ("SessionStart", HookMoment::Begins),
    ("BeforeAgent", HookMoment::Prompt),
    ("BeforeTool", HookMoment::BeforeTool),
    ("AfterTool", HookMoment::AfterTool),
    ("AfterAgent", HookMoment::TurnEnds),
    ("PreCompress", HookMoment::Compaction),
    ("SessionEnd", HookMoment::Ends),
];

/// Fields of them that are known, beside those of every source.
#[rustfmt::skip]
pub(super) const FIELDS: &[&str] = &[
    "details", "llm_request", "llm_response", "mcp_context", "message", "notification_type",
    "original_request_name", "prompt", "prompt_response", "reason", "source",
    "stop_hook_active", "trigger",
];
