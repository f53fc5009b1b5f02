//! The crash model of sessions, walked with the real binary.
//!
//! Every verb that writes a session is broken off at every step between two durable states, alone
//! and followed by a second crash in what recovers; then every step is made to fail as on a full
//! disk. After each of these runs a person goes on as people do: runs the next command, repeats the
//! verb, answers what is asked. Then the invariants must hold (see [`check`]).

mod check;
mod scenario;
mod world;

use std::time::Instant;

use agentic_testkit::Templates;
use agentic_testkit::crash::{ANY_POINT, Schedule, walk};

use crate::scenario::Scenario;

/// The points that a walk visits. A torn write needs preparation, so `*` does not count it.
const POINTS: [&str; 2] = [ANY_POINT, "mid-session-record"];
/// How many failed schedules are shown.
const SHOWN_MAX: usize = 12;

/// Walks one scenario and fails with every schedule after which an invariant does not hold.
fn check_scenario(scenario: &Scenario) {
    let templates = Templates::default();
    let mut failures = Vec::new();
    let started = Instant::now();
    let n_tried = walk(&POINTS, |schedule: &Schedule| {
        let (met, result) = scenario.attempt(schedule, &templates);
        failures.extend(result.err().map(|wrong| format!("{schedule}: {wrong}")));
        met
    });
    let n_failed = failures.len();
    let name = scenario.name;
    println!("{name}: {n_tried} schedules, {n_failed} failed, {:?}", started.elapsed());
    failures.truncate(SHOWN_MAX);
    assert!(n_failed == 0, "{name}: {n_failed} of {n_tried}:\n{}", failures.join("\n"));
}

#[test]
fn start() {
    check_scenario(&scenario::START);
}

#[test]
fn resume() {
    check_scenario(&scenario::RESUME);
}

#[test]
fn tick_fires_a_timer() {
    check_scenario(&scenario::TICK_TIMER);
}

#[test]
fn tick_expires_a_hold() {
    check_scenario(&scenario::TICK_EXPIRY);
}

#[test]
fn decide() {
    check_scenario(&scenario::DECIDE);
}

#[test]
fn permit() {
    check_scenario(&scenario::PERMIT);
}

#[test]
fn cancel() {
    check_scenario(&scenario::CANCEL);
}

#[test]
fn kill() {
    check_scenario(&scenario::KILL);
}

#[test]
fn fork() {
    check_scenario(&scenario::FORK);
}
