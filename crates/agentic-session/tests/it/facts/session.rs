//! Sessions: `session`, `forked`, `child`, `continued`, `result`, `failure`.

use agentic_model::Value;
use agentic_session::decide::Action;
use agentic_session::{Begin, ForkPlan, fork};

use super::question::{check, n_rows, read_all};
use crate::kit::{Stage, draft, second};

#[test]
fn a_session_tells_how_it_stands() {
    let stage = Stage::at(second(5));
    let id = stage.start("hold(\"Go on?\").action");
    let state = "? session(id: I, agent: A, host: H, language: L, key: K, state: S, started: F, \
                 ended: E, records: N).";
    let started = "2027-01-15T08:00:05.000Z";
    check(&stage.space, state, &format!("{id} alice here rhai key held {started} null 3"));
    let stage = stage.reopened_at(second(65));
    stage.answer(&draft(Action::Approve)).expect("it may");
    let ended = "2027-01-15T08:01:05.000Z";
    check(&stage.space, state, &format!("{id} alice here rhai key done {started} {ended} 5"));
    let flow = stage.space.session(&id).expect("readable").flow;
    check(&stage.space, "? session(flow: F).", &flow.to_string());
    check(
        &stage.space,
        "? session(id: I, state: done), session(id: I, agent: alice).",
        &id.to_string(),
    );
    check(&stage.space, "? session(id: I, state: held).", "");
    check(&stage.space, "? session(id: I, agent: bob).", "");
}

#[test]
fn what_a_session_gave_and_why_another_failed_is_told() {
    let stage = Stage::new();
    let done = stage.start("#{n: 1, t: \"x\"}");
    check(&stage.space, "? result(S, V).", &format!("{done} {{\\n\\:1,\\t\\:\\x\\}}"));
    let begin = Begin { key: "two".to_owned(), ..stage.begin("throw \"no luck\"") };
    let failed = agentic_session::start(&stage.space, begin).expect("it starts");
    check(
        &stage.space,
        "? failure(session: S), session(id: S, state: failed).",
        &failed.to_string(),
    );
    check(&stage.space, "? N = count { failure(message: M), contains(M, \"no luck\") }.", "1");
}

#[test]
fn a_fork_names_its_parent_and_where_they_part() {
    let stage = Stage::new();
    let parent = stage.start("hold(\"Go on?\").action");
    let plan = ForkPlan { who: "user:alice".to_owned(), ..ForkPlan::default() };
    let other = fork(&stage.space, &parent, &plan).expect("it is forked");
    check(&stage.space, "? forked(S, F, N).", &format!("{other} {parent} 3"));
    check(&stage.space, "? session(id: S, records: N), forked(session: S).", &format!("{other} 6"));
}

#[test]
fn a_child_names_its_parent() {
    let stage = Stage::new();
    let id = stage.start("spawn(#{briefing: \"b\", flow: \"6 * 7\"})");
    check(&stage.space, "? (P) child(S, P).", &id.to_string());
    check(
        &stage.space,
        "? (V, A) child(S, P), result(S, V), session(id: P, agent: A).",
        "42 alice",
    );
}

#[test]
fn a_session_that_goes_on_as_a_new_one_names_it() {
    let stage = Stage::new();
    let source = "if input == () { continue_with(1) } else { input }";
    let id = stage.start(source);
    let all = stage.space.sessions().expect("readable");
    let next = all.iter().find(|other| **other != id).expect("it went on");
    check(&stage.space, "? continued(S, N).", &format!("{id} {next}"));
    check(&stage.space, "? (V) continued(S, N), result(N, V).", "1");
    assert_eq!(stage.result(next), Some(Value::Int(1)));
}

#[test]
fn a_session_of_many_records_is_read_from_its_blocks() {
    let stage = Stage::new();
    let source = "for n in 0..1200 { sleep(0); } hold(\"Go on?\").action";
    let id = stage.start(source);
    check(&stage.space, "? N = count { request(session: S, kind: sleep) }.", "1200");
    stage.answer(&draft(Action::Approve)).expect("it may");
    check(&stage.space, "? session(id: S, records: N).", &format!("{id} 2405"));
    check(&stage.space, "? N = count { answer(by: timer) }.", "1200");
}

#[test]
fn every_predicate_is_read_with_all_its_columns() {
    let stage = Stage::new();
    assert_eq!(n_rows(&read_all(&stage.space)), 0);
    stage.start("hold(\"Go on?\", #{assignees: [\"user:bob\"]}).action");
    let report = read_all(&stage.space);
    // The session and its program, that program as a behaviour, its request, payload and hold, and who may
    // decide.
    assert_eq!((n_rows(&report), report.notes), (7, Vec::new()));
}
