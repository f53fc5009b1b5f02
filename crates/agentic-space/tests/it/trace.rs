//! Traces: pending, bound to a commit, and read again.

use agentic_space::Error;
use agentic_space::commit::{Emptiness, TraceBinding, commit};
use agentic_space::error::CommitError;

use crate::place::{Place, draft, kind, name};

/// Adds an entry to the trace of alice.
fn add(place: &Place, text: &str) -> u64 {
    let added = place.space.add_trace(&name("alice"), &kind("log"), text.as_bytes());
    added.expect("there is room").n_pending
}

/// Returns the texts of the pending entries of alice.
fn pending(place: &Place) -> Vec<String> {
    let entries = place.space.pending_trace(&name("alice")).expect("sound");
    entries.iter().filter_map(|entry| entry.body.as_text().map(str::to_owned)).collect()
}

#[test]
fn entries_wait_in_order_until_a_commit_takes_all_of_them() {
    let place = Place::with(&["alice"]);
    assert_eq!([add(&place, "one"), add(&place, "two")], [1, 2]);
    place.commit("alice", &[("a", Some("1"))]).expect("there is room");
    assert_eq!(pending(&place), ["one", "two"], "a commit without its trace leaves them");
    let mut traced = draft("With trace", &[("a", Some("2"))]);
    traced.capture = TraceBinding::WithTrace;
    let done = commit(&place.space, &name("alice"), &traced).expect("there is room");
    assert_eq!(pending(&place), Vec::<String>::new());
    let shown = place.space.trace_of_commit(done.commit).expect("it is bound");
    assert_eq!(Some(shown.cid), done.trace);
    let texts: Vec<_> = shown.trace.entries.iter().filter_map(|one| one.body.as_text()).collect();
    assert_eq!(texts, ["one", "two"]);
    assert_eq!(add(&place, "three"), 1, "what comes after it is of the next commit");
}

#[test]
fn entries_outlive_the_handle_that_took_them() {
    let place = Place::with(&["alice"]);
    add(&place, "one");
    let again = place.open_again();
    let entries = again.pending_trace(&name("alice")).expect("sound");
    assert_eq!(entries.len(), 1);
}

#[test]
fn a_trace_is_bound_later_to_a_commit_of_the_agent_alone() {
    let place = Place::with(&["alice", "bob"]);
    let theirs = place.commit("bob", &[("b", Some("1"))]).expect("there is room").commit;
    let ours = place.commit("alice", &[("a", Some("1"))]).expect("there is room").commit;
    add(&place, "one");
    let foreign = place.space.attach_trace(&name("alice"), theirs);
    assert!(matches!(foreign, Err(Error::Commit(CommitError::Foreign { .. }))), "{foreign:?}");
    assert_eq!(pending(&place), ["one"]);
    let bound = place.space.attach_trace(&name("alice"), ours).expect("it is hers");
    assert_eq!(bound.commit, ours);
    assert_eq!(pending(&place), Vec::<String>::new());
    let note = place.git(&["notes", "--ref=agentic/alice", "show", &ours.to_string()]);
    assert!(note.contains(&bound.cid.to_string()), "git shows the trace as a note: {note}");
    let nothing = place.space.attach_trace(&name("alice"), ours);
    assert!(matches!(nothing, Err(Error::Commit(CommitError::NoTrace { .. }))), "{nothing:?}");
}

#[test]
fn a_commit_that_fails_takes_no_trace() {
    let place = Place::with(&["alice"]);
    add(&place, "one");
    let mut hostile = draft("Hostile", &[(".git/config", Some("x"))]);
    hostile.capture = TraceBinding::WithTrace;
    assert!(commit(&place.space, &name("alice"), &hostile).is_err());
    assert_eq!(pending(&place), ["one"]);
    let mut empty = draft("Only the trace", &[]);
    (empty.capture, empty.emptiness) = (TraceBinding::WithTrace, Emptiness::Allowed);
    commit(&place.space, &name("alice"), &empty).expect("it says something");
    assert_eq!(pending(&place), Vec::<String>::new());
}
