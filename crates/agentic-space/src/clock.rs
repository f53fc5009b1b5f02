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
    /// Always this instant in what is written. What falls due goes by the machine's clock: so whoever dates
    /// their commits ends nothing that waits for a person.
    Dated(Instant),
}

impl Clock {
    /// Reads the time that writes bear.
    pub fn now(self) -> Instant {
        match self {
            Clock::Fixed(instant) | Clock::Dated(instant) => instant,
            Clock::System => machine_time(),
        }
    }

    /// Reads the time by which something falls due.
    pub fn due_time(self) -> Instant {
        match self {
            Clock::Fixed(instant) => instant,
            Clock::Dated(_) | Clock::System => machine_time(),
        }
    }
}

fn machine_time() -> Instant {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Instant::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
