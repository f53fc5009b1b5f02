//! The events of Cursor that mean something to the store.

use super::HookMoment;

/// Names and meanings.
pub(super) const EVENTS: &[(&str, HookMoment)] = &[
    ("sessionStart", HookMoment::Begins),
    ("beforeSubmitPrompt", HookMoment::Prompt),
    ("preToolUse", HookMoment::BeforeTool),
    ("beforeShellExecution", HookMoment::BeforeTool),
    ("beforeMCPExecution", HookMoment::BeforeTool),
    ("postToolUse", HookMoment::AfterTool),
    ("postToolUseFailure", HookMoment::AfterTool),
    ("afterFileEdit", HookMoment::FileChanged),
    ("subagentStart", HookMoment::SubagentBegins),
    ("subagentStop", HookMoment::SubagentEnds),
    ("stop", HookMoment::TurnEnds),
    ("preCompact", HookMoment::Compaction),
    ("sessionEnd", HookMoment::Ends),
];

/// Fields of them that are known, beside those of every source.
#[rustfmt::skip]
pub(super) const FIELDS: &[&str] = &[
    "attachments", "composer_mode", "content", "context_tokens", "context_usage_percent",
    "context_window_size", "cursor_version", "duration", "duration_ms", "edits",
    "error_message", "failure_type", "file_path", "final_status", "generation_id",
    "is_background_agent", "is_first_compaction", "is_interrupt", "loop_count", "message_count",
    "messages_to_compact", "model", "prompt", "reason", "result_json", "sandbox", "status",
    "text", "tool_calls_count", "trigger", "url", "user_email",
];
