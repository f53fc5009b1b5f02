//! Names that go: here, at the remote, and on both sides.

use agentic_space::error::LibraryError;
use agentic_space::library::{Library, MovedName, NameMove, move_name};
use agentic_space::sync::{PushScope, fetch, push};
use agentic_space::{Error, Result, Space};

use super::{entry, meaning, moving, named, rules, set, shared};
use crate::place::{Place, walk};

/// Removes a name as it is found.
fn remove(space: &Space, name: &str) -> Result<MovedName> {
    let moving = moving(entry(space, name), "", "user:eve");
    move_name(space, &NameMove { to: None, objects: Vec::new(), ..moving })
}

#[test]
fn a_name_that_is_removed_leaves_its_object_and_its_history() {
    let place = Place::new();
    set(&place.space, "fresh", "p(1).", "user:eve").expect("the name is free");
    let gone = remove(&place.space, "fresh").expect("it is there");
    assert_eq!((gone.before.map(|it| it.cid), gone.after), (Some(rules("p(1).").cid()), None));
    let again = place.open_again();
    let state = again.library(Library::Rules).expect("sound");
    assert_eq!(state.entries().expect("sound").entries, []);
    assert!(state.object(rules("p(1).").cid()).is_ok(), "queries that name it by id go on");
    let changes = state.changes(&again, &named("fresh")).expect("sound");
    let cids: Vec<_> = changes.iter().map(|change| change.cid).collect();
    assert_eq!(cids, [None, Some(rules("p(1).").cid())]);
    place.check_sound();
}

#[test]
fn a_name_that_nobody_set_cannot_be_removed() {
    let place = Place::new();
    let refused = remove(&place.space, "fresh");
    assert!(
        matches!(refused, Err(Error::Library(LibraryError::UnknownName { .. }))),
        "{refused:?}"
    );
    assert_eq!(place.space.library(Library::Rules).expect("sound").tip(), None);
}

#[test]
fn a_name_that_means_it_already_is_not_moved_once_more() {
    let place = Place::new();
    set(&place.space, "fresh", "p(1).", "user:eve").expect("the name is free");
    let before = place.space.library(Library::Rules).expect("sound").tip();
    let again = set(&place.space, "fresh", "p(1).", "user:eve").expect("it is so");
    assert_eq!(again.before, again.after);
    assert_eq!(place.space.library(Library::Rules).expect("sound").tip(), before);
}

#[test]
fn a_removal_that_is_broken_off_anywhere_is_made_once() {
    let prepare = || {
        let place = Place::new();
        set(&place.space, "fresh", "p(1).", "user:eve").expect("the name is free");
        place
    };
    let act = |place: &Place| _ = remove(&place.space, "fresh");
    walk(prepare, act, |place, step| {
        match remove(&place.space, "fresh") {
            Ok(_) | Err(Error::Library(LibraryError::UnknownName { .. })) => {}
            Err(other) => panic!("step {step}: {other}"),
        }
        let state = place.space.library(Library::Rules).expect("sound");
        let changes = state.changes(&place.space, &named("fresh")).expect("sound");
        assert_eq!(changes.len(), 2, "step {step}: set once and removed once");
    });
}

#[test]
fn a_name_that_was_removed_there_goes_here_unless_it_moved_here() {
    for (moved_here, wanted) in [(None, None), (Some("p(3)."), Some(rules("p(3).").cid()))] {
        let (place, other) = shared();
        remove(&other.space, "fresh").expect("it is there");
        push(&other.space, "origin", PushScope::All).expect("it is ahead");
        set(&place.space, "ours", "o(1).", "user:eve").expect("the name is free");
        if let Some(source) = moved_here {
            set(&place.space, "fresh", source, "user:eve").expect("nobody moved it");
        }
        let fetched = fetch(&place.space, "origin", &[]).expect("it is there");
        assert!(fetched.contested.is_empty(), "there is nothing to choose from: {fetched:?}");
        assert_eq!(meaning(&place.space, "fresh"), wanted);
    }
}

#[test]
fn a_name_that_was_removed_here_and_moved_there_waits_for_a_choice() {
    let (place, other) = shared();
    set(&other.space, "fresh", "p(2).", "user:ada").expect("nobody moved it");
    push(&other.space, "origin", PushScope::All).expect("it is ahead");
    remove(&place.space, "fresh").expect("it is there");
    let fetched = fetch(&place.space, "origin", &[]).expect("it is there");
    assert_eq!(fetched.contested, [(Library::Rules, named("fresh"))]);
    let found = entry(&place.space, "fresh");
    assert_eq!(found.pointer, None, "here it stays removed");
    assert_eq!(found.contested.map(|it| it.cid), Some(rules("p(2).").cid()));
}

#[test]
fn libraries_are_shared_with_the_only_remote_or_with_origin() {
    let mut place = Place::new();
    assert_eq!(place.space.home_remote(), None);
    for (remote, wanted) in [("bob", Some("bob")), ("carol", None), ("origin", Some("origin"))] {
        place.git(&["remote", "add", remote, "/nowhere"]);
        place.space = place.open_again();
        assert_eq!(place.space.home_remote().as_deref(), wanted, "after {remote}");
    }
}
