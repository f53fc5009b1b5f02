//! The events of Codex that mean something to the store, and what its older `notify` sends.

use agentic_model::Map;

use super::{HookMoment, fields};

/// What `notify` says when a turn is over; the only thing that it says.
const TURN_COMPLETE: &str = "agent-turn-complete";

/// Names and meanings; those that Claude Code has as well stand there.
pub(super) const EVENTS: &[(&str, HookMoment)] = &[(TURN_COMPLETE, HookMoment::TurnEnds)];

/// Fields of them that are known, beside those of every source.
#[rustfmt::skip]
pub(super) const FIELDS: &[&str] = &[
    "error", "input-messages", "last-assistant-message", "last_assistant_message", "model",
    "permission_mode", "prompt", "reason", "source", "stop_hook_active", "trigger", "turn-id",
    "turn_id",
];

/// Returns the name of what `notify` sent.
pub(super) fn of_notify(map: &Map) -> Option<&str> {
    fields::text(map, &["type"])
}
