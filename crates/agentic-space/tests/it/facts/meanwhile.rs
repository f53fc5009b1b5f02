//! What happens to a repository while a question reads it.

use crate::archive::archive_alice;
use crate::ask::{ask_while, said};
use crate::place::Place;

/// Lists agents, then reads their commits.
const COMMITS: &str = "? (A, N) agent(name: A, head: _H), commit(id: _H, agent: A, n: N).";
const CHANGES: &str = "? (A, P) agent(name: A, head: _H), changed(_H, P, _).";

/// Three agents whose objects are all in one pack.
fn packed() -> Place {
    let mut place = Place::with(&["alice", "bob", "carol"]);
    for agent in ["alice", "bob", "carol"] {
        place.commit(agent, &[(agent, Some("1\n"))]).expect("it changes a file");
    }
    place.git(&["repack", "-adq"]);
    place.space = place.open_again();
    place
}

/// Takes all away that nothing names, from the journals too.
fn prune(place: &Place) {
    std::fs::remove_dir_all(place.path().join(".git/agentic")).expect("it is there");
    place.git(&["reflog", "expire", "--expire=now", "--all"]);
    place.git(&["-c", "gc.pruneExpire=now", "gc", "--quiet", "--prune=now"]);
}

#[test]
fn objects_that_move_to_another_pack_are_found_there() {
    for (question, expected) in
        [(COMMITS, "alice 1; bob 1; carol 1"), (CHANGES, "alice alice; bob bob; carol carol")]
    {
        let place = packed();
        let predicate = if question == COMMITS { "commit" } else { "changed" };
        let report = ask_while(&place.space, question, predicate, &|| {
            place.commit_on("main", "More");
            place.git(&["repack", "-adq"]);
        });
        assert_eq!(said(&report), expected);
        assert_eq!(report.notes, Vec::<String>::new());
    }
}

#[test]
fn objects_that_vanish_are_named_and_the_others_are_read() {
    for (question, expected) in
        [(COMMITS, "alice 1; carol 1"), (CHANGES, "alice alice; carol carol")]
    {
        let place = packed();
        let head = place.head("bob").to_string();
        let predicate = if question == COMMITS { "commit" } else { "changed" };
        let report = ask_while(&place.space, question, predicate, &|| {
            place.git(&["branch", "-q", "-D", "agents/bob"]);
            prune(&place);
        });
        assert_eq!(said(&report), expected);
        let notes = report.notes.join("\n");
        assert!(notes.contains("bob") && notes.contains(&head), "{notes}");
    }
}

#[test]
fn an_agent_that_is_deleted_meanwhile_is_as_it_was_when_it_was_listed() {
    let place = packed();
    let report = ask_while(&place.space, COMMITS, "commit", &|| {
        place.git(&["branch", "-q", "-D", "agents/bob"]);
    });
    assert_eq!(said(&report), "alice 1; bob 1; carol 1");
    assert_eq!(report.notes, Vec::<String>::new());
}

#[test]
fn an_agent_that_is_archived_meanwhile_is_as_it_was_when_it_was_listed() {
    let place = packed();
    let question =
        "? (A, P, N) agent(name: A, place: P, head: _H), commit(id: _H, agent: A, n: N).";
    let report = ask_while(&place.space, question, "commit", &|| {
        archive_alice(&place).expect("nothing is in the way");
    });
    assert_eq!(said(&report), "alice open 1; bob open 1; carol open 1");
    assert_eq!(report.notes, Vec::<String>::new());
}

#[test]
fn an_agent_that_moves_on_meanwhile_is_as_it_was_when_it_was_listed() {
    let place = packed();
    let question = "? (A, N) agent(name: A), N = count { commit(agent: A) }.";
    let report = ask_while(&place.space, question, "commit", &|| {
        place.commit("bob", &[("more", Some("2\n"))]).expect("it changes a file");
    });
    assert_eq!(said(&report), "alice 2; bob 2; carol 2");
}
