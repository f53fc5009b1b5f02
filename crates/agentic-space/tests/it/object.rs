//! Typed objects.

use agentic_space::Error;
use agentic_space::error::{KindError, LookupError};
use agentic_space::model::{Map, Object, Value};
use agentic_space::object::PREFIX_CHARS_MIN;

use crate::archive::archive_alice;
use crate::place::{Place, briefing, kind, name, walk};

/// Makes an object of a type.
fn object(kind: &str, number: i64) -> Object {
    let map = [("type", Value::text(kind)), ("n", Value::Int(number))];
    let map: Map = map.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    Object::new(map).expect("it is short")
}

#[test]
fn an_object_that_is_broken_off_anywhere_is_kept_whole_or_not_at_all() {
    let prepare = || Place::with(&["alice"]);
    let put = |place: &Place| place.space.put_object(&name("alice"), &object("plan", 1));
    let act = |place: &Place| _ = put(place);
    walk(prepare, act, |place, step| {
        put(place).unwrap_or_else(|error| panic!("step {step}: {error}"));
        let kept = place.space.object(object("plan", 1).cid());
        assert_eq!(kept.expect("it was put"), object("plan", 1), "step {step}");
    });
}

#[test]
fn an_object_is_found_by_its_id_and_by_a_beginning_of_it_that_is_long_enough() {
    let place = Place::with(&["alice"]);
    let plan = object("plan", 1);
    place.space.put_object(&name("alice"), &plan).expect("there is room");
    let text = plan.cid().to_string();
    for found in [text.as_str(), &text[..20]] {
        assert_eq!(place.space.find_object(found).expect(found), plan.cid());
    }
    for none in [&text[..PREFIX_CHARS_MIN - 1], "", "bafyr4iaaaaaaaaaaaa", &text[1..30]] {
        let unknown = place.space.find_object(none);
        let is_told = matches!(unknown, Err(Error::Lookup(LookupError::Unknown { .. })));
        assert!(is_told, "{none}: {unknown:?}");
    }
}

#[test]
fn what_only_an_archived_agent_keeps_is_found_all_the_same() {
    let place = Place::with(&["alice", "bob"]);
    let plan = object("plan", 1);
    place.space.put_object(&name("alice"), &plan).expect("there is room");
    archive_alice(&place).expect("nothing is in the way");
    let text = plan.cid().to_string();
    for found in [text.as_str(), &text[..20]] {
        assert_eq!(place.space.find_object(found).expect(found), plan.cid());
    }
    assert_eq!(place.space.object(plan.cid()).expect("it is kept"), plan);
    let none = place.space.object(object("plan", 2).cid());
    assert!(matches!(none, Err(Error::Lookup(LookupError::Unknown { .. }))), "{none:?}");
}

#[test]
fn a_beginning_of_several_ids_is_ambiguous_and_names_them() {
    let place = Place::with(&["alice"]);
    let shared =
        |number: i64| object("plan", number).cid().to_string()[..PREFIX_CHARS_MIN].to_owned();
    // Of so many ids two begin alike.
    let mut seen = std::collections::BTreeMap::new();
    let pair =
        (0..).find_map(|number| seen.insert(shared(number), number).map(|other| (other, number)));
    let (one, other) = pair.expect("there are numbers enough");
    for number in [one, other] {
        place.space.put_object(&name("alice"), &object("plan", number)).expect("there is room");
    }
    let found = place.space.find_object(&shared(one));
    let Err(Error::Lookup(LookupError::Ambiguous { candidates, .. })) = found else {
        panic!("{found:?}")
    };
    assert_eq!(candidates.len(), 2);
}

#[test]
fn an_object_is_of_a_kind_of_objects() {
    let place = Place::with(&["alice"]);
    for (text, may) in [("plan", true), ("finding", false), ("none", false)] {
        let put = place.space.put_object(&name("alice"), &object(text, 1));
        assert_eq!(put.is_ok(), may, "{text}");
        if !may {
            assert!(matches!(put, Err(Error::Kind(KindError::Unknown { .. }))), "{put:?}");
        }
    }
    assert!(place.space.put_object(&name("nobody"), &object("plan", 1)).is_err());
}

#[test]
fn objects_of_one_kind_stand_beside_each_other_in_the_notes_of_their_agent() {
    let place = Place::with(&["alice", "bob"]);
    for (agent, number) in [("alice", 1), ("alice", 2), ("bob", 3)] {
        place.space.put_object(&name(agent), &object("plan", number)).expect("there is room");
    }
    let beside = |number| {
        let found = place.space.objects_beside(object("plan", number).cid(), &kind("plan"));
        found.expect("sound").len()
    };
    assert_eq!([beside(1), beside(2), beside(3), beside(4)], [2, 2, 1, 0]);
}

#[test]
fn what_is_kept_outlives_the_journal_and_a_collection() {
    let place = Place::with(&["alice"]);
    place.space.put_object(&name("alice"), &object("plan", 1)).expect("there is room");
    std::fs::remove_dir_all(place.path().join(".git/agentic")).expect("nothing is in flight");
    place.git(&["gc", "--quiet", "--prune=now"]);
    let space = place.open_again();
    assert_eq!(space.object(object("plan", 1).cid()).expect("it is in git"), object("plan", 1));
    assert_eq!(space.briefing(&name("alice")).expect("it is in git").1, briefing("alice"));
}
