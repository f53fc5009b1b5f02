//! Merging.

use agentic_space::error::BranchError;
use agentic_space::merge::{MergePlan, MergedWork, Target, merge};
use agentic_space::spawn::SpawnOrigin;
use agentic_space::{AgentBranch, Error, Result};

use crate::place::{Place, name};

/// Makes alice with a file, and bob who was forked from her.
fn forked() -> Place {
    let place = Place::with(&["alice"]);
    place.commit("alice", &[("shared", Some("base\n"))]).expect("there is room");
    place.spawn("bob", &SpawnOrigin::Agent(name("alice"))).expect("the name is free");
    place
}

/// Merges bob into alice.
fn merge_bob(place: &Place) -> Result<MergedWork> {
    let target = Target::Agent(name("alice"));
    merge(&place.space, &AgentBranch::here(name("bob")), &target, &MergePlan::default())
}

#[test]
fn a_merge_has_what_both_did_and_is_made_once() {
    let place = forked();
    let ours = place.commit("alice", &[("a", Some("1"))]).expect("there is room").commit;
    let theirs = place.commit("bob", &[("b", Some("2"))]).expect("there is room").commit;
    let merged = merge_bob(&place).expect("nothing is in the way");
    let MergedWork::Commit { commit, parents, .. } = merged else { panic!("{merged:?}") };
    assert_eq!((place.head("alice"), parents), (commit, [ours, theirs]));
    assert_eq!(place.files("alice"), ["a", "b", "shared"]);
    let again = merge_bob(&place).expect("nothing is in the way");
    assert!(matches!(again, MergedWork::UpToDate { head } if head == commit), "{again:?}");
    assert_eq!(place.head("bob"), theirs, "who is merged stays where it is");
    place.check_sound();
}

#[test]
fn two_changes_of_one_line_are_a_conflict_and_nothing_moves() {
    let place = forked();
    place.commit("alice", &[("shared", Some("ours\n"))]).expect("there is room");
    place.commit("bob", &[("shared", Some("theirs\n"))]).expect("there is room");
    let before = place.head("alice");
    let merged = merge_bob(&place).expect("a conflict is an answer");
    let MergedWork::Conflict { conflicts } = merged else { panic!("{merged:?}") };
    assert_eq!(conflicts.len(), 1, "{conflicts:?}");
    assert_eq!((place.head("alice"), place.file("alice", "shared")), (before, "ours".to_owned()));
}

#[test]
fn agents_that_share_no_commit_are_merged_upon_nothing() {
    let place = Place::with(&["alice", "bob"]);
    place.commit("alice", &[("a", Some("1"))]).expect("there is room");
    place.commit("bob", &[("b", Some("2"))]).expect("there is room");
    let merged = merge_bob(&place).expect("nothing is in the way");
    assert!(matches!(merged, MergedWork::Commit { .. }), "{merged:?}");
    assert_eq!(place.files("alice"), ["a", "b"]);
}

#[test]
fn an_agent_is_not_merged_into_itself() {
    let place = Place::with(&["bob"]);
    let before = place.head("bob");
    let target = Target::Agent(name("bob"));
    let refused =
        merge(&place.space, &AgentBranch::here(name("bob")), &target, &MergePlan::default());
    assert!(matches!(refused, Err(Error::Branch(BranchError::SelfMerge { .. }))), "{refused:?}");
    assert_eq!(place.head("bob"), before);
}
