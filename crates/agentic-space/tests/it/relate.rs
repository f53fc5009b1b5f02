//! Relations.

use agentic_space::error::RelationError;
use agentic_space::model::edge::{EdgeEvent, Party};
use agentic_space::relate::{RelateOutcome, relate};
use agentic_space::spawn::SpawnOrigin;
use agentic_space::{Error, Result};

use crate::ask::ask;
use crate::place::{Place, kind, name};

/// Says that bob relates to alice, or no longer.
fn say(place: &Place, relation: &str, event: EdgeEvent) -> Result<RelateOutcome> {
    let (bob, alice) = (Party::Agent(name("bob")), Party::Agent(name("alice")));
    relate(&place.space, &bob, &kind(relation), &alice, event)
}

/// Counts what holds by a relation, as a new command reads it.
fn n_holding(place: &Place, relation: &str) -> usize {
    let query = match relation {
        "sub-agent-of" => "? sub_agent_of(A, B).".to_owned(),
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
