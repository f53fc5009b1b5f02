//! When an exchange that failed is made again: what the other side asks for, what the caller bears.

use std::hash::{BuildHasher as _, Hasher as _};
use std::time::Duration;

use super::Received;

/// How often pauses are doubled at most.
const DOUBLINGS_MAX: u32 = 16;

/// Whether a failed call may be made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// It would fail again.
    Never,
    /// After a pause of the caller's choice.
    Later,
    /// Not before this pause, as the other side asked.
    After(Duration),
}

/// How calls that failed are made again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryRule {
    /// How often at most, the first call not counted.
    pub retries_max: u32,
    /// The first pause; each further one is twice as long, stretched by up to a half by chance.
    pub pause_first: Duration,
    /// No pause is longer. A server that asks for a longer one is not asked again.
    pub pause_max: Duration,
}

/// What follows a failed call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nothing.
    GivenUp,
    /// Nothing, for the other side asks for a pause that is too long.
    TooLong(Duration),
    /// Another call, after a pause.
    Again(Duration),
}

impl Default for RetryRule {
    fn default() -> RetryRule {
        RetryRule {
            retries_max: 3,
            pause_first: Duration::from_millis(500),
            pause_max: Duration::from_secs(60),
        }
    }
}

impl RetryRule {
    /// Says what follows after so many failures.
    pub(crate) fn next(&self, retry: Retry, n_failed: u32) -> Next {
        if n_failed > self.retries_max {
            return Next::GivenUp;
        }
        match retry {
            Retry::Never => Next::GivenUp,
            Retry::After(pause) if pause > self.pause_max => Next::TooLong(pause),
            Retry::After(pause) => Next::Again(pause),
            Retry::Later => Next::Again(stretched(self.pause_first, n_failed).min(self.pause_max)),
        }
    }
}

impl Received {
    /// Says whether the same request may be sent again after a refusal, by its status.
    pub fn retry(&self) -> Retry {
        match (self.status, self.retry_after()) {
            (408 | 425 | 429 | 500 | 502..=504 | 529, Some(pause)) => Retry::After(pause),
            (408 | 425 | 429 | 500 | 502..=504 | 529, None) => Retry::Later,
            _ => Retry::Never,
        }
    }

    /// Returns how long the other side asks to be left alone.
    fn retry_after(&self) -> Option<Duration> {
        let number = |name| self.header(name).and_then(|text| text.trim().parse::<f64>().ok());
        let seconds = number("retry-after-ms").map(|millis| millis / 1000.0);
        let seconds = seconds.or_else(|| number("retry-after"))?;
        Duration::try_from_secs_f64(seconds).ok()
    }
}

/// The pause after so many failures, stretched by chance so that many who failed at once do not
/// come back at once.
fn stretched(first: Duration, n_failed: u32) -> Duration {
    let doubled = first.saturating_mul(1u32 << n_failed.saturating_sub(1).min(DOUBLINGS_MAX));
    let chance = std::collections::hash_map::RandomState::new().build_hasher().finish();
    doubled.saturating_add(doubled.mul_f64((chance % 1000) as f64 / 2000.0))
}
