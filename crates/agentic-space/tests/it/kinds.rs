//! Kinds.

use agentic_space::Error;
use agentic_space::commit::commit;
use agentic_space::error::KindError;
use agentic_space::model::KindEntry;

use crate::place::{Place, draft, kind, name, walk};

/// Returns a kind below another one.
fn below(parent: &str, text: &str) -> KindEntry {
    let description = "a kind of a test".to_owned();
    KindEntry { name: kind(text), parent: Some(kind(parent)), description, schema: None }
}

#[test]
fn a_kind_is_used_once_it_is_registered() {
    let place = Place::with(&["alice"]);
    let mut typed = draft("Typed", &[("a", Some("1"))]);
    typed.kind = Some(kind("deploy"));
    let unknown = commit(&place.space, &name("alice"), &typed);
    assert!(matches!(unknown, Err(Error::Kind(KindError::Unknown { .. }))), "{unknown:?}");
    place.space.register_kind(below("agent-commit", "deploy")).expect("the name is free");
    let done = commit(&place.space, &name("alice"), &typed).expect("it is registered");
    assert_eq!(done.kind, kind("deploy"));
    let kinds = place.open_again().kinds().expect("sound");
    assert!(kinds.is_a(&kind("deploy"), &kind("agent-commit")));
}

#[test]
fn a_kind_has_one_meaning_and_a_parent() {
    let place = Place::new();
    place.space.register_kind(below("agent-commit", "deploy")).expect("the name is free");
    let taken = place.space.register_kind(below("object", "deploy"));
    assert!(matches!(taken, Err(Error::Kind(KindError::Taken { .. }))), "{taken:?}");
    let orphan = place.space.register_kind(below("nothing", "release"));
    assert!(matches!(orphan, Err(Error::Kind(KindError::UnknownParent { .. }))), "{orphan:?}");
    let kinds = place.space.kinds().expect("sound");
    assert!(kinds.is_a(&kind("deploy"), &kind("agent-commit")), "the first one stays");
    assert!(!kinds.is_a(&kind("release"), &kind("agent-commit")));
}

#[test]
fn a_registration_that_is_broken_off_anywhere_is_made_once() {
    let act = |place: &Place| _ = place.space.register_kind(below("agent-commit", "deploy"));
    walk(Place::new, act, |place, step| {
        match place.space.register_kind(below("agent-commit", "deploy")) {
            Ok(_) | Err(Error::Kind(KindError::Taken { .. })) => {}
            Err(other) => panic!("step {step}: {other}"),
        }
        let kinds = place.space.kinds().expect("sound");
        assert!(kinds.is_a(&kind("deploy"), &kind("agent-commit")), "step {step}");
    });
}

#[test]
fn of_those_who_race_for_a_kind_one_gives_it_its_meaning() {
    let place = Place::new();
    let made: Vec<bool> = std::thread::scope(|scope| {
        let make = |parent: &'static str| {
            let place = &place;
            scope.spawn(move || place.open_again().register_kind(below(parent, "deploy")).is_ok())
        };
        let all = ["agent-commit", "object", "finding"].map(make);
        all.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(made.iter().filter(|made| **made).count(), 1);
    let entries = place.git(&["ls-tree", "-r", "--name-only", "refs/agentic/registry"]);
    assert_eq!(entries.lines().count(), 1, "{entries}");
}

#[test]
fn the_built_in_kinds_are_taken() {
    let place = Place::new();
    for text in ["agent-commit", "spawn", "decision", "object", "briefing"] {
        let taken = place.space.register_kind(below("finding", text));
        assert!(matches!(taken, Err(Error::Kind(KindError::Taken { .. }))), "{text}: {taken:?}");
    }
    assert_eq!(place.git(&["for-each-ref"]), "");
}

#[test]
fn a_kind_without_a_parent_is_none() {
    let place = Place::new();
    let orphan = KindEntry { parent: None, ..below("finding", "deploy") };
    let refused = place.space.register_kind(orphan);
    assert!(matches!(refused, Err(Error::Kind(KindError::UnknownParent { .. }))), "{refused:?}");
    let own = place.space.register_kind(below("deploy", "deploy"));
    assert!(matches!(own, Err(Error::Kind(KindError::UnknownParent { .. }))), "{own:?}");
}

#[test]
fn a_kind_below_a_registered_one_is_of_all_above() {
    let place = Place::new();
    place.space.register_kind(below("finding", "deploy")).expect("the name is free");
    place.space.register_kind(below("deploy", "hotfix")).expect("the name is free");
    let kinds = place.open_again().kinds().expect("sound");
    for (text, above, is_a) in [
        ("hotfix", "hotfix", true),
        ("hotfix", "deploy", true),
        ("hotfix", "finding", true),
        ("hotfix", "agent-commit", true),
        ("deploy", "hotfix", false),
        ("hotfix", "object", false),
    ] {
        assert_eq!(kinds.is_a(&kind(text), &kind(above)), is_a, "{text} {above}");
    }
}
