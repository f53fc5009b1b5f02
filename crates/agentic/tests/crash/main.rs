//! The crash model of sessions, walked with the real binary.
//!
//! Every verb that writes a session is broken off at every step between two durable states, alone
//! and followed by a second crash in what recovers; then every step is made to fail as on a full
//! disk. After each of these runs a person goes on as people do: runs the next command, repeats the
//! verb, answers what is asked. Then the invariants must hold (see [`check`]).

mod check;
mod scenario;
mod world;

use std::collections::BTreeMap;
use std::time::Instant;

use agentic_testkit::Templates;
use agentic_testkit::crash::{ANY_POINT, Schedule, walk};

use crate::scenario::Scenario;

/// The points that a walk visits. A torn write needs preparation, so `*` does not count it.
const POINTS: [&str; 2] = [ANY_POINT, "mid-session-record"];
/// The points of a log that is written anew; its other steps are those of every session, hundreds.
const LONG_POINTS: [&str; 2] = ["before-shorter-log", "after-shorter-log"];
/// How many schedules are named for each thing that is wrong.
const SHOWN_MAX: usize = 4;
/// How much of what is wrong is shown, in characters.
const SHOWN_CHARS_MAX: usize = 500;
/// A word of at least so many letters and digits is an id.
const ID_DIGITS_MIN: usize = 9;

/// Walks one scenario and fails with everything that is wrong after some schedule.
fn check_scenario(scenario: &Scenario) {
    check_points(&POINTS, scenario);
}

/// Walks some points of one scenario.
fn check_points(points: &[&'static str], scenario: &Scenario) {
    let templates = Templates::default();
    let mut wrongs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut n_failed = 0;
    let started = Instant::now();
    let n_tried = walk(points, |schedule: &Schedule| {
        let (met, found) = scenario.attempt(schedule, &templates);
        n_failed += usize::from(!found.is_empty());
        for wrong in found {
            wrongs.entry(masked(&wrong)).or_default().push(schedule.to_string());
        }
        met
    });
    let name = scenario.name;
    println!("{name}: {n_tried} schedules, {n_failed} failed, {:?}", started.elapsed());
    assert!(n_failed == 0, "{name}: {n_failed} of {n_tried}:\n{}", told(&wrongs));
}

/// Shows what is wrong, and after how many schedules and which.
fn told(wrongs: &BTreeMap<String, Vec<String>>) -> String {
    let line = |(wrong, schedules): (&String, &Vec<String>)| {
        let shown = schedules[..schedules.len().min(SHOWN_MAX)].join("; ");
        format!("{wrong}\n    {} schedules: {shown}\n", schedules.len())
    };
    wrongs.iter().map(line).collect()
}

/// Leaves out ids and the names of temporary folders, so that the same thing is told once.
fn masked(wrong: &str) -> String {
    let is_id = |word: &str| {
        word.len() >= ID_DIGITS_MIN && word.contains(|c: char| c.is_ascii_digit())
            || word.starts_with("bafy")
    };
    let words = wrong.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    let mask = |word: &str| {
        let bare = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        if is_id(bare) { word.replace(bare, "…") } else { word.to_owned() }
    };
    let text: String = words.map(mask).collect();
    let text = match text.split_once("agentic-") {
        Some((before, after)) if before.ends_with("/tmp/") => {
            let rest = after.split_once('/').map_or("", |(_, rest)| rest);
            format!("{before}…/{rest}")
        }
        _ => text,
    };
    text.chars().take(SHOWN_CHARS_MAX).collect()
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
fn signal() {
    check_scenario(&scenario::SIGNAL);
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

#[test]
fn upgrade() {
    check_scenario(&scenario::UPGRADE);
}

#[test]
fn upgrade_that_asks_more() {
    check_scenario(&scenario::UPGRADE_ASKS);
}

#[test]
fn start_with_a_retry() {
    check_scenario(&scenario::RETRY);
}

#[test]
fn resume_a_retry() {
    check_scenario(&scenario::RETRIED);
}

#[test]
fn tick_escalates_a_hold() {
    check_scenario(&scenario::ESCALATE);
}

#[test]
fn start_of_a_long_log() {
    check_points(&LONG_POINTS, &scenario::LONG_START);
}

#[test]
fn decide_on_a_long_log() {
    check_points(&LONG_POINTS, &scenario::LONG_DECIDE);
}
