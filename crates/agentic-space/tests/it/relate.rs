//! Relations.

use std::path::{Path, PathBuf};

use agentic_space::error::RelationError;
use agentic_space::merge::{MergePlan, Target, merge};
use agentic_space::model::edge::{EdgeEvent, Party};
use agentic_space::model::{Map, Object, Value};
use agentic_space::relate::{RelateOutcome, relate};
use agentic_space::spawn::SpawnOrigin;
use agentic_space::{AgentBranch, Error, Result};

use crate::ask::ask;
use crate::place::{Place, kind, name, walk};

/// Says that bob relates to alice, or no longer.
fn say(place: &Place, relation: &str, event: EdgeEvent) -> Result<RelateOutcome> {
    let (bob, alice) = (Party::Agent(name("bob")), Party::Agent(name("alice")));
    relate(&place.space, &bob, &kind(relation), &alice, event)
}

/// Counts what holds by a relation, as a new command reads it.
fn n_holding(place: &Place, relation: &str) -> usize {
    let query = match relation {
        "sub-agent-of" => "? sub_agent_of(A, B).".to_owned(),
        "merged-into" => "? merged_into(A, B).".to_owned(),
        asserted => format!("? edge(source: A, relation: {asserted}, target: B)."),
    };
    ask(&place.open_again(), &query).answers[0].rows.len()
}

#[test]
fn an_edge_holds_from_its_assertion_to_its_retraction() {
    let place = Place::with(&["alice", "bob"]);
    say(&place, "reviews", EdgeEvent::Assert).expect("there is room");
    assert_eq!(n_holding(&place, "reviews"), 1);
    // The clock stands still, and the later event wins all the same.
    say(&place, "reviews", EdgeEvent::Retract).expect("it holds");
    assert_eq!(n_holding(&place, "reviews"), 0);
    say(&place, "reviews", EdgeEvent::Assert).expect("there is room");
    assert_eq!(n_holding(&place, "reviews"), 1);
}

#[test]
fn what_does_not_hold_is_not_retracted_and_what_follows_is_not_asserted() {
    let place = Place::with(&["alice"]);
    place.spawn("bob", &SpawnOrigin::Agent(name("alice"))).expect("the name is free");
    assert_eq!(n_holding(&place, "sub-agent-of"), 1, "it follows from the fork");
    let refused = say(&place, "reviews", EdgeEvent::Retract);
    assert!(matches!(refused, Err(Error::Relation(RelationError::NoEdge { .. }))), "{refused:?}");
    let derived = say(&place, "sub-agent-of", EdgeEvent::Retract);
    assert!(matches!(derived, Err(Error::Relation(RelationError::Derived { .. }))), "{derived:?}");
    assert_eq!(n_holding(&place, "sub-agent-of"), 1);
}

#[test]
fn nobody_relates_to_an_agent_that_does_not_exist() {
    let place = Place::with(&["bob"]);
    assert!(say(&place, "reviews", EdgeEvent::Assert).is_err());
    assert_eq!(n_holding(&place, "reviews"), 0);
}

#[test]
fn an_edge_that_is_broken_off_anywhere_holds_once_it_is_said_again() {
    let prepare = || Place::with(&["alice", "bob"]);
    let act = |place: &Place| _ = say(place, "reviews", EdgeEvent::Assert);
    walk(prepare, act, |place, step| {
        say(place, "reviews", EdgeEvent::Assert)
            .unwrap_or_else(|error| panic!("step {step}: {error}"));
        assert_eq!(n_holding(place, "reviews"), 1, "step {step}");
        say(place, "reviews", EdgeEvent::Retract).expect("it holds");
        assert_eq!(n_holding(place, "reviews"), 0, "step {step}");
    });
}

#[test]
fn the_edge_of_a_person_lives_with_whom_it_is_about() {
    let place = Place::with(&["alice"]);
    let ada = Party::parse("user:ada").expect("a person");
    let alice = Party::Agent(name("alice"));
    let said = relate(&place.space, &ada, &kind("reviews"), &alice, EdgeEvent::Assert);
    let said = said.expect("there is room");
    let kept = place.space.repository().notes("refs/notes/agentic/alice").expect("sound");
    assert!(kept.object(said.cid).expect("sound").is_some());
    let eve = Party::parse("user:eve").expect("a person");
    assert!(relate(&place.space, &ada, &kind("knows"), &eve, EdgeEvent::Assert).is_err());
}

#[test]
fn what_is_known_of_relations_is_read_anew_where_the_cache_is_damaged() {
    let place = Place::with(&["alice"]);
    place.spawn("bob", &SpawnOrigin::Agent(name("alice"))).expect("the name is free");
    say(&place, "reviews", EdgeEvent::Assert).expect("there is room");
    let holding = || [n_holding(&place, "reviews"), n_holding(&place, "sub-agent-of")];
    assert_eq!(holding(), [1, 1]);
    let files = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).expect("a look at relations makes it").flatten();
        entries.map(|entry| entry.path()).collect()
    };
    let nouns = files(&place.path().join(".git/agentic/cache/query"));
    let caches: Vec<PathBuf> = nouns.iter().flat_map(|noun| files(noun)).collect();
    assert!(!caches.is_empty());
    for part in 0..3 {
        for cache in &caches {
            let whole = std::fs::read(cache).expect("readable");
            let content = [&b""[..], b"garbage", &whole[..whole.len() / 2]][part];
            std::fs::write(cache, content).expect("writable");
        }
        assert_eq!(holding(), [1, 1], "damage {part}");
    }
    place.commit("bob", &[("a", Some("1"))]).expect("there is room");
    assert_eq!(holding(), [1, 1], "one of another head is none");
}

#[test]
fn relations_follow_a_branch_that_was_moved_back() {
    let place = Place::with(&["alice", "bob"]);
    place.commit("bob", &[("b", Some("1"))]).expect("there is room");
    let before = place.head("alice");
    let target = Target::Agent(name("alice"));
    let bob = AgentBranch::here(name("bob"));
    merge(&place.space, &bob, &target, &MergePlan::default()).expect("nothing is in the way");
    assert_eq!(n_holding(&place, "merged-into"), 1);
    place.git(&["update-ref", "refs/heads/agents/alice", &before.to_string()]);
    assert_eq!(n_holding(&place, "merged-into"), 0);
}

#[test]
fn an_edge_that_somebody_wrote_by_hand_and_that_says_nothing_is_no_fact() {
    let place = Place::with(&["alice"]);
    let map = [("type", Value::text("edge")), ("source", Value::Int(5))];
    let map: Map = map.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let odd = Object::new(map).expect("it is short");
    place.space.put_object(&name("alice"), &odd).expect("it is an object");
    let report = ask(&place.open_again(), "? edge_event(source: A, target: B).");
    assert_eq!(report.answers[0].rows.len(), 0);
}
