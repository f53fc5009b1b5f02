//! Agents: what is known of one, also where a person has changed its branch.

use agentic_space::agent::{is_genesis_of, kind_on};
use agentic_space::error::{AgentError, BranchError};
use agentic_space::model::commit::Claims;
use agentic_space::spawn::SpawnOrigin;
use agentic_space::{AgentBranch, CommitHome, Error, Space};

use crate::place::{Place, name};

#[test]
fn an_agent_is_described_by_its_own_commits() {
    let place = Place::with(&["alice"]);
    place.commit("alice", &[("a", Some("1"))]).expect("there is room");
    place.spawn("bob", &SpawnOrigin::Agent(name("alice"))).expect("the name is free");
    place.commit("bob", &[("b", Some("1"))]).expect("there is room");
    let bob = place.space.agent(&name("bob")).expect("it is there");
    assert_eq!((bob.n_commits, bob.parent), (2, Some(name("alice"))));
    assert_eq!((bob.subject.as_str(), bob.head), ("Change files", place.head("bob")));
    let names: Vec<_> =
        place.space.agents().expect("readable").map(|agent| agent.expect("sound").name).collect();
    assert_eq!(names, [name("alice"), name("bob")]);
}

#[test]
fn a_commit_by_plain_git_is_one_without_a_kind() {
    let place = Place::with(&["alice"]);
    let by_hand = place.commit_on("agents/alice", "By hand");
    let agent = place.space.agent(&name("alice")).expect("it is no error");
    assert_eq!((agent.head, agent.n_commits), (by_hand, 2));
    let info = place.space.read_commit(by_hand).expect("sound");
    let claims = Claims::read(&info.message);
    assert_eq!(kind_on(&name("alice"), &claims).as_str(), "agent-commit");
    place.commit("alice", &[("a", Some("1"))]).expect("it goes on from there");
}

#[test]
fn a_branch_that_was_not_spawned_has_neither_genesis_nor_briefing() {
    let place = Place::new();
    place.commit_on("agents/alice", "By hand");
    let agent = place.space.agent(&name("alice")).expect("it is a branch");
    assert_eq!((agent.genesis, agent.parent, agent.briefing), (None, None, None));
    assert!(place.space.briefing(&name("alice")).is_err());
    place.commit("alice", &[("a", Some("1"))]).expect("it can be worked on all the same");
    place.check_sound();
}

#[test]
fn claims_count_on_the_branch_of_whoever_they_name() {
    let place = Place::with(&["alice"]);
    let genesis = place.space.read_commit(place.head("alice")).expect("sound").message;
    let claims = Claims::read(&genesis);
    assert!(is_genesis_of(&name("alice"), &claims));
    assert!(!is_genesis_of(&name("bob"), &claims), "a copy of it makes nobody");
    assert_eq!(kind_on(&name("alice"), &claims).as_str(), "spawn");
    assert_eq!(kind_on(&name("bob"), &claims).as_str(), "agent-commit");
}

#[test]
fn agents_part_where_they_have_their_last_commit_in_common() {
    let place = Place::with(&["alice", "carol"]);
    let common = place.commit("alice", &[("a", Some("1"))]).expect("there is room").commit;
    place.spawn("bob", &SpawnOrigin::Agent(name("alice"))).expect("the name is free");
    for agent in ["alice", "bob"] {
        place.commit(agent, &[(agent, Some("x"))]).expect("there is room");
    }
    assert_eq!(place.space.fork_point(&name("alice"), &name("bob")).expect("they do"), common);
    let none = place.space.fork_point(&name("alice"), &name("carol"));
    assert!(matches!(none, Err(Error::Branch(BranchError::NoForkPoint { .. }))), "{none:?}");
}

#[test]
fn an_agent_that_is_not_there_is_unknown() {
    let place = Place::with(&["alice"]);
    place.git(&["update-ref", "-d", "refs/heads/agents/alice"]);
    let space = place.open_again();
    for gone in ["alice", "nobody"] {
        let unknown = space.agent(&name(gone));
        let is_told = matches!(unknown, Err(Error::Agent(AgentError::Unknown { .. })));
        assert!(is_told, "{gone}: {unknown:?}");
    }
    assert_eq!(space.agent_names().expect("readable"), []);
}

#[test]
fn whoever_stands_on_the_branch_of_an_agent_is_that_agent() {
    let place = Place::with(&["alice"]);
    assert_eq!(place.space.current_agent(), None);
    place.git(&["symbolic-ref", "HEAD", "refs/heads/agents/alice"]);
    assert_eq!(place.open_again().current_agent(), Some(name("alice")));
    place.git(&["symbolic-ref", "HEAD", "refs/heads/agents/sub/alice"]);
    assert_eq!(place.open_again().current_agent(), None, "names of agents are flat");
}

#[test]
fn a_folder_without_a_repository_is_no_space() {
    let place = Place::new();
    let folder = place.beside("nothing");
    std::fs::create_dir(&folder).expect("writable");
    assert!(Space::open(&folder, agentic_space::Options::default()).is_err());
    assert!(Space::open(&place.beside("none"), agentic_space::Options::default()).is_err());
}

#[test]
fn a_repository_whose_refs_cannot_be_seen_is_refused() {
    let place = Place::with(&["alice"]);
    place.git(&["config", "core.repositoryFormatVersion", "1"]);
    place.git(&["config", "extensions.refStorage", "reftable"]);
    let opened = Space::open(&place.path(), agentic_space::Options::default());
    assert!(opened.is_err(), "it would look empty");
}

#[test]
fn a_name_with_a_remote_is_a_branch_that_was_fetched() {
    let mut place = Place::with(&["alice"]);
    let remote = place.make_remote();
    let known = |text: &str| place.space.remote_branch(text).expect("readable");
    assert_eq!(known("origin/alice"), None, "nothing was fetched yet");
    place.git(&["update-ref", "refs/remotes/origin/agents/alice", "agents/alice"]);
    let there = AgentBranch { agent: name("alice"), remote: Some("origin".to_owned()) };
    assert_eq!(known("origin/alice"), Some(there.clone()));
    assert_eq!(place.space.branch_head(&there).expect("it is there"), place.head("alice"));
    for none in ["alice", "origin/bob", "elsewhere/alice", "origin/", "/alice", "origin/Alice"] {
        assert_eq!(known(none), None, "{none}");
    }
    assert!(remote.exists());
}

#[test]
fn a_commit_stands_on_the_branch_of_a_remote_too() {
    let mut place = Place::with(&["alice", "bob"]);
    place.make_remote();
    let commit = place.head("alice");
    let home = |place: &Place, agent: &str| {
        place.space.home_of_commit(&name(agent), commit).expect("readable")
    };
    let here = AgentBranch::here(name("alice"));
    assert_eq!(home(&place, "alice"), Some(CommitHome::Branch(here)));
    assert_eq!(home(&place, "bob"), None, "it was copied at most");
    place.git(&["update-ref", "refs/remotes/origin/agents/carol", "agents/alice"]);
    let there = AgentBranch { agent: name("carol"), remote: Some("origin".to_owned()) };
    assert_eq!(home(&place, "carol"), Some(CommitHome::Branch(there)));
}
