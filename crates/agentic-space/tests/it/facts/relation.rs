//! Facts about who relates to whom, and about kinds and objects.

use agentic_space::AgentBranch;
use agentic_space::commit::commit;
use agentic_space::merge::{MergePlan, Target, merge};
use agentic_space::model::edge::{EdgeEvent, Party};
use agentic_space::model::{KindEntry, Map, Object, Value};
use agentic_space::relate::relate;
use agentic_space::spawn::SpawnOrigin;
use agentic_space::worktree::add;

use crate::ask::rows;
use crate::place::{Place, draft, kind, name};

fn agent(text: &str) -> Party {
    Party::Agent(name(text))
}

fn say(place: &Place, source: &Party, target: &Party, event: EdgeEvent) {
    relate(&place.space, source, &kind("reviews"), target, event).expect("it may be said");
}

#[test]
fn an_edge_is_a_fact_while_it_holds_and_its_events_stay() {
    let place = Place::with(&["alice", "bob"]);
    let (alice, bob) = (agent("alice"), agent("bob"));
    let holding = "? edge(source: S, relation: R, target: T).";
    let events = "? (E, N) N = count { edge_event(event: E, keeper: bob) }.";
    say(&place, &bob, &alice, EdgeEvent::Assert);
    assert_eq!(rows(&place.space, holding), "bob reviews alice");
    assert_eq!(rows(&place.space, "? reviews(W, A)."), "bob alice");
    assert_eq!(rows(&place.space, events), "assert 1");
    say(&place, &bob, &alice, EdgeEvent::Retract);
    assert_eq!(rows(&place.space, holding), "");
    assert_eq!(rows(&place.space, "? reviews(W, A)."), "");
    assert_eq!(rows(&place.space, events), "assert 1; retract 1");
}

#[test]
fn a_person_who_reviews_is_named_as_one() {
    let place = Place::with(&["alice"]);
    let eve = Party::parse("user:eve").expect("a person");
    say(&place, &eve, &agent("alice"), EdgeEvent::Assert);
    assert_eq!(rows(&place.space, "? reviews(W, alice)."), "user:eve");
    let asked = "? edge(source: \"user:eve\", target: T, relation: R).";
    assert_eq!(rows(&place.space, asked), "alice reviews", "its target keeps it");
}

#[test]
fn a_merge_is_a_fact_about_whoever_took_it() {
    let place = Place::with(&["alice"]);
    place.commit("alice", &[("a", Some("1"))]).expect("there is room");
    place.spawn("bob", &SpawnOrigin::Agent(name("alice"))).expect("the name is free");
    place.commit("bob", &[("b", Some("1"))]).expect("there is room");
    assert_eq!(rows(&place.space, "? merged_into(A, B)."), "");
    place.commit_on("main", "By hand");
    let bob = AgentBranch::here(name("bob"));
    let plan = MergePlan::default();
    merge(&place.space, &bob, &Target::Agent(name("alice")), &plan).expect("nothing conflicts");
    assert_eq!(rows(&place.space, "? merged_into(A, B)."), "bob alice");
    let parents = "? (N) commit(id: _C, agent: alice, n: 2), parent(_C, _P, N).";
    assert_eq!(rows(&place.space, parents), "0; 1");
    // A merge changes what its first parent has not.
    let changed = "? (P, S) commit(id: _C, agent: alice, n: 2), changed(_C, P, S).";
    assert_eq!(rows(&place.space, changed), "b A");
}

#[test]
fn a_kind_is_itself_and_all_above_it() {
    let place = Place::with(&["alice"]);
    assert_eq!(rows(&place.space, "? is_a(deploy, A)."), "", "nobody has registered it");
    for (text, parent) in [("deploy", "agent-commit"), ("hotfix", "deploy")] {
        let (name, parent) = (kind(text), Some(kind(parent)));
        let entry = KindEntry { name, parent, description: "of a test".to_owned(), schema: None };
        place.space.register_kind(entry).expect("the name is free");
    }
    assert_eq!(rows(&place.space, "? (A) is_a(hotfix, A)."), "agent-commit; deploy; hotfix");
    assert_eq!(rows(&place.space, "? kind(hotfix, P)."), "deploy");
    assert_eq!(rows(&place.space, "? (K) kind(name: K), !is_a(K, K)."), "", "every kind is itself");
    let mut typed = draft("Typed", &[("a", Some("1"))]);
    typed.kind = Some(kind("hotfix"));
    commit(&place.space, &name("alice"), &typed).expect("it is registered");
    let deployed = "? (A, K) commit(agent: A, kind: K), is_a(K, deploy).";
    assert_eq!(rows(&place.space, deployed), "alice hotfix");
}

#[test]
fn an_object_is_told_of_whoever_keeps_it() {
    let place = Place::with(&["alice", "bob"]);
    let map = [("type", Value::text("plan")), ("n", Value::Int(1))];
    let map: Map = map.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let plan = Object::new(map).expect("it is short");
    place.space.put_object(&name("alice"), &plan).expect("there is room");
    let asked = "? object(cid: C, type: plan, agent: A).";
    assert_eq!(rows(&place.space, asked), format!("{} alice", plan.cid()));
    place.space.put_object(&name("bob"), &plan).expect("there is room");
    assert_eq!(rows(&place.space, "? (A) object(type: plan, agent: A)."), "alice; bob");
    assert_eq!(rows(&place.space, "? (N) N = count { object(type: briefing, agent: _A) }."), "2");
}

#[test]
fn a_worktree_is_a_fact_of_this_machine_until_it_is_gone() {
    let place = Place::with(&["alice", "bob"]);
    assert_eq!(rows(&place.space, "? worktree(agent: A)."), "");
    let folder = place.beside("alice");
    add(&place.space, &name("alice"), &folder).expect("the folder is free");
    let space = place.open_again();
    let head = place.head("alice");
    assert_eq!(rows(&space, "? worktree(agent: A, base: B)."), format!("alice {head}"));
    std::fs::remove_dir_all(&folder).expect("it is there");
    place.git(&["worktree", "prune"]);
    assert_eq!(rows(&place.open_again(), "? worktree(agent: A)."), "");
}
