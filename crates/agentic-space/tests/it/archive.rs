//! Archiving agents and bringing them back.

use std::collections::BTreeSet;

use agentic_space::archive::{ArchiveOutcome, SessionUsers, archive, restore};
use agentic_space::error::AgentError;
use agentic_space::model::AgentName;
use agentic_space::spawn::SpawnOrigin;
use agentic_space::{Error, Result};

use crate::place::{Place, kind, name};

/// Sessions that are open: of this agent, or of none.
struct OpenSessions(Option<AgentName>);

impl SessionUsers for OpenSessions {
    fn open_session(&self, agents: &BTreeSet<&AgentName>) -> Result<Option<(AgentName, String)>> {
        let found = self.0.as_ref().filter(|agent| agents.contains(agent));
        Ok(found.map(|agent| (agent.clone(), "a session".to_owned())))
    }
}

fn archive_alice(place: &Place) -> Result<ArchiveOutcome> {
    archive(&place.space, &[name("alice")], &OpenSessions(None))
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
    let in_session = archive(&place.space, &[name("alice")], &OpenSessions(Some(name("alice"))));
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
    assert!(archive(&place.space, &both, &OpenSessions(None)).is_err());
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
