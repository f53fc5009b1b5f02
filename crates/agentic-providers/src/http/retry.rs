//! When an exchange that failed is made again: what the other side asks for, what the caller bears.

use std::hash::{BuildHasher as _, Hasher as _};
use std::time::Duration;

use agentic_model::Instant;

use super::HttpReply;
use crate::host::system_now;

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

impl HttpReply {
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
        let millis = self.header("retry-after-ms").and_then(number);
        if let Some(millis) = millis {
            return Duration::try_from_secs_f64(millis / 1000.0).ok();
        }
        pause_of(self.header("retry-after")?, system_now())
    }
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok()
}

/// Reads a pause: a number of seconds, or the instant of its end.
fn pause_of(text: &str, now: Instant) -> Option<Duration> {
    if let Some(seconds) = number(text) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let left_ms = http_date(text)?.millis().saturating_sub(now.millis());
    Some(Duration::from_millis(left_ms.max(0).unsigned_abs()))
}

/// Reads a date as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT`.
fn http_date(text: &str) -> Option<Instant> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const MONTH_LETTERS: usize = 3;
    let (_, date) = text.trim().split_once(", ")?;
    let words: Vec<&str> = date.split(' ').collect();
    let [day, month, year, time, "GMT"] = words[..] else { return None };
    let is_month = |at: &usize| month.len() == MONTH_LETTERS && at.is_multiple_of(MONTH_LETTERS);
    let month = MONTHS.find(month).filter(is_month)? / MONTH_LETTERS + 1;
    Instant::parse(&format!("{year}-{month:02}-{day}T{time}Z"))
}

/// The pause after so many failures, stretched by chance so that many who failed at once do not
/// come back at once.
fn stretched(first: Duration, n_failed: u32) -> Duration {
    let doubled = first.saturating_mul(1u32 << n_failed.saturating_sub(1).min(DOUBLINGS_MAX));
    let chance = std::collections::hash_map::RandomState::new().build_hasher().finish();
    doubled.saturating_add(doubled.mul_f64((chance % 1000) as f64 / 2000.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wanted_ms: Option<u64>) {
        let now = Instant::parse("1994-11-06T08:49:37Z").expect("an instant");
        assert_eq!(pause_of(text, now), wanted_ms.map(Duration::from_millis), "{text}");
    }

    #[test]
    fn a_pause_is_a_number_or_ends_at_an_instant() {
        check("2", Some(2000));
        check(" 0.5 ", Some(500));
        check("Sun, 06 Nov 1994 08:49:40 GMT", Some(3000));
        check("Sun, 06 Nov 1994 08:49:30 GMT", Some(0));
        check("Sun, 06 Dec 1994 08:49:37 GMT", Some(30 * 24 * 60 * 60 * 1000));
        for text in ["", "soon", "-1", "NaN", "1e999", "Sun, 06 ovD 1994 08:49:40 GMT"] {
            check(text, None);
        }
        check("Sun, 6 Nov 1994", None);
        check("Sun, 99 Nov 1994 08:49:40 GMT", None);
    }
}
