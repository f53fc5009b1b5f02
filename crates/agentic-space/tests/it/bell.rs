//! Those who stay hear of every write, once it is visible.

use std::collections::BTreeSet;

use agentic_space::spawn::SpawnOrigin;
use agentic_store::bell::{Bell, GroundChange};
use agentic_store::{Layout, Stream};

use crate::place::{Place, kind, name};

fn rung_for(agents: &[&str]) -> BTreeSet<GroundChange> {
    agents.iter().map(|agent| GroundChange::Stream(Stream::Agent(name(agent)))).collect()
}

fn layout(place: &Place) -> Layout {
    place.space.repository().layout().clone()
}

#[test]
fn each_write_rings_for_its_agent_when_it_can_be_seen() {
    let place = Place::with(&["alice"]);
    let mut bell = Bell::hang_up(&layout(&place)).expect("writable");
    place.commit("alice", &[("a", Some("1"))]).expect("there is room");
    assert_eq!(bell.take(), rung_for(&["alice"]));
    place.spawn("bob", &SpawnOrigin::Agent(name("alice"))).expect("the name is free");
    assert!(bell.take().is_superset(&rung_for(&["bob"])));
    place.space.add_trace(&name("bob"), &kind("log"), b"looked").expect("there is room");
    assert_eq!(bell.take(), rung_for(&["bob"]));
}

#[test]
fn a_refused_write_rings_for_nobody() {
    let place = Place::with(&["alice"]);
    let mut bell = Bell::hang_up(&layout(&place)).expect("writable");
    assert!(place.commit("alice", &[]).is_err(), "nothing changed");
    assert!(place.spawn("alice", &SpawnOrigin::Root).is_err(), "the name is taken");
    assert_eq!(bell.take(), BTreeSet::new());
}
