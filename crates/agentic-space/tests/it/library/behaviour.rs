//! Behaviours: what is adopted, and what is in force.

use agentic_space::library::{
    BehaviourAddition, ContestEnd, Library, MoveOccasion, NameInForce, NameMove, keep_behaviour,
    move_name, take_over,
};
use agentic_space::model::edge::Party;
use agentic_space::model::{AboutBehaviour, Cid, Object, StoredBehaviour};
use agentic_space::sync::{PushScope, fetch, push};
use agentic_space::{Result, Space};

use super::named;
use crate::place::{Place, walk};

fn prompt(text: &str) -> Object {
    StoredBehaviour::prompt(text).expect("it is short")
}

fn add(space: &Space, text: &str) -> Cid {
    let about = AboutBehaviour { names: [named("r")].into(), ..AboutBehaviour::default() };
    let (name, object, parts) = (named("r"), prompt(text), Vec::new());
    let addition = BehaviourAddition { name, object, parts, about, author: None };
    keep_behaviour(space, &addition).expect("nobody is in the way").cid
}

fn found(space: &Space) -> NameInForce {
    space.behaviour_in_force(&named("r")).expect("sound")
}

fn in_force(space: &Space) -> Option<Cid> {
    found(space).pointer.map(|pointer| pointer.cid)
}

fn adopt(space: &Space, text: &str) -> Result<()> {
    let object = prompt(text);
    let moving = NameMove {
        library: Library::Behaviours,
        found: found(space).shared,
        to: Some(object.cid()),
        objects: vec![object],
        by: Party::User("eve".to_owned()),
        author: None,
        why: "a reason".to_owned(),
        contest: ContestEnd::Refused,
        occasion: MoveOccasion::Adoption(Box::default()),
    };
    move_name(space, &moving).map(|_| ())
}

/// Makes two places in which the same is in force.
fn shared() -> (Place, Place) {
    let mut place = Place::new();
    adopt(&place.space, "one").expect("the name is free");
    let remote = place.make_remote();
    push(&place.space, "origin", PushScope::All).expect("the remote is empty");
    let mut other = Place::new();
    other.add_remote(&remote);
    fetch(&other.space, "origin", &[]).expect("it is there");
    assert_eq!(in_force(&other.space), None);
    take_over(&other.space, &named("r")).expect("nobody is in the way");
    assert_eq!(in_force(&other.space), Some(prompt("one").cid()));
    (place, other)
}

#[test]
fn an_adoption_that_is_broken_off_anywhere_is_made_once() {
    let prepare = || {
        let place = Place::new();
        adopt(&place.space, "one").expect("the name is free");
        place
    };
    let act = |place: &Place| _ = adopt(&place.space, "two");
    walk(prepare, act, |place, step| {
        let both = [Some(prompt("one").cid()), Some(prompt("two").cid())];
        assert!(both.contains(&in_force(&place.space)), "step {step}");
        adopt(&place.space, "two").expect("nobody moved it");
        assert_eq!(in_force(&place.space), Some(prompt("two").cid()), "step {step}");
        let state = place.space.library(Library::Behaviours).expect("sound");
        let changes = state.changes(&place.space, &named("r")).expect("sound");
        assert_eq!(changes.len(), 2, "step {step}");
        let pointer = found(&place.space).pointer.expect("it is adopted");
        let adoption = state.adoption_of(&place.space, &named("r"), &pointer).expect("sound");
        assert_eq!(adoption, Some(changes[0].commit), "step {step}");
    });
}

#[test]
fn a_fetch_that_is_broken_off_anywhere_changes_nothing_that_is_in_force() {
    for ahead in [false, true] {
        let prepare = || {
            let (place, other) = shared();
            adopt(&other.space, "two").expect("nobody moved it");
            push(&other.space, "origin", PushScope::All).expect("it is ahead");
            if ahead {
                add(&place.space, "three");
            }
            place
        };
        let act = |place: &Place| _ = fetch(&place.space, "origin", &[]);
        walk(prepare, act, |place, step| {
            assert_eq!(in_force(&place.space), Some(prompt("one").cid()), "step {step}");
            let fetched = fetch(&place.space, "origin", &[]).expect("it is there");
            assert_eq!(fetched.offered, [named("r")], "step {step}");
            assert_eq!(in_force(&place.space), Some(prompt("one").cid()), "step {step}");
            let offered = found(&place.space).offered.map(|pointer| pointer.cid);
            assert_eq!(offered, Some(prompt("two").cid()), "step {step}");
            take_over(&place.space, &named("r")).expect("nobody is in the way");
            assert_eq!(in_force(&place.space), Some(prompt("two").cid()), "step {step}");
        });
    }
}

#[test]
fn taking_over_that_is_broken_off_anywhere_is_done_or_not() {
    let prepare = || {
        let (place, other) = shared();
        adopt(&other.space, "two").expect("nobody moved it");
        push(&other.space, "origin", PushScope::All).expect("it is ahead");
        fetch(&place.space, "origin", &[]).expect("it is there");
        place
    };
    let act = |place: &Place| _ = take_over(&place.space, &named("r"));
    walk(prepare, act, |place, step| {
        let both = [Some(prompt("one").cid()), Some(prompt("two").cid())];
        assert!(both.contains(&in_force(&place.space)), "step {step}");
        take_over(&place.space, &named("r")).expect("nobody is in the way");
        assert_eq!(in_force(&place.space), Some(prompt("two").cid()), "step {step}");
    });
}

#[test]
fn what_is_offered_is_gone_when_the_other_clone_goes_back() {
    let (place, other) = shared();
    for text in ["two", "one"] {
        adopt(&place.space, text).expect("nobody moved it");
        push(&place.space, "origin", PushScope::All).expect("it is ahead");
        fetch(&other.space, "origin", &[]).expect("it is there");
        assert_eq!(in_force(&other.space), Some(prompt("one").cid()), "{text}");
        assert_eq!(found(&other.space).offered.is_some(), text == "two", "{text}");
    }
}
