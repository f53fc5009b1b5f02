//! Crash schedules: at which steps a program is made to die, or to find the disk full.
//!
//! A binary with the feature `crash-points` obeys `AGENTIC_CRASH_AT` and `AGENTIC_FAIL_AT`. The
//! name `*` counts every step between two durable states, so a [`walk`] visits all of them without
//! knowing their names: it breaks off at step 1, 2, 3 … until the program comes through unharmed.
//! A second fault may follow in what recovers from the first.

use std::fmt;
use std::process::Command;

use crate::process::ProgramEnding;

/// How many steps a walk may take; no verb has nearly as many.
pub const STEPS_MAX: u64 = 400;
/// The signal of a process that aborts.
const ABORTED: i32 = 6;
/// The name that stands for every point.
pub const ANY_POINT: &str = "*";

/// What happens at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InjectedFault {
    /// The process is gone at once.
    Crash,
    /// The step fails, as on a full disk.
    Fail,
}

/// One fault: the n-th visit of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrashFault {
    /// What happens.
    pub harm: InjectedFault,
    /// The name of the point, or [`ANY_POINT`].
    pub point: &'static str,
    /// Which visit, from 1.
    pub visit: u64,
}

/// The faults of one run: in the verb that is watched, and in the command after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// The fault in the verb.
    pub first: CrashFault,
    /// The fault in the first command that recovers.
    pub second: Option<CrashFault>,
}

/// Whether a fault was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a walk ends when a fault is not met"]
pub enum FaultEncounter {
    /// The process died of it.
    Yes,
    /// The process never came that far.
    No,
}

impl CrashFault {
    /// Arms a command with the fault.
    pub fn arm(&self, command: &mut Command) {
        let variable = match self.harm {
            InjectedFault::Crash => "AGENTIC_CRASH_AT",
            InjectedFault::Fail => "AGENTIC_FAIL_AT",
        };
        command.env(variable, format!("{}:{}", self.point, self.visit));
    }
}

impl FaultEncounter {
    /// Tells from the end of a process whether it met its crash.
    pub fn of(ending: ProgramEnding) -> FaultEncounter {
        match ending {
            ProgramEnding::Signal(ABORTED) => FaultEncounter::Yes,
            ProgramEnding::Exit(_) | ProgramEnding::Signal(_) | ProgramEnding::TimeLimit => {
                FaultEncounter::No
            }
        }
    }
}

impl fmt::Display for CrashFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let harm = match self.harm {
            InjectedFault::Crash => "crash",
            InjectedFault::Fail => "failure",
        };
        write!(f, "{harm} at {}:{}", self.point, self.visit)
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first)?;
        match &self.second {
            Some(second) => write!(f, ", then {second}"),
            None => Ok(()),
        }
    }
}

/// Tries a crash at every visit of the named points, alone and followed by a second crash, then a
/// failure at every visit. `attempt` runs the verb once and tells whether its crash was met.
/// Returns how many schedules were tried.
///
/// # Panics
/// Panics when the first visit of the first point is not met: the binary then has no crash points,
/// and a walk over nothing would look like success.
pub fn walk(points: &[&'static str], mut attempt: impl FnMut(&Schedule) -> FaultEncounter) -> u64 {
    let mut n_tried = 0;
    let mut attempt = |schedule: &Schedule| {
        n_tried += 1;
        attempt(schedule)
    };
    for point in points {
        let n_visits = walk_crashes(point, &mut attempt);
        assert!(n_visits > 0 || *point != points[0], "`{point}` is never visited");
        for visit in 1..=n_visits {
            let first = CrashFault { harm: InjectedFault::Fail, point, visit };
            let _a_failure_is_no_death = attempt(&Schedule { first, second: None });
        }
    }
    n_tried
}

/// Returns how many visits a crash was met at.
fn walk_crashes(point: &'static str, attempt: &mut impl FnMut(&Schedule) -> FaultEncounter) -> u64 {
    for visit in 1..=STEPS_MAX {
        let first = CrashFault { harm: InjectedFault::Crash, point, visit };
        if attempt(&Schedule { first, second: None }) == FaultEncounter::No {
            return visit - 1;
        }
        let second =
            CrashFault { harm: InjectedFault::Crash, point: ANY_POINT, visit: second_visit(visit) };
        let _met_as_before = attempt(&Schedule { first, second: Some(second) });
    }
    STEPS_MAX
}

/// Spreads the second faults over the early steps of what recovers, the same way every time.
fn second_visit(visit: u64) -> u64 {
    const SPREAD: u64 = 11;
    visit * 7 % SPREAD + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_visits_every_step_until_the_end() {
        let mut seen = Vec::new();
        let n_tried = walk(&[ANY_POINT, "rare"], |schedule| {
            seen.push(schedule.to_string());
            let n_steps = if schedule.first.point == ANY_POINT { 2 } else { 0 };
            if schedule.first.visit <= n_steps { FaultEncounter::Yes } else { FaultEncounter::No }
        });
        assert_eq!(n_tried, 8);
        assert_eq!(
            seen,
            [
                "crash at *:1",
                "crash at *:1, then crash at *:8",
                "crash at *:2",
                "crash at *:2, then crash at *:4",
                "crash at *:3",
                "failure at *:1",
                "failure at *:2",
                "crash at rare:1",
            ]
        );
    }

    #[test]
    #[should_panic(expected = "never visited")]
    fn a_walk_over_nothing_is_no_success() {
        walk(&[ANY_POINT], |_| FaultEncounter::No);
    }
}
