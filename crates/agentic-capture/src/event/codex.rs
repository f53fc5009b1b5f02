//! The events of Codex that mean something to the store, and what its older `notify` sends.

use agentic_model::Map;

use super::{HookMoment, fields};

/// What `notify` says when a turn is over; the only thing that it says.
const TURN_COMPLETE: &str = "agent-turn-complete";

/// Names and meanings; those that Claude Code has as well stand there.
pub(super) const EVENTS: &[(&str, HookMoment)] = &[(TURN_COMPLETE, HookMoment::TurnEnds)];

/// Returns the name of what `notify` sent.
pub(super) fn of_notify(map: &Map) -> Option<&str> {
    fields::text(map, &["type"])
}
