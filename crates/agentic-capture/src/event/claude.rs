//! The events of Claude Code that mean something to the store.

use super::HookMoment;

/// Names and meanings.
pub(super) const EVENTS: &[(&str, HookMoment)] = &[
    ("SessionStart", HookMoment::Begins),
    ("UserPromptSubmit", HookMoment::Prompt),
    ("PreToolUse", HookMoment::BeforeTool),
    ("PermissionRequest", HookMoment::Asked),
    ("PostToolUse", HookMoment::AfterTool),
    ("PostToolUseFailure", HookMoment::AfterTool),
    ("PostToolBatch", HookMoment::ToolBatch),
    ("SubagentStart", HookMoment::SubagentBegins),
    ("SubagentStop", HookMoment::SubagentEnds),
    ("Stop", HookMoment::TurnEnds),
    ("StopFailure", HookMoment::TurnFails),
    ("PreCompact", HookMoment::Compaction),
    ("PostCompact", HookMoment::Compaction),
    ("SessionEnd", HookMoment::Ends),
    ("WorktreeCreate", HookMoment::WorktreeWanted),
    ("WorktreeRemove", HookMoment::WorktreeDone),
    ("PermissionDenied", HookMoment::Noted("permission-denied")),
    ("Notification", HookMoment::Noted("notification")),
];

/// Fields of them that are known, beside those of every source.
#[rustfmt::skip]
pub(super) const FIELDS: &[&str] = &[
    "action", "agent_id", "background_tasks", "command_args", "command_name", "command_source",
    "compact_summary", "content", "context_tokens", "custom_instructions", "delta", "directory",
    "duration_ms", "error", "error_details", "event", "expansion_type", "file_path", "final",
    "from_model", "hook_event_name", "index", "is_interrupt", "last_assistant_message",
    "load_reason", "mcp_server_name", "memory_type", "message", "message_id", "mode", "model",
    "name", "new_cwd", "notification_type", "old_cwd", "permission_mode",
    "permission_suggestions", "prompt", "prompt_id", "reason", "requested_model",
    "requested_schema", "session_crons", "source", "stop_hook_active", "task_description",
    "task_id", "task_subject", "team_name", "teammate_name", "title", "to_model", "tool_calls",
    "trigger", "turn_id", "worktree_path",
];
