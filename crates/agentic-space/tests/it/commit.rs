//! Committing.

use agentic_space::Error;
use agentic_space::commit::{Emptiness, commit, commit_all};
use agentic_space::error::{BranchError, CommitError};
use agentic_store::error::CheckoutError;

use crate::place::{Place, draft, name};

#[test]
fn edits_make_a_commit_upon_the_head() {
    let place = Place::with(&["alice"]);
    let genesis = place.head("alice");
    let files = [("src/a", Some("1")), ("b", Some("2"))];
    let done = place.commit("alice", &files).expect("there is room");
    assert_eq!((place.head("alice"), &done.parents[..]), (done.commit, &[genesis][..]));
    assert_eq!(done.changed, ["b", "src/a"]);
    place.commit("alice", &[("src/a", None), ("b", Some("3"))]).expect("there is room");
    assert_eq!(
        (place.files("alice"), place.file("alice", "b")),
        (vec!["b".to_owned()], "3".into())
    );
    place.check_sound();
}

#[test]
fn a_commit_without_changes_is_made_only_if_that_is_meant() {
    let place = Place::with(&["alice"]);
    place.commit("alice", &[("a", Some("1"))]).expect("there is room");
    let before = place.head("alice");
    let refused = place.commit("alice", &[("a", Some("1"))]);
    assert!(matches!(refused, Err(Error::Commit(CommitError::Nothing { .. }))), "{refused:?}");
    assert_eq!(place.head("alice"), before);
    let mut meant = draft("Say something", &[]);
    meant.emptiness = Emptiness::Allowed;
    let done = commit(&place.space, &name("alice"), &meant).expect("it is meant");
    assert_eq!(done.tree, place.space.read_commit(before).expect("sound").tree);
}

#[test]
fn a_head_that_was_not_expected_is_a_conflict() {
    let place = Place::with(&["alice"]);
    let seen = place.head("alice");
    place.commit("alice", &[("a", Some("theirs"))]).expect("there is room");
    let mut late = draft("Come late", &[("a", Some("ours"))]);
    late.expect = Some(seen);
    let refused = commit(&place.space, &name("alice"), &late);
    assert!(matches!(refused, Err(Error::Branch(BranchError::HeadMoved { .. }))), "{refused:?}");
    assert_eq!(place.file("alice", "a"), "theirs");
}

#[test]
fn what_git_would_not_check_out_is_not_committed() {
    let place = Place::with(&["alice"]);
    let before = place.head("alice");
    for path in [".git/config", "a/../b", "/etc/passwd", "a//b", ".GIT/hooks"] {
        let refused = place.commit("alice", &[(path, Some("x"))]);
        let Err(Error::Store(agentic_store::Error::Checkout(CheckoutError::UnsafePath { .. }))) =
            refused
        else {
            panic!("{path}: {refused:?}")
        };
    }
    assert_eq!(place.head("alice"), before);
}

#[test]
fn of_several_drafts_the_one_that_cannot_be_committed_is_left_out() {
    let place = Place::with(&["alice"]);
    let drafts = [
        draft("First", &[("a", Some("1"))]),
        draft("Hostile", &[(".git/config", Some("x"))]),
        draft("Second", &[("b", Some("2"))]),
    ];
    let done = commit_all(&place.space, &name("alice"), &drafts).expect("there is room");
    assert!(done[0].is_ok() && done[1].is_err(), "{done:?}");
    let second = done[2].as_ref().expect("it has nothing to do with the others");
    assert_eq!(second.commit, place.head("alice"));
    assert_eq!(second.parents, [done[0].as_ref().expect("made above").commit]);
    assert_eq!(place.files("alice"), ["a", "b"]);
    place.check_sound();
}

#[test]
fn an_agent_that_does_not_exist_commits_nothing() {
    let place = Place::new();
    assert!(place.commit("nobody", &[("a", Some("1"))]).is_err());
    assert_eq!(place.git(&["for-each-ref"]), "");
}
