//! Exchange with another repository.

use agentic_space::Error;
use agentic_space::error::RemoteError;
use agentic_space::sync::{PushScope, fetch, push};

use crate::place::{Place, git, kind, name};

#[test]
fn what_is_pushed_is_fetched_elsewhere_with_its_trace() {
    let mut place = Place::with(&["alice"]);
    let head = place.commit("alice", &[("a", Some("1"))]).expect("there is room").commit;
    place.space.add_trace(&name("alice"), &kind("log"), b"one").expect("there is room");
    let bound = place.space.attach_trace(&name("alice"), head).expect("it is hers");
    let remote = place.make_remote();
    push(&place.space, "origin", PushScope::All).expect("the remote is empty");
    assert_eq!(git(&remote, &["rev-parse", "agents/alice"]), head.to_string());
    let mut other = Place::new();
    other.add_remote(&remote);
    fetch(&other.space, "origin", &[name("alice")]).expect("it is there");
    assert_eq!(other.head("alice"), head);
    assert_eq!(other.space.trace_of_commit(head).expect("it came along").cid, bound.cid);
    other.check_sound();
}

#[test]
fn a_remote_that_has_more_refuses_a_push_and_keeps_what_it_has() {
    let mut place = Place::with(&["alice"]);
    let remote = place.make_remote();
    push(&place.space, "origin", PushScope::All).expect("the remote is empty");
    let mut other = Place::new();
    other.add_remote(&remote);
    fetch(&other.space, "origin", &[name("alice")]).expect("it is there");
    let theirs = other.commit("alice", &[("b", Some("2"))]).expect("there is room").commit;
    push(&other.space, "origin", PushScope::All).expect("it is ahead");
    place.commit("alice", &[("a", Some("1"))]).expect("there is room");
    let refused = push(&place.space, "origin", PushScope::All);
    assert!(matches!(refused, Err(Error::Remote(RemoteError::PushRefused { .. }))), "{refused:?}");
    assert_eq!(git(&remote, &["rev-parse", "agents/alice"]), theirs.to_string());
}

#[test]
fn a_remote_that_nobody_named_is_unknown() {
    let place = Place::with(&["alice"]);
    let refused = push(&place.space, "origin", PushScope::All);
    assert!(matches!(refused, Err(Error::Remote(RemoteError::Unknown { .. }))), "{refused:?}");
}
