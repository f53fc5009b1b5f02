//! Kinds.

use agentic_space::Error;
use agentic_space::commit::commit;
use agentic_space::error::KindError;
use agentic_space::model::KindEntry;

use crate::place::{Place, draft, kind, name};

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
