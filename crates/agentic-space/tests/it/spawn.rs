//! Spawning agents.

use std::fs::File;
use std::time::Duration;

use agentic_space::Error;
use agentic_space::commit::Asker;
use agentic_space::error::AgentError;
use agentic_space::model::{Map, Object, Oid, Value};
use agentic_space::spawn::{SpawnDraft, SpawnOrigin, spawn, spawn_draft, spawn_for};
use agentic_store::{Lock, Patience, Stream};

use crate::place::{Place, briefing, name, walk};

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

#[test]
fn a_spawn_that_is_broken_off_anywhere_is_there_whole_or_not_at_all() {
    let act = |place: &Place| _ = place.spawn("alice", &SpawnOrigin::Root);
    walk(Place::new, act, |place, step| match place.space.agent(&name("alice")) {
        Ok(agent) => {
            assert_eq!((agent.n_commits, agent.genesis), (1, Some(agent.head)), "step {step}");
            let said = place.space.briefing(&name("alice")).expect("it came with the agent").1;
            assert_eq!(said, briefing("alice"), "step {step}");
            let again = place.spawn("alice", &SpawnOrigin::Root);
            assert!(matches!(again, Err(Error::Agent(AgentError::Exists { .. }))), "step {step}");
        }
        Err(Error::Agent(AgentError::Unknown { .. })) => {
            assert_eq!(place.git(&["for-each-ref"]), "", "step {step}");
            place.spawn("alice", &SpawnOrigin::Root).expect("the name is still free");
        }
        Err(other) => panic!("step {step}: {other}"),
    });
}

#[test]
fn of_those_who_race_for_a_name_one_has_it() {
    let place = Place::new();
    let made: Vec<_> = std::thread::scope(|scope| {
        let make = |_| {
            scope.spawn(|| {
                let space = place.open_again();
                spawn(&space, &name("alice"), &briefing("x"), &SpawnOrigin::Root)
            })
        };
        let all: Vec<_> = (0..4).map(make).collect();
        all.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(made.iter().filter(|made| made.is_ok()).count(), 1, "{made:?}");
    let lost =
        made.iter().filter(|made| matches!(made, Err(Error::Agent(AgentError::Exists { .. }))));
    assert_eq!(lost.count(), 3, "{made:?}");
    place.check_sound();
}

#[test]
fn a_genesis_says_who_was_made_from_whom_and_why() {
    let place = Place::with(&["alice"]);
    place.spawn("bob", &SpawnOrigin::Agent(name("alice"))).expect("the name is free");
    let message = place.git(&["log", "-1", "--format=%B", "agents/bob"]);
    for line in
        ["Spawn bob: bob", "Agentic-Kind: spawn", "Agentic-Agent: bob", "Agentic-Parent: alice"]
    {
        assert!(message.lines().any(|found| found == line), "{line}: {message}");
    }
    let author = place.git(&["log", "-1", "--format=%an <%ae> %cn", "agents/bob"]);
    assert_eq!(author, "bob <bob@agents.invalid> Ada");
}

#[test]
fn a_spawn_for_a_request_names_it() {
    let place = Place::new();
    let asker = Asker { behaviour: None, session: "s1".to_owned(), request: Some("r1".to_owned()) };
    let origin = SpawnOrigin::Root;
    spawn_for(&place.space, &name("alice"), &briefing("x"), &origin, Some(asker)).expect("free");
    let message = place.git(&["log", "-1", "--format=%B", "agents/alice"]);
    assert!(message.contains("Agentic-Session: s1\nAgentic-Request: r1"), "{message}");
}

#[test]
fn a_name_that_cannot_become_a_ref_leaves_nothing_behind() {
    let place = Place::new();
    place.git(&["symbolic-ref", "refs/heads/agents/alice", "refs/heads/elsewhere"]);
    let folder = place.path().join(".git/refs/notes/agentic/bob");
    std::fs::create_dir_all(folder.join("deep")).expect("writable");
    std::fs::write(folder.join("deep/file"), "x").expect("writable");
    for agent in ["alice", "bob"] {
        assert!(place.spawn(agent, &SpawnOrigin::Root).is_err(), "{agent}");
        let journal = place.path().join(".git/agentic/journal").join(agent);
        assert!(!journal.exists(), "{agent}: a journal is made before the refs are");
    }
}

#[test]
fn an_agent_begins_at_any_commit_as_nobodys_child() {
    let place = Place::new();
    let commit = place.commit_on("main", "By hand");
    let made = place.spawn("alice", &SpawnOrigin::Commit(commit)).expect("it is there");
    assert_eq!(made.parent, None);
    assert_eq!(place.space.read_commit(made.genesis).expect("made").parents, [commit]);
    assert_eq!(place.space.parent_of(&name("alice")).expect("readable"), None);
    let own = place.space.own_commits(&name("alice"), made.genesis).expect("readable");
    assert_eq!(own.len(), 1, "what was there before is not its own");
}

#[test]
fn an_object_that_is_no_briefing_makes_no_agent() {
    let place = Place::new();
    let map = Map::from([("type".to_owned(), Value::text("plan"))]);
    let plan = Object::new(map).expect("it is short");
    assert!(spawn(&place.space, &name("alice"), &plan, &SpawnOrigin::Root).is_err());
    assert_eq!(place.git(&["for-each-ref"]), "");
}

#[test]
fn whoever_cannot_wait_for_others_makes_nothing() {
    let place = Place::with(&["other"]);
    let commit = place.commit("other", &[("a", Some("1"))]).expect("there is room").commit;
    let repository = place.space.repository();
    let layout = repository.layout();
    let make = || {
        let briefing = briefing("alice");
        let draft = SpawnDraft {
            briefing: &briefing,
            origin: &SpawnOrigin::Commit(commit),
            behaviour: None,
            asker: None,
            patience: Patience::of(Duration::ZERO),
        };
        spawn_draft(&place.space, &name("alice"), draft)
    };
    let is_refused = |why: &str| {
        let made = make();
        assert!(matches!(made, Err(Error::Agent(AgentError::Busy { .. }))), "{why}: {made:?}");
        assert!(place.space.head(&name("alice")).is_err(), "{why}");
    };
    let stream = Stream::Agent(name("alice"));
    let held = Lock::take(&layout.lock(&stream), repository.common_dir()).expect("it is free");
    is_refused("somebody makes it");
    drop(held);
    let syncs = layout.syncs().with_added_extension("lock");
    let syncing = File::options().write(true).create(true).truncate(false).open(syncs);
    let syncing = syncing.expect("writable");
    syncing.lock().expect("it is free");
    is_refused("somebody syncs");
    syncing.unlock().expect("it is held");
    let made = make().expect("nobody is in the way");
    assert_eq!(place.head("alice"), made.genesis);
    place.check_sound();
}
