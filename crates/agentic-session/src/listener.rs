//! Somebody who hears what a program says while its session is being driven.

use agentic_lang_agent::{Capture, TRACE};
use agentic_replay::Event;

/// Who hears what programs say. What is only replayed is not told again.
#[derive(Debug, Clone, Copy)]
pub struct Listener {
    /// Hears an event that has just happened. What led to it may not be durable yet.
    pub hear: fn(&Event),
    /// Whether programs of AgentLang tell the events of their trace, too. Whoever wants these runs no
    /// other program. They are for the listener alone: the trace of the agent has what people are
    /// told.
    pub trace: Capture,
}

impl Listener {
    /// Says whether an event is for the listener alone.
    pub(super) fn keeps(&self, event: &Event) -> bool {
        self.trace == Capture::On && event.kind == TRACE
    }
}
