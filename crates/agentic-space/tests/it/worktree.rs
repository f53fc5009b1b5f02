//! Worktrees.

use agentic_space::Error;
use agentic_space::commit::{TreeSource, commit};
use agentic_space::error::WorktreeError;
use agentic_space::worktree::{UncommittedWork, add, remove, sync};

use crate::place::{Place, draft, name};

#[test]
fn what_is_done_in_a_worktree_is_committed_from_there() {
    let place = Place::with(&["alice"]);
    place.commit("alice", &[("a", Some("1"))]).expect("there is room");
    let folder = place.beside("alice");
    let worktree = add(&place.space, &name("alice"), &folder).expect("the folder is free");
    assert_eq!(std::fs::read_to_string(folder.join("a")).expect("it is checked out"), "1");
    std::fs::write(folder.join("b"), "2").expect("writable");
    let mut work = draft("From the worktree", &[]);
    work.source = TreeSource::Worktree(worktree);
    let done = commit(&place.space, &name("alice"), &work).expect("there is room");
    assert_eq!((done.changed, place.file("alice", "b")), (vec!["b".to_owned()], "2".to_owned()));
    let status = crate::place::git(&folder, &["status", "--porcelain"]);
    assert_eq!(status, "", "git sees nothing left to commit");
}

#[test]
fn files_follow_a_commit_that_was_made_elsewhere() {
    let place = Place::with(&["alice"]);
    let folder = place.beside("alice");
    add(&place.space, &name("alice"), &folder).expect("the folder is free");
    place.commit("alice", &[("a", Some("1"))]).expect("there is room");
    sync(&place.space, &name("alice")).expect("nothing is in the way");
    assert_eq!(std::fs::read_to_string(folder.join("a")).expect("it came along"), "1");
}

#[test]
fn work_that_is_not_committed_is_not_removed_by_mistake() {
    let place = Place::with(&["alice"]);
    let folder = place.beside("alice");
    add(&place.space, &name("alice"), &folder).expect("the folder is free");
    std::fs::write(folder.join("work"), "x").expect("writable");
    let refused = remove(&place.space, &name("alice"), UncommittedWork::Kept);
    let Err(Error::Worktree(WorktreeError::UncommittedWork { .. })) = refused else {
        panic!("{refused:?}")
    };
    assert!(folder.join("work").exists());
    remove(&place.space, &name("alice"), UncommittedWork::Discarded).expect("it may go");
    assert!(!folder.exists());
    place.head("alice");
}

#[test]
fn an_agent_has_one_worktree_in_a_folder_of_its_own() {
    let place = Place::with(&["alice", "bob"]);
    let folder = place.beside("alice");
    add(&place.space, &name("alice"), &folder).expect("the folder is free");
    let taken = add(&place.space, &name("bob"), &folder);
    assert!(matches!(taken, Err(Error::Worktree(WorktreeError::PathTaken { .. }))), "{taken:?}");
    let second = add(&place.space, &name("alice"), &place.beside("second"));
    assert!(matches!(second, Err(Error::Worktree(WorktreeError::CheckedOut { .. }))), "{second:?}");
    let missing = place.space.worktree_of(&name("bob"));
    assert!(matches!(missing, Err(Error::Worktree(WorktreeError::Missing { .. }))), "{missing:?}");
}
