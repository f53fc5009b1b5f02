//! Every step of every verb: the process dies there, the step fails there, or git collects its
//! garbage there.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use agentic_testkit::ProgramEnding;

use crate::stage::{Stage, text};
use crate::state::State;
use crate::verb::{VERBS, Verb, Whole};

/// More steps than any verb has; a walk that gets here is broken.
const STEPS_MAX: usize = 400;

/// Every write has at least a record in two halves and its outcome.
const STEPS_MIN: usize = 2;

/// What happens at a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mishap {
    Crash,
    Failure,
    Collection,
}

#[test]
fn a_crash_at_any_step_leaves_all_or_nothing() {
    walk_all(Mishap::Crash);
}

#[test]
fn a_failure_at_any_step_is_told_truly() {
    walk_all(Mishap::Failure);
}

#[test]
fn a_collection_at_any_step_loses_nothing() {
    walk_all(Mishap::Collection);
}

fn walk_all(mishap: Mishap) {
    let n_steps = AtomicUsize::new(0);
    let failures = for_each_verb(|verb| {
        let (steps, broken) = walk(&Stage::new(verb), mishap);
        n_steps.fetch_add(steps, Ordering::Relaxed);
        broken
    });
    println!("{mishap:?}: {} verbs, {} steps", VERBS.len(), n_steps.into_inner());
    assert!(failures.is_empty(), "{} broken promises:\n{}", failures.len(), failures.join("\n"));
}

/// Runs a check for every verb, on all processors.
pub fn for_each_verb(check: impl Fn(&'static Verb) -> Vec<String> + Sync) -> Vec<String> {
    let wanted = std::env::var("AGENTIC_TEST_VERB").ok();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut failures = Vec::new();
        while let Some(verb) = VERBS.get(next.fetch_add(1, Ordering::Relaxed)) {
            if wanted.as_deref().is_none_or(|wanted| verb.name == wanted) {
                let broken = check(verb);
                failures.extend(broken.into_iter().map(|line| format!("{}: {line}", verb.name)));
            }
        }
        failures
    };
    let n_workers = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..n_workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a check panicked")).collect()
    })
}

/// Walks the steps of one verb; returns how many there are, and what is broken.
fn walk(stage: &Stage<'_>, mishap: Mishap) -> (usize, Vec<String>) {
    let (mut broken, mut said) = (Vec::new(), String::new());
    for step in 1..STEPS_MAX {
        stage.rewind();
        let mark = stage.sandbox.root().join("reached");
        let _absent_is_fine = std::fs::remove_file(&mark);
        let at = format!("*:{step}");
        let finished = match mishap {
            Mishap::Crash => stage.run(&[("AGENTIC_CRASH_AT", &at)]),
            Mishap::Failure => stage.run(&[("AGENTIC_FAIL_AT", &at)]),
            Mishap::Collection => {
                let collect = format!("touch {} && git gc --quiet --prune=now", mark.display());
                stage.run(&[("AGENTIC_RUN_AT", &at), ("AGENTIC_RUN", &collect)])
            }
        };
        let is_reached = match mishap {
            Mishap::Crash => finished.ending != ProgramEnding::Exit(0),
            Mishap::Failure => text(&finished).contains("made to fail at"),
            Mishap::Collection => mark.exists(),
        };
        let found = check_step(stage, mishap, &finished.ending);
        broken.extend(found.iter().map(|line| format!("{mishap:?} at step {step}: {line}")));
        if !found.is_empty() {
            broken.push(format!("{mishap:?} at step {step} said: {}", text(&finished)));
        }
        if !is_reached {
            assert!(step > STEPS_MIN, "the binary was built without its crash points");
            return (step - 1, broken);
        }
        said = text(&finished);
    }
    panic!("`{}` never came to its end; it said at last: {said}", stage.verb.name);
}

fn check_step(stage: &Stage<'_>, mishap: Mishap, ending: &ProgramEnding) -> Vec<String> {
    let mut broken = Vec::new();
    let next = stage.next_command();
    if next.ending != ProgramEnding::Exit(0) {
        broken.push(format!("the next command fails: {}", text(&next)));
    }
    let found = State::read(&stage.sandbox);
    if stage.verb.whole == Whole::Always {
        let expected: &[&State] = match (mishap, *ending == ProgramEnding::Exit(0)) {
            (Mishap::Crash, false) => &[&stage.before, &stage.after],
            (_, true) => &[&stage.after],
            (Mishap::Failure | Mishap::Collection, false) => &[&stage.before],
        };
        if !expected.contains(&&found) {
            broken.extend(expected[0].difference("afterwards", &found));
        }
    }
    if mishap == Mishap::Collection && *ending != ProgramEnding::Exit(0) {
        broken.push(format!("the verb ends with {ending:?}"));
    }
    broken.extend(stage.check_sound());
    broken.extend(stage.check_again(&found));
    broken.extend(stage.check_sound());
    broken
}
