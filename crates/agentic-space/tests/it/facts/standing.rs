//! Facts about agents wherever they are: here, in the archive, and with a remote.

use std::collections::BTreeSet;

use agentic_space::Result;
use agentic_space::archive::{ArchiveWish, SessionUsers, archive, restore};
use agentic_space::model::AgentName;
use agentic_space::spawn::SpawnOrigin;
use agentic_space::sync::{PushScope, fetch, init, push};

use crate::ask::rows;
use crate::place::{Place, kind, name};

const PLACES: &str = "? agent(name: A, place: P).";
const COMMITS: &str = "? commit(agent: A, n: N).";

/// No session is open.
struct NoSessions;

impl SessionUsers for NoSessions {
    fn open_session(&self, _: &BTreeSet<&AgentName>) -> Result<Option<(AgentName, String)>> {
        Ok(None)
    }
}

#[test]
fn an_archived_agent_is_as_present_as_an_open_one() {
    let place = Place::with(&["alice"]);
    place.spawn("bob", &SpawnOrigin::Agent(name("alice"))).expect("the name is free");
    place.commit("bob", &[("b", Some("1\n"))]).expect("there is room");
    place.space.add_trace(&name("bob"), &kind("log"), b"one").expect("there is room");
    place.space.attach_trace(&name("bob"), place.head("bob")).expect("it is his");
    let questions = [
        COMMITS,
        "? changed(path: P, status: S).",
        "? lines(path: P, added: X, deleted: Y).",
        "? sub_agent_of(A, B).",
        "? entry(text: T).",
        "? briefing(agent: A, text: T).",
    ];
    let before = questions.map(|question| rows(&place.space, question));
    archive(&place.space, ArchiveWish::by_person(&[name("bob")]), &NoSessions)
        .expect("nothing is in the way");
    assert_eq!(rows(&place.space, PLACES), "alice open; bob archived");
    assert_eq!(questions.map(|question| rows(&place.space, question)), before);
    restore(&place.space, &[name("bob")]).expect("it is archived");
    assert_eq!(rows(&place.space, PLACES), "alice open; bob open");
    assert_eq!(questions.map(|question| rows(&place.space, question)), before);
}

#[test]
fn an_agent_that_only_a_remote_has_is_told_by_the_remote_and_its_commits_count_once() {
    let mut theirs = Place::with(&["alice"]);
    theirs.commit("alice", &[("a", Some("1"))]).expect("there is room");
    let remote = theirs.make_remote();
    push(&theirs.space, "origin", PushScope::All).expect("the remote is empty");
    let mut ours = Place::new();
    ours.add_remote(&remote);
    init(&ours.space, &["origin".to_owned()]).expect("there is a remote");
    ours.git(&["fetch", "-q", "origin"]);
    ours.space = ours.open_again();
    let known = rows(&ours.space, PLACES);
    assert_eq!(known, "origin/alice remote");
    assert_eq!(rows(&ours.space, COMMITS), "origin/alice 0; origin/alice 1");
    fetch(&ours.space, "origin", &[name("alice")]).expect("it is there");
    // Now both have the same commits: each is told once, of the agent here.
    assert_eq!(rows(&ours.space, COMMITS), "alice 0; alice 1");
    theirs.commit("alice", &[("a", Some("2"))]).expect("there is room");
    push(&theirs.space, "origin", PushScope::All).expect("it is ahead");
    ours.git(&["fetch", "-q", "origin"]);
    ours.space = ours.open_again();
    assert_eq!(rows(&theirs.space, COMMITS), "alice 0; alice 1; alice 2");
    assert_eq!(rows(&ours.space, COMMITS), "alice 0; alice 1; origin/alice 2");
    assert_eq!(rows(&ours.space, PLACES), "alice open; origin/alice remote");
}

#[test]
fn a_name_that_was_given_anew_has_the_facts_of_its_new_owner_alone() {
    let place = Place::with(&["alice"]);
    place.commit("alice", &[("a", Some("1"))]).expect("there is room");
    let question = "? (A, N, T) commit(id: _C, agent: A, n: N), subject(_C, T).";
    let before = rows(&place.space, question);
    place.git(&["branch", "-q", "-D", "agents/alice"]);
    assert_eq!(rows(&place.space, question), "");
    place.spawn("alice", &SpawnOrigin::Root).expect("the name is free again");
    let after = rows(&place.space, "? commit(agent: A, n: N).");
    assert_eq!(after, "alice 0");
    assert_ne!(rows(&place.space, question), before);
}

#[test]
fn a_branch_below_agents_that_was_not_spawned_is_an_agent_without_a_genesis() {
    let place = Place::with(&["alice"]);
    place.commit_on("agents/drifter", "By hand");
    assert_eq!(rows(&place.space, PLACES), "alice open; drifter open");
    assert_eq!(rows(&place.space, "? agent(name: A, genesis: null)."), "drifter");
    assert_eq!(rows(&place.space, "? agent(name: A, briefing: null)."), "drifter");
}

#[test]
fn a_sub_agent_names_its_parent_however_deep() {
    let place = Place::with(&["a0"]);
    for n in 1..6 {
        let origin = SpawnOrigin::Agent(name(&format!("a{}", n - 1)));
        place.spawn(&format!("a{n}"), &origin).expect("the name is free");
    }
    let rule = "under(A, B) :- sub_agent_of(A, B). under(A, C) :- sub_agent_of(A, B), under(B, C).";
    let asked = |query: &str| rows(&place.space, &format!("{rule} {query}"));
    assert_eq!(asked("? under(A, a3)."), "a4; a5");
    assert_eq!(asked("? under(a3, B)."), "a0; a1; a2");
    assert_eq!(asked("? (N) N = count { under(A, B) }."), "15");
    // The middle one goes: its children still name it, and nothing above is invented.
    place.git(&["branch", "-q", "-D", "agents/a3"]);
    assert_eq!(asked("? sub_agent_of(a4, B)."), "a3");
    assert_eq!(asked("? under(a5, B)."), "a3; a4");
}
