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
