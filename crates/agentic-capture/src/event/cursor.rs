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
