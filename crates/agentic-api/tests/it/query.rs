//! Queries over everything, as surfaces ask them for others.

use std::sync::atomic::AtomicBool;

use agentic_api::verb::{AskQuery, ForeignQueries, QueryAllowance};
use agentic_api::{Caller, Verb as _};
use agentic_model::guidance::ErrorClass;

use crate::place::{named, place, refusal};

fn text(text: &str) -> AskQuery {
    AskQuery { text: text.to_owned(), ..AskQuery::default() }
}

#[test]
fn what_others_ask_is_answered_within_its_limits() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    named("alice").run(&caller).expect("the name is free");
    let (queries, cancel) = (ForeignQueries::default(), AtomicBool::new(false));
    let ask = |query: AskQuery| queries.ask("page", query, &caller, &cancel);
    assert!(ask(text("? agent(name: A).")).is_ok());
    let wrong = refusal(ask(text("? agnt(name: A).")));
    assert_eq!(wrong.class, ErrorClass::Refused);
    assert!(wrong.because.is_some_and(|why| why.contains("did you mean `agent`?")));
    // A limit that would be above those of all queries is theirs.
    let limits = QueryAllowance { rows: Some(usize::MAX), ..QueryAllowance::default() };
    let much = "? N = count { kind(A, _), kind(B, _), kind(C, _), kind(D, _), kind(E, _), kind(F, _), \
                kind(G, _) }.";
    let refused = refusal(ask(AskQuery { limits, ..text(much) }));
    assert!(refused.message.contains("20000000 rows made"), "{}", refused.message);
    // A query that failed takes nobody's turn.
    assert!(ask(text("? agent(name: A).")).is_ok());
}

#[test]
fn the_same_facts_give_the_same_bytes_however_they_are_hashed() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    for agent in ["alice", "bob", "carol", "dave"] {
        named(agent).run(&caller).expect("the name is free");
    }
    // Every map has a seed of its own, each time it is made.
    let question = "under(A, B) :- sub_agent_of(A, B). under(A, C) :- under(A, B), under(B, C). \
                    pair(A, B) :- agent(name: A), agent(name: B), !under(A, B). \
                    ? pair(A, B), N = count { commit(agent: A) }, L = list { K : commit(agent: B, kind: K) }. \
                    ? kind(K, P), is_a(K, F).";
    let ask = || {
        let answered = text(question).run(&caller).expect("it is sound").answer;
        serde_json::to_string(&answered).expect("it is JSON")
    };
    let first = ask();
    for _ in 0..20 {
        assert_eq!(ask(), first);
    }
}
