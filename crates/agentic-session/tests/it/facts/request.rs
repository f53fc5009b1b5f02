//! Requests and what came of them: `request`, `payload`, `attempt`, `answer`, `signal`.

use agentic_model::{Instant, Value};
use agentic_replay::record::AttemptRecord;
use agentic_replay::{Body, Path};
use agentic_session::decide::Action;
use agentic_session::{ForkPlan, fork, signal};

use super::hand::HandMade;
use super::question::check;
use crate::kit::{Stage, draft, second};

#[test]
fn a_request_tells_what_was_asked_and_its_payload_the_data() {
    let stage = Stage::at(second(0));
    let id = stage.start("exec([\"true\"]); sleep(5); hold(\"Go on?\")");
    check(
        &stage.space,
        "? (N, K, C, T) request(session: S, seq: N, kind: K, class: C, at: T).",
        "1 exec once 2027-01-15T08:00:00.000Z; 3 sleep timer 2027-01-15T08:00:00.000Z",
    );
    check(
        &stage.space,
        "? (V) request(id: R, kind: exec), payload(R, V).",
        "{\\argv\\:[\\true\\]}",
    );
    let asked = &stage.space.session(&id).expect("readable").asked[0];
    let named = format!("? request(id: #{}, seq: N).", id.short_request(&asked.id));
    check(&stage.space, &named, "1");
    check(&stage.space, "? (P) request(path: P, seq: 1).", asked.path.as_str());
}

#[test]
fn an_answer_tells_who_gave_it_and_how_long_it_took() {
    let stage = Stage::at(second(0));
    stage.start("let got = hold(\"Go on?\").action; try { exec([\"false\"]) } catch { } got");
    let stage = stage.reopened_at(second(90));
    let decided = stage.answer(&draft(Action::Approve)).expect("it may");
    let commit = decided.commit;
    check(
        &stage.space,
        "? (O, B, M) request(id: R, kind: hold), answer(request: R, outcome: O, by: B, millis: M).",
        &format!("ok decision {commit} 90000"),
    );
    check(&stage.space, "? answer(by: executor, millis: M), M < 1s.", "0");
    let value = "? (P) request(id: R, kind: hold), answer(request: R, value: V), \
                 P = json(V, \"/principal\").";
    check(&stage.space, value, "user:alice");
}

#[test]
fn a_failure_is_told_by_its_code() {
    let stage = Stage::new();
    stage.start("try { request(\"nobody-does-this\", #{}) } catch { }");
    check(
        &stage.space,
        "? (C) answer(outcome: failed, value: V), C = json(V, \"/code\").",
        "unknown-kind",
    );
}

#[test]
fn an_attempt_that_failed_is_told() {
    let stage = Stage::new();
    let hand = HandMade::new(&stage, "by hand");
    let path = Path::root().child("x");
    let attempt = |n, next_at| {
        let (path, error) = (path.clone(), "no route".to_owned());
        Body::Attempt(AttemptRecord { path, n, error, next_at })
    };
    let at = Instant::from_millis(1_000);
    let id = hand.write(vec![hand.ask(&path, "model"), attempt(1, Some(at)), attempt(2, None)]);
    check(
        &stage.space,
        "? (S, N, E, T) attempt(R, N, E, T), request(id: R, session: S).",
        &format!("{id} 1 no route 1970-01-01T00:00:01.000Z; {id} 2 no route null"),
    );
}

#[test]
fn a_signal_is_told_with_what_it_brought() {
    let stage = Stage::at(second(3));
    let id = stage.start("suspend(\"go\")");
    signal(&stage.space, &id, "go", Value::map([("n", Value::Int(7))])).expect("it is taken");
    let at = "2027-01-15T08:00:03.000Z";
    check(&stage.space, "? signal(S, N, T, V).", &format!("{id} go {at} {{\\n\\:7}}"));
    check(&stage.space, "? (B) answer(by: B), starts_with(B, \"signal\").", "signal 3");
}

#[test]
fn what_a_fork_shares_is_its_parents() {
    let stage = Stage::new();
    let parent = stage.start("hold(\"One?\"); hold(\"Two?\").action");
    stage.answer(&draft(Action::Approve)).expect("it may");
    let plan = ForkPlan { who: "user:alice".to_owned(), ..ForkPlan::default() };
    let other = fork(&stage.space, &parent, &plan).expect("it is forked");
    let mut expected =
        [format!("{parent} One?"), format!("{parent} Two?"), format!("{other} Two?")];
    expected.sort();
    check(
        &stage.space,
        "? (S, Q) request(id: R, session: S), payload(R, V), Q = json(V, \"/question\").",
        &expected.join("; "),
    );
    check(&stage.space, "? N = count { answer(outcome: ok) }.", "1");
    check(&stage.space, "? N = count { hold(state: open) }.", "2");
    check(&stage.space, "? N = count { hold(state: decided) }.", "1");
}
