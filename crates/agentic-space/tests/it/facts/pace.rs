//! How far reading is, and what caches were good for.

use std::cell::RefCell;
use std::ops::ControlFlow;

use agentic_query::{FactSource as _, ReadProgress};
use agentic_space::facts::SpaceFacts;
use agentic_space::spawn::SpawnOrigin;

use crate::ask::{ask, ask_of, said};
use crate::place::{Place, name};

/// More agents than one thread reads alone.
const MANY: usize = 40;

fn crowd() -> Place {
    let place = Place::with(&["root"]);
    for n in 1..MANY {
        place.spawn(&format!("a{n}"), &SpawnOrigin::Agent(name("root"))).expect("the name is free");
    }
    place
}

/// Prints what caches were good for: name, ids, and how many of them were new.
fn caches(place: &Place, question: &str) -> String {
    let caches = ask(&place.space, question).explanation.caches;
    let shown = caches.iter().map(|it| format!("{} {} {}", it.name, it.n_ids, it.n_new));
    shown.collect::<Vec<_>>().join("; ")
}

#[test]
fn an_explanation_tells_how_much_no_cache_had() {
    let place = Place::with(&["alice", "bob"]);
    place.commit("alice", &[("a", Some("1\n"))]).expect("it changes a file");
    let question = "? (A, P) commit(id: _C, agent: A), changed(_C, P, _).";
    assert_eq!(caches(&place, question), "commits 3 3; changed files 3 3");
    assert_eq!(caches(&place, question), "commits 3 0; changed files 3 0");
    place.commit("bob", &[("b", Some("1\n"))]).expect("it changes a file");
    assert_eq!(caches(&place, question), "commits 4 1; changed files 4 1");
    assert_eq!(caches(&place, "? kind(K, _)."), "");
    let branch = "? branch_has(people, C).";
    assert_eq!(caches(&place, branch), "commits 4 0");
    place.git(&["branch", "people", "agents/alice"]);
    assert_eq!(caches(&place, branch), "commits 4 0; branches 2 2");
    place.git(&["branch", "-q", "another", "agents/alice"]);
    assert_eq!(caches(&place, branch), "commits 4 0; branches 2 0");
}

#[test]
fn who_listens_is_told_how_far_reading_is() {
    let place = crowd();
    let told = RefCell::new(Vec::new());
    let teller = |progress: ReadProgress<'_>| {
        let ReadProgress { what, n_done, n_all } = progress;
        told.borrow_mut().push((what.to_owned(), n_done, n_all));
        ControlFlow::Continue(())
    };
    let facts = SpaceFacts::new(&place.space).told_to(&teller);
    let report = ask_of(&place.space, &facts, "? N = count { commit(n: _) }.");
    assert_eq!(said(&report), MANY.to_string());
    let told = told.borrow();
    assert!(told.iter().all(|(what, _, n)| what == "commits of agents" && *n == MANY), "{told:?}");
    assert!(told.iter().any(|(_, n_done, _)| *n_done > 0));
}

#[test]
fn who_listens_may_end_it_and_nothing_wrong_is_kept() {
    let place = crowd();
    let teller = |_: ReadProgress<'_>| ControlFlow::Break(());
    let facts = SpaceFacts::new(&place.space).told_to(&teller);
    let report = ask_of(
        &place.space,
        &facts,
        "? N = count { commit(n: _) }, M = count { object(type: briefing) }.",
    );
    assert_ne!(said(&report), format!("{MANY} {MANY}"));
    assert!(report.notes.iter().any(|note| note.contains("reading was ended")));
    assert!(facts.caches().iter().any(|cache| cache.name == "commits"));
    drop(facts);
    let whole = ask(
        &place.space,
        "? N = count { commit(n: _) }, M = count distinct { A : object(agent: A) }.",
    );
    assert_eq!(said(&whole), format!("{MANY} {MANY}"));
}
