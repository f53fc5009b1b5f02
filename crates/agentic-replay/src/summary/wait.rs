//! What an ask without an answer waits for.

use agentic_model::Instant;

use super::AskedRequest;
use crate::HoldReason;

/// The pause after which whoever only watches asks again, in milliseconds. It doubles each time.
const PAUSE_MS: i64 = 60_000;
/// The longest such pause, in milliseconds.
const PAUSE_MS_MAX: i64 = 3_600_000;

/// When an effect is tried again.
#[derive(Debug, Clone, Copy)]
pub(super) enum NextAttempt {
    /// At an instant.
    At(Instant),
    /// When somebody goes on with the session: nobody could answer at this instant.
    Left(Instant),
}

/// What an ask without an answer waits for.
pub(super) enum WaitsFor {
    Human(HoldReason),
    Instant(Instant),
    Child,
    /// Somebody who can answer: when whoever only watches asks again, and what stood in the way.
    Somebody(Instant, String),
    /// Whoever performs it, or its withdrawal.
    Performer,
}

impl WaitsFor {
    /// Tells that nobody could answer a request at its last attempt, which was made at an instant.
    pub fn somebody(asked: &AskedRequest, at: Instant) -> WaitsFor {
        let Some(last) = asked.attempts.last() else { return WaitsFor::Performer };
        let doubled = last.n.saturating_sub(1).min(PAUSE_MS_MAX.ilog2());
        let again_at = at.plus_millis((PAUSE_MS << doubled).min(PAUSE_MS_MAX));
        WaitsFor::Somebody(again_at, last.error.clone())
    }
}
