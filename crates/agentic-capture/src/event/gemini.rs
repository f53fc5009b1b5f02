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
