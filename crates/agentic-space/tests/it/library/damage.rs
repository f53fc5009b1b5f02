//! Names of a library that no longer say what they mean, and objects that are missing.

use agentic_space::Error;
use agentic_space::error::LibraryError;
use agentic_space::library::{ContestEnd, Library, NameMove, move_name};
use agentic_space::sync::{PushScope, fetch, push};

use super::{entry, meaning, moving, named, rules, set, shared};
use crate::place::Place;

/// Replaces a file of the library as somebody with plain git would; without a text it goes.
fn tamper(place: &Place, path: &str, text: Option<&str>) {
    place.git(&["read-tree", "refs/agentic/rules"]);
    match text {
        Some(text) => {
            let file = place.beside("tampered");
            std::fs::write(&file, text).expect("writable");
            let blob = place.git(&["hash-object", "-w", &file.to_string_lossy()]);
            let entry = format!("100644,{blob},{path}");
            place.git(&["update-index", "--add", "--cacheinfo", &entry]);
        }
        None => _ = place.git(&["update-index", "--force-remove", path]),
    }
    let tree = place.git(&["write-tree"]);
    let commit = place.git(&["commit-tree", "-m", "By hand", "-p", "refs/agentic/rules", &tree]);
    place.git(&["update-ref", "refs/agentic/rules", &commit]);
}

/// Makes a place with a name whose pointer is damaged, and one that is sound.
fn damaged() -> Place {
    let place = Place::new();
    for name in ["fresh", "sound"] {
        set(&place.space, name, "p(1).", "user:eve").expect("the name is free");
    }
    tamper(&place, "names/fresh", Some("no pointer"));
    place
}

#[test]
fn a_pointer_that_is_damaged_is_named_and_the_other_names_go_on() {
    let place = damaged();
    let state = place.space.library(Library::Rules).expect("the tree is sound");
    let read = state.entry(&named("fresh"));
    assert!(matches!(read, Err(Error::Library(LibraryError::Damaged { .. }))), "{read:?}");
    let all = state.entries().expect("the tree is sound");
    assert_eq!(all.entries.len(), 1);
    assert!(all.damaged[0].contains("`fresh`"), "{:?}", all.damaged);
    set(&place.space, "sound", "p(2).", "user:eve").expect("it has nothing to do with the other");
    assert_eq!(meaning(&place.space, "sound"), Some(rules("p(2).").cid()));
}

#[test]
fn a_person_sets_a_damaged_name_anew_and_an_agent_does_not() {
    let place = damaged();
    let state = place.space.library(Library::Rules).expect("the tree is sound");
    let found = state.entry_past_damage(&named("fresh")).expect("the tree is sound");
    assert_eq!(found.pointer, None);
    let set_anew = |contest, by| {
        let moving = NameMove { contest, ..moving(found.clone(), "p(2).", by) };
        move_name(&place.space, &moving)
    };
    for (contest, by) in [(ContestEnd::Refused, "user:eve"), (ContestEnd::Resolved, "alice")] {
        let refused = set_anew(contest, by);
        assert!(
            matches!(refused, Err(Error::Library(LibraryError::Damaged { .. }))),
            "{by}: {refused:?}"
        );
    }
    set_anew(ContestEnd::Resolved, "user:eve").expect("a person says what it means");
    assert_eq!(meaning(&place.space, "fresh"), Some(rules("p(2).").cid()));
    place.check_sound();
}

#[test]
fn a_name_in_the_tree_that_no_name_can_be_is_told_as_damaged() {
    let place = damaged();
    tamper(&place, "names/No Name", Some("x"));
    let state = place.space.library(Library::Rules).expect("the tree is sound");
    assert_eq!(state.entries().expect("the tree is sound").damaged.len(), 2);
}

#[test]
fn an_object_that_is_missing_is_damage_and_one_of_another_type_is_none_of_the_library() {
    let place = Place::with(&["alice"]);
    set(&place.space, "fresh", "p(1).", "user:eve").expect("the name is free");
    let state = place.space.library(Library::Rules).expect("sound");
    let briefing = place.space.briefing(&crate::place::name("alice")).expect("she has one").0;
    for cid in [rules("never kept.").cid(), briefing] {
        let found = state.object(cid);
        assert!(matches!(found, Err(Error::Library(LibraryError::Damaged { .. }))), "{found:?}");
    }
}

#[test]
fn what_is_damaged_at_the_remote_is_named_and_comes_not_here() {
    let (place, other) = shared();
    set(&other.space, "fresh", "p(2).", "user:ada").expect("nobody moved it");
    set(&other.space, "theirs", "t(1).", "user:ada").expect("the name is free");
    let lost = rules("p(2).").cid().to_string();
    tamper(&other, &format!("objects/rules/{lost}"), None);
    push(&other.space, "origin", PushScope::All).expect("it is ahead");
    set(&place.space, "ours", "o(1).", "user:eve").expect("the name is free");
    let fetched = fetch(&place.space, "origin", &[]).expect("what is sound is taken");
    assert!(fetched.contested.is_empty(), "{fetched:?}");
    assert_eq!(meaning(&place.space, "fresh"), Some(rules("p(1).").cid()), "as it was");
    assert_eq!(meaning(&place.space, "theirs"), Some(rules("t(1).").cid()));
    assert_eq!(entry(&place.space, "fresh").contested, None);
}
