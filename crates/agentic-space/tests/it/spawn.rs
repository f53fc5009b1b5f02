//! Spawning agents.

use agentic_space::Error;
use agentic_space::error::AgentError;
use agentic_space::model::Oid;
use agentic_space::spawn::SpawnOrigin;

use crate::place::{Place, briefing, name};

#[test]
fn an_agent_begins_with_its_briefing_and_nothing_else() {
    let place = Place::new();
    let spawned = place.spawn("alice", &SpawnOrigin::Root).expect("the name is free");
    assert_eq!(place.head("alice"), spawned.genesis);
    assert_eq!(place.files("alice"), Vec::<String>::new());
    let genesis = place.space.read_commit(spawned.genesis).expect("it was just made");
    assert_eq!(genesis.parents, []);
    let kept = place.space.object(spawned.briefing).expect("it is kept with the agent");
    assert_eq!(kept, briefing("alice"));
    place.check_sound();
}

#[test]
fn a_name_that_is_taken_stays_with_who_has_it() {
    let place = Place::with(&["alice"]);
    let before = place.head("alice");
    let refused = place.spawn("alice", &SpawnOrigin::Root);
    assert!(matches!(refused, Err(Error::Agent(AgentError::Exists { .. }))), "{refused:?}");
    assert_eq!(place.head("alice"), before);
}

#[test]
fn a_fork_stands_upon_the_head_of_its_parent() {
    let place = Place::with(&["alice"]);
    let above = place.commit("alice", &[("a", Some("1"))]).expect("there is room").commit;
    let forked = place.spawn("bob", &SpawnOrigin::Agent(name("alice"))).expect("the name is free");
    assert_eq!(forked.parent, Some(name("alice")));
    let genesis = place.space.read_commit(forked.genesis).expect("it was just made");
    assert_eq!(genesis.parents, [above]);
    assert_eq!(place.file("bob", "a"), "1");
    place.commit("bob", &[("a", Some("2"))]).expect("there is room");
    assert_eq!(place.file("alice", "a"), "1", "a fork changes nothing of its parent");
}

#[test]
fn an_origin_that_does_not_exist_leaves_nothing() {
    let place = Place::new();
    let nowhere = Oid::parse(&"1".repeat(40)).expect("40 digits");
    for origin in [SpawnOrigin::Agent(name("nobody")), SpawnOrigin::Commit(nowhere)] {
        assert!(place.spawn("alice", &origin).is_err(), "{origin:?}");
        assert!(place.space.head(&name("alice")).is_err(), "{origin:?}");
        assert_eq!(place.git(&["for-each-ref"]), "", "{origin:?}");
    }
    place.spawn("alice", &SpawnOrigin::Root).expect("the name is still free");
}
