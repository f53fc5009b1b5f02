//! Instants that outlive a program: written down, each is an age.
//!
//! The clock that instants are of has a beginning that no program knows; that of the system may be set.

use std::time::{Duration, Instant};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// When something was that grows old.
#[derive(Debug, Clone, Copy)]
pub struct AgingInstant(Instant);

impl AgingInstant {
    /// Takes this instant.
    pub fn now() -> AgingInstant {
        AgingInstant(Instant::now())
    }

    /// Says how long ago it was.
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

impl Serialize for AgingInstant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.elapsed().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for AgingInstant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<AgingInstant, D::Error> {
        let age = Duration::deserialize(deserializer)?;
        // Nothing is older than the machine; what seems to be counts from now on.
        let now = Instant::now();
        Ok(AgingInstant(now.checked_sub(age).unwrap_or(now)))
    }
}
