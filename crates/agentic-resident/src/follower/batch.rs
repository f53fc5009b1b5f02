//! Which changes are looked at together: where few come, each at once; where many do, those of a moment.

use std::time::{Duration, Instant};

/// Where many changes come, those of so long are looked at together.
const BATCH: Duration = Duration::from_millis(40);
/// So many of that time are looked at one by one before.
const FEW: usize = 8;

/// The changes of a moment.
pub struct ChangeBatch {
    begun: Instant,
    n_changes: usize,
    /// Whether the moment before had many.
    was_busy: bool,
}

impl ChangeBatch {
    /// Begins with none.
    pub fn begin() -> ChangeBatch {
        ChangeBatch { begun: Instant::now(), n_changes: 0, was_busy: false }
    }

    /// Takes how many changes were noticed; returns how long to wait for more that are looked at with
    /// them, if many come.
    pub fn rest_after(&mut self, n_changes: usize, now: Instant) -> Option<Duration> {
        let passed = now.duration_since(self.begun);
        if passed >= BATCH {
            // Behind a pause it is quiet again.
            let was_busy = self.was_busy && passed < 3 * BATCH;
            *self = ChangeBatch { begun: now, n_changes: 0, was_busy };
        }
        self.n_changes += n_changes;
        let is_busy = n_changes > 0 && (self.was_busy || self.n_changes > FEW);
        let rest = BATCH.saturating_sub(now.duration_since(self.begun));
        (is_busy && !rest.is_zero()).then_some(rest)
    }

    /// Takes how many changes came together in the end.
    pub fn end(&mut self, n_changes: usize) {
        self.was_busy = n_changes > FEW;
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{BATCH, ChangeBatch, FEW};

    #[test]
    fn few_are_looked_at_at_once_and_many_together() {
        let mut batch = ChangeBatch::begin();
        let begun = batch.begun;
        let at = |millis| begun + Duration::from_millis(millis);
        assert_eq!(batch.rest_after(FEW, at(0)), None, "few");
        assert_eq!(batch.rest_after(1, at(10)), Some(BATCH - Duration::from_millis(10)), "many");
        batch.end(FEW + 1);
        assert_eq!(batch.rest_after(1, at(50)), Some(BATCH), "many came before");
        batch.end(1);
        assert_eq!(batch.rest_after(1, at(100)), None, "few came before");
    }

    #[test]
    fn behind_a_pause_nothing_waits() {
        let mut batch = ChangeBatch::begin();
        batch.end(100);
        let later: Instant = batch.begun + 3 * BATCH;
        assert_eq!(batch.rest_after(1, later), None);
    }
}
