//! The one place that reads the time.

use std::time::{SystemTime, UNIX_EPOCH};

use agentic_model::Instant;

/// Where a space takes the time from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Clock {
    /// The machine's clock.
    #[default]
    System,
    /// Always this instant; for tests and for rebuilding.
    Fixed(Instant),
}

impl Clock {
    /// Reads the time.
    pub fn now(self) -> Instant {
        match self {
            Clock::Fixed(instant) => instant,
            Clock::System => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                Instant::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
            }
        }
    }
}
