//! Trying again: what the host does by itself about faults of transport.
//!
//! The program never sees these attempts; each is a record with its error and the instant of the
//! next one, so that neither a crash nor a restart gives an effect more attempts than it has.

use agentic_replay::{EffectClass, Path, Performance};

use super::backlog::wanted;
use super::drive::Driver;
use super::folder::damaged;
use crate::Result;

/// The pause before the second attempt, in milliseconds. It doubles from one to the next.
const PAUSE_MS: i64 = 1000;
/// The longest pause, in milliseconds.
const PAUSE_MS_MAX: i64 = 60_000;
/// Returns the pause after a failed attempt, in milliseconds.
fn pause_ms(attempt: u32) -> i64 {
    let doubled = attempt.saturating_sub(1).min(PAUSE_MS_MAX.ilog2());
    (PAUSE_MS << doubled).min(PAUSE_MS_MAX)
}

/// Returns the pause before the next attempt of an effect, in milliseconds, if there is one left.
pub fn pause_before_next(performance: &Performance, retries_max: u32) -> Option<i64> {
    let retries_max = wanted(&performance.request.payload).unwrap_or(retries_max);
    (performance.attempt <= retries_max).then(|| pause_ms(performance.attempt))
}

impl Driver<'_> {
    /// Lets the attempts begin whose time has come.
    pub(super) fn take_up_retries(&mut self) {
        let due = self.backlog.take_due(self.space.now());
        self.ready.extend(due);
    }

    /// Records a failed attempt, if there is one left; says whether there was.
    pub(super) fn tries_again(&mut self, performance: &Performance, error: &str) -> Result<bool> {
        let request = &performance.request;
        let pause = pause_before_next(performance, self.retries_max(request));
        let Some(pause) = pause.filter(|_| self.is_open(&request.path)) else { return Ok(false) };
        let now = self.space.now();
        let next_at = now.plus_millis(pause);
        let progress = self.session.attempted(&request.path, error, Some(next_at), now);
        let progress = progress.map_err(|error| damaged(&self.folder.id, &error.to_string()))?;
        self.take_in(progress)?;
        Ok(true)
    }

    /// Leaves a request that nobody could answer to whoever goes on with the session next, and says
    /// why. Other branches go on.
    pub(super) fn put_aside(&mut self, path: &Path, why: &str) -> Result<()> {
        self.flush()?;
        agentic_store::fault::point("before-attempt")?;
        let noted = self.session.attempted(path, why, None, self.space.now());
        self.take_in(noted.map_err(|error| damaged(&self.folder.id, &error.to_string()))?)
    }

    /// Records that another attempt begins, where a crash during it has to be told from a crash
    /// before it.
    pub(super) fn note_retry(&mut self, performance: &Performance) -> Result<()> {
        if performance.not_before.is_none() || performance.class != EffectClass::Once {
            return Ok(());
        }
        let progress = self.session.retried(&performance.request.path, self.space.now());
        let progress = progress.map_err(|error| damaged(&self.folder.id, &error.to_string()))?;
        self.take_in(progress)
    }
}

#[cfg(test)]
mod tests {
    use super::pause_ms;

    #[test]
    fn pauses_double_up_to_a_minute() {
        let pauses: Vec<i64> = [1, 2, 3, 6, 7, 8, u32::MAX].map(pause_ms).to_vec();
        assert_eq!(pauses, [1000, 2000, 4000, 32_000, 60_000, 60_000, 60_000]);
    }
}
