//! Facts of a repository: what is cached is what is there, whatever became of the cache.

mod change;
mod fold;
mod meanwhile;
mod pace;
mod relation;
mod restriction;
mod standing;
mod trace;

use agentic_space::spawn::SpawnOrigin;

use crate::ask::{ask, rows};
use crate::place::{Place, name};

/// Everything that follows from ids alone.
const ALL: &str = "? (A, N, P, S) commit(id: _C, agent: A, n: N), changed(_C, P, S).";
const COUNTS: &str = "? (N, P, X, Y) commit(id: _C, n: N), lines(_C, P, X, Y).";

fn cache_of(place: &Place) -> std::path::PathBuf {
    place.space.repository().layout().cache().join("query")
}

#[test]
fn an_answer_is_the_same_with_a_cache_without_one_and_with_a_damaged_one() {
    let place = Place::with(&["alice"]);
    place.commit("alice", &[("a", Some("1\n"))]).expect("it changes a file");
    let first = rows(&place.space, ALL);
    assert_eq!(first, "alice 1 a A");
    assert!(cache_of(&place).join("commits").is_dir());
    assert_eq!(rows(&place.space, ALL), first);
    for folder in std::fs::read_dir(cache_of(&place)).expect("it is there").flatten() {
        for file in std::fs::read_dir(folder.path()).expect("it is there").flatten() {
            let mut bytes = std::fs::read(file.path()).expect("readable");
            let last = bytes.len() - 1;
            bytes[last] ^= 1;
            std::fs::write(file.path(), bytes).expect("writable");
        }
    }
    assert_eq!(rows(&place.space, ALL), first, "bytes that changed on the disk are no cache");
    std::fs::remove_dir_all(cache_of(&place)).expect("it is there");
    assert_eq!(rows(&place.space, ALL), first);
}

#[test]
fn a_head_that_moved_on_or_back_is_seen() {
    let place = Place::with(&["alice"]);
    place.commit("alice", &[("a", Some("1\n2\n"))]).expect("it changes a file");
    assert_eq!(rows(&place.space, COUNTS), "1 a 2 0");
    place.commit("alice", &[("a", Some("1\n3\n"))]).expect("it changes a file");
    assert_eq!(rows(&place.space, COUNTS), "1 a 2 0; 2 a 1 1");
    place.git(&["branch", "-f", "agents/alice", "agents/alice~1"]);
    place.git(&["commit-tree", "-m", "x", "agents/alice^{tree}"]);
    assert_eq!(rows(&place.space, COUNTS), "1 a 2 0");
}

#[test]
fn a_line_that_cannot_be_read_is_left_out_with_a_note() {
    let place = Place::with(&["alice", "bob"]);
    let commit = place.commit("alice", &[("a", Some("1\n"))]);
    commit.expect("it changes a file");
    let head = place.head("alice").to_string();
    let path = place.path().join(".git/objects").join(&head[..2]).join(&head[2..]);
    std::fs::remove_file(path).expect("it is loose");
    // The journal would bring it back.
    std::fs::remove_dir_all(place.path().join(".git/agentic")).expect("it is there");
    let space = place.open_again();
    let report = ask(&space, "? commit(agent: A, n: N).");
    assert_eq!(report.answers[0].rows.len(), 1, "bob's commits are there");
    assert!(report.notes.iter().any(|note| note.contains("alice")), "{:?}", report.notes);
    let report = ask(&space, "? agent(name: alice, place: P).");
    assert_eq!(report.answers[0].rows.len(), 1, "the agent is there all the same");
}

#[test]
fn a_deleted_agent_leaves_no_facts() {
    let place = Place::with(&["alice", "bob"]);
    assert_eq!(rows(&place.space, "? commit(agent: A, n: N)."), "alice 0; bob 0");
    place.git(&["branch", "-q", "-D", "agents/bob"]);
    assert_eq!(rows(&place.space, "? commit(agent: A, n: N)."), "alice 0");
}

#[test]
fn an_id_may_be_cut_short() {
    let place = Place::with(&["alice"]);
    place.spawn("bob", &SpawnOrigin::Agent(name("alice"))).expect("the name is free");
    let head = place.head("bob").to_string();
    let asked = format!("? commit(id: #{}, agent: A).", &head[..12]);
    assert_eq!(rows(&place.space, &asked), "bob");
    let briefing = rows(&place.space, "? briefing(bob, C, _).");
    let asked = format!("? object(#{}, T, bob).", &briefing[..20]);
    assert_eq!(rows(&place.space, &asked), "briefing");
}
