//! Archiving agents and bringing them back.

use std::collections::BTreeSet;

use agentic_space::archive::{ArchiveOutcome, ArchiveWish, SessionUsers, archive, restore};
use agentic_space::error::{AgentError, WorktreeError};
use agentic_space::model::AgentName;
use agentic_space::spawn::SpawnOrigin;
use agentic_space::worktree::add;
use agentic_space::{Error, Result};

use crate::place::{Place, briefing, kind, name, walk};

/// Sessions that are open: of this agent, or of none.
struct OpenSessions(Option<AgentName>);

impl SessionUsers for OpenSessions {
    fn open_session(&self, agents: &BTreeSet<&AgentName>) -> Result<Option<(AgentName, String)>> {
        let found = self.0.as_ref().filter(|agent| agents.contains(agent));
        Ok(found.map(|agent| (agent.clone(), "a session".to_owned())))
    }
}

/// Archives the agent `alice`, who has no sessions.
pub fn archive_alice(place: &Place) -> Result<ArchiveOutcome> {
    archive(&place.space, ArchiveWish::by_person(&[name("alice")]), &OpenSessions(None))
}

#[test]
fn an_archived_agent_has_no_refs_and_comes_back_as_it_was() {
    let place = Place::with(&["alice", "bob"]);
    let head = place.commit("alice", &[("a", Some("1"))]).expect("there is room").commit;
    place.space.add_trace(&name("alice"), &kind("log"), b"one").expect("there is room");
    let bound = place.space.attach_trace(&name("alice"), head).expect("it is hers");
    archive_alice(&place).expect("nothing is in the way");
    let refs = place.git(&["for-each-ref", "--format=%(refname)"]);
    assert!(!refs.contains("alice") && refs.contains("agents/bob"), "{refs}");
    let gone = place.space.head(&name("alice"));
    assert!(matches!(gone, Err(Error::Agent(AgentError::Archived { .. }))), "{gone:?}");
    let archived = place.space.archived_agents().expect("sound");
    assert_eq!(archived.len(), 1);
    assert_eq!((&archived[0].archived.agent, archived[0].archived.head), (&name("alice"), head));
    place.check_sound();
    restore(&place.space, &[name("alice")]).expect("it is archived");
    assert_eq!((place.head("alice"), place.file("alice", "a")), (head, "1".to_owned()));
    assert_eq!(place.space.trace_of_commit(head).expect("it came back").cid, bound.cid);
    assert_eq!(place.space.archived_agents().expect("sound").len(), 0);
    place.check_sound();
}

#[test]
fn who_has_something_pending_stays() {
    let place = Place::with(&["alice"]);
    let before = place.head("alice");
    let in_session = archive(
        &place.space,
        ArchiveWish::by_person(&[name("alice")]),
        &OpenSessions(Some(name("alice"))),
    );
    assert!(
        matches!(in_session, Err(Error::Agent(AgentError::SessionOpen { .. }))),
        "{in_session:?}"
    );
    place.space.add_trace(&name("alice"), &kind("log"), b"one").expect("there is room");
    let refused = archive_alice(&place);
    assert!(matches!(refused, Err(Error::Agent(AgentError::TracePending { .. }))), "{refused:?}");
    assert_eq!(place.head("alice"), before);
}

#[test]
fn one_who_cannot_go_keeps_the_others() {
    let place = Place::with(&["alice", "bob"]);
    place.space.add_trace(&name("bob"), &kind("log"), b"one").expect("there is room");
    let both = [name("alice"), name("bob")];
    assert!(archive(&place.space, ArchiveWish::by_person(&both), &OpenSessions(None)).is_err());
    place.head("alice");
    place.head("bob");
}

#[test]
fn the_name_of_an_archived_agent_is_not_free() {
    let place = Place::with(&["alice"]);
    archive_alice(&place).expect("nothing is in the way");
    let refused = place.spawn("alice", &SpawnOrigin::Root);
    assert!(matches!(refused, Err(Error::Agent(AgentError::NameArchived { .. }))), "{refused:?}");
    let never = restore(&place.space, &[name("bob")]);
    assert!(never.is_err(), "{never:?}");
}

#[test]
fn an_archiving_that_is_broken_off_anywhere_leaves_each_agent_here_or_there() {
    let prepare = || {
        let place = Place::with(&["alice", "bob"]);
        place.commit("alice", &[("a", Some("1"))]).expect("there is room");
        place
    };
    let act = |place: &Place| {
        let both = [name("alice"), name("bob")];
        let _ = archive(&place.space, ArchiveWish::by_person(&both), &OpenSessions(None));
    };
    walk(prepare, act, |place, step| {
        let here = place.space.agent_names().expect("readable").len();
        let there = place.space.archived_agents().expect("sound").len();
        assert_eq!((here + there, here % 2), (2, 0), "step {step}: all or none");
        if here == 0 {
            let both = [name("alice"), name("bob")];
            restore(&place.space, &both).unwrap_or_else(|error| panic!("step {step}: {error}"));
        }
        assert_eq!(place.file("alice", "a"), "1", "step {step}");
    });
}

#[test]
fn a_restoring_that_is_broken_off_anywhere_can_be_repeated() {
    let prepare = || {
        let place = Place::with(&["alice"]);
        place.commit("alice", &[("a", Some("1"))]).expect("there is room");
        archive_alice(&place).expect("nothing is in the way");
        place
    };
    let act = |place: &Place| _ = restore(&place.space, &[name("alice")]);
    walk(prepare, act, |place, step| {
        if place.space.archived_agent(&name("alice")).expect("sound").is_some() {
            restore(&place.space, &[name("alice")])
                .unwrap_or_else(|error| panic!("step {step}: {error}"));
        }
        assert_eq!(place.file("alice", "a"), "1", "step {step}");
        assert_eq!(
            place.space.briefing(&name("alice")).expect("it came back").1,
            briefing("alice")
        );
        place.commit("alice", &[("b", Some("2"))]).expect("it goes on");
    });
}

#[test]
fn an_agent_with_a_worktree_is_not_archived() {
    let place = Place::with(&["alice"]);
    add(&place.space, &name("alice"), &place.beside("alice")).expect("the folder is free");
    let refused = archive_alice(&place);
    let Err(Error::Worktree(WorktreeError::CheckedOut { .. })) = refused else {
        panic!("{refused:?}")
    };
    place.head("alice");
}

#[test]
fn what_is_archived_is_nothing_that_git_collects() {
    let place = Place::with(&["alice"]);
    let head = place.commit("alice", &[("a", Some("1"))]).expect("there is room").commit;
    archive_alice(&place).expect("nothing is in the way");
    place.git(&["gc", "--quiet", "--prune=now"]);
    restore(&place.space, &[name("alice")]).expect("it is kept");
    assert_eq!((place.head("alice"), place.file("alice", "a")), (head, "1".to_owned()));
}

#[test]
fn an_agent_is_archived_again_after_it_came_back() {
    let place = Place::with(&["alice"]);
    for round in 0..3 {
        let head = place.commit("alice", &[("a", Some(&round.to_string()))]).expect("room").commit;
        archive_alice(&place).expect("nothing is in the way");
        let entry =
            place.space.archived_agent(&name("alice")).expect("sound").expect("it is there");
        assert_eq!(entry.archived.head, head, "the newest state counts");
        restore(&place.space, &[name("alice")]).expect("it is archived");
    }
    let not = restore(&place.space, &[name("alice")]);
    assert!(matches!(not, Err(Error::Agent(AgentError::NotArchived { .. }))), "{not:?}");
}
