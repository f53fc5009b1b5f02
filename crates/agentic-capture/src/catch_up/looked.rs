//! How long it took to look up what is known, and how long lines are mapped for it.
//!
//! An event maps lines for a few milliseconds. Where a cursor was lost and very much waits for a commit, looking that
//! up takes seconds: each event would map one line, and none would come to the end.

use std::time::{Duration, Instant as Moment};

/// The time that was spent on looking up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LookedTime(Duration);

/// When mapping began, and what had been spent on looking up before.
#[derive(Debug, Clone, Copy)]
pub struct MappingStart {
    at: Moment,
    looked: LookedTime,
}

impl LookedTime {
    /// Adds what was spent since an instant.
    pub fn add_since(&mut self, begun: Moment) {
        self.0 += begun.elapsed();
    }

    /// Begins to map.
    pub fn begin(self) -> MappingStart {
        MappingStart { at: Moment::now(), looked: self }
    }

    /// Tells whether lines were mapped for less time than all looking up took.
    pub fn is_worth_more(self, start: MappingStart, now: Moment) -> bool {
        let meanwhile = self.0.saturating_sub(start.looked.0);
        now.saturating_duration_since(start.at) < meanwhile + self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_mapped_as_long_as_looking_up_took_before_or_meanwhile() {
        let at = Moment::now();
        let millis = |millis: u64| Duration::from_millis(millis);
        for (before, in_all, mapped_until) in [(0, 0, 0), (50, 50, 50), (0, 50, 100), (50, 80, 110)]
        {
            let start = MappingStart { at, looked: LookedTime(millis(before)) };
            let looked = LookedTime(millis(in_all));
            assert!(!looked.is_worth_more(start, at + millis(mapped_until)), "{before} {in_all}");
            let just_before = millis(mapped_until).checked_sub(millis(1));
            let is_worth = just_before.map(|time| looked.is_worth_more(start, at + time));
            assert_ne!(is_worth, Some(false), "{before} {in_all}");
        }
    }
}
