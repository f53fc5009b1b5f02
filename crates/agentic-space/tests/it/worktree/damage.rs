//! Worktrees that are half made, lead elsewhere, or are git's for the moment.

use std::path::PathBuf;

use agentic_space::Error;
use agentic_space::error::WorktreeError;
use agentic_space::worktree::{UncommittedWork, add, check_place, remove};
use agentic_store::error::RefError;

use super::at_work;
use crate::archive::archive_alice;
use crate::place::{Place, git, name, open};

/// Makes alice with a worktree whose maker died before anything was checked out in it.
fn half_made() -> (Place, PathBuf) {
    let place = Place::with(&["alice"]);
    place.commit("alice", &[("a", Some("1"))]).expect("there is room");
    let folder = place.beside("alice");
    let path = folder.to_string_lossy();
    place.git(&["worktree", "add", "--quiet", "--no-checkout", "--lock", &path, "agents/alice"]);
    (place, folder)
}

#[test]
fn a_worktree_that_was_never_filled_is_none_to_work_in_and_is_made_anew() {
    let (place, folder) = half_made();
    let found = place.space.worktree_of(&name("alice"));
    assert!(matches!(found, Err(Error::Worktree(WorktreeError::Empty { .. }))), "{found:?}");
    add(&place.space, &name("alice"), &folder).expect("nothing in it is anybody's work");
    assert_eq!(std::fs::read_to_string(folder.join("a")).expect("it is checked out"), "1");
    assert_eq!(git(&folder, &["status", "--porcelain"]), "");
}

#[test]
fn work_in_a_worktree_that_was_never_filled_is_not_thrown_away_by_mistake() {
    let (place, folder) = half_made();
    std::fs::write(folder.join("work"), "x").expect("writable");
    for refused in [
        add(&place.space, &name("alice"), &folder).map(drop),
        remove(&place.space, &name("alice"), UncommittedWork::Kept).map(drop),
    ] {
        let is_told =
            matches!(refused, Err(Error::Worktree(WorktreeError::UncommittedWork { .. })));
        assert!(is_told, "{refused:?}");
    }
    assert!(folder.join("work").exists());
    remove(&place.space, &name("alice"), UncommittedWork::Discarded).expect("it may go");
    assert!(!folder.exists());
}

#[test]
fn a_worktree_that_leads_elsewhere_is_not_used() {
    let (place, folder) = at_work();
    std::fs::write(folder.join(".git"), "gitdir: /nowhere\n").expect("writable");
    let found = place.space.worktree_of(&name("alice"));
    assert!(matches!(found, Err(Error::Worktree(WorktreeError::Unlinked { .. }))), "{found:?}");
    let second = add(&place.space, &name("alice"), &place.beside("second"));
    assert!(matches!(second, Err(Error::Worktree(WorktreeError::Unlinked { .. }))), "{second:?}");
    assert!(folder.join("a").exists(), "what is there is left alone");
}

#[test]
fn a_bare_repository_has_no_worktrees() {
    let mut place = Place::with(&["alice"]);
    let bare = open(&place.make_remote());
    let refused = check_place(&bare, &place.beside("alice"));
    assert!(matches!(refused, Err(Error::Worktree(WorktreeError::Bare))), "{refused:?}");
}

#[test]
fn a_branch_that_git_bisects_in_a_worktree_is_neither_used_nor_archived() {
    let (place, folder) = at_work();
    for number in 0..3 {
        git(&folder, &["commit", "--quiet", "--allow-empty", "-m", &number.to_string()]);
    }
    git(&folder, &["bisect", "start", "HEAD", "HEAD~3"]);
    let is_occupied = |error: Option<Error>| {
        let occupied = matches!(
            error,
            Some(Error::Store(agentic_store::Error::Ref(RefError::Occupied { .. })))
        );
        assert!(occupied, "{error:?}");
    };
    is_occupied(place.space.worktree_of(&name("alice")).err());
    is_occupied(archive_alice(&place).err());
    git(&folder, &["bisect", "reset"]);
    place.space.worktree_of(&name("alice")).expect("it is there again");
}
