//! Agents that are played from a script.

use agentic_model::{Value, json};
use agentic_replay::{Path, ProgramFault, Request, RequestAnswer};

use super::Script;

/// Makes the request of an agent of a pipeline.
fn call(agent: &str) -> Request {
    let call = format!(r#"{{"call":{{"agent":"{agent}","node":"n0","key":"k","attempt":1}}}}"#);
    Request::new(Path::root(), "agent", data(&call))
}

fn script(text: &str) -> Script {
    Script::read(&data(text)).expect("it is a script")
}

fn said(answer: Option<RequestAnswer>) -> String {
    match answer {
        Some(RequestAnswer::Ok(value)) => json::to_text(&value),
        Some(RequestAnswer::Failed(failure)) => format!("{}: {}", failure.code, failure.message),
        Some(other @ (RequestAnswer::TimedOut | RequestAnswer::Cancelled(_))) => {
            panic!("{other:?}")
        }
        None => "nothing".to_owned(),
    }
}

#[test]
fn answers_come_in_turn_and_the_last_one_stays() {
    let mut script =
        script(r#"{"a":[{"ok":1},{"failed":{"code":"Busy","message":"later"}},{"ok":3}]}"#);
    let all = [(); 5].map(|()| said(script.next(&call("a"))));
    assert_eq!(all, ["1", "Busy: later", "3", "3", "3"]);
}

#[test]
fn each_agent_has_its_own_turn() {
    let mut script = script(r#"{"a":[{"ok":1},{"ok":2}],"b":[{"ok":10}]}"#);
    let all = ["a", "b", "a", "b"].map(|agent| said(script.next(&call(agent))));
    assert_eq!(all, ["1", "10", "2", "10"]);
}

#[test]
fn the_script_knows_its_agents_alone() {
    let mut script = script(r#"{"a":[{"ok":1}]}"#);
    let other = Request::new(Path::root(), "exec", Value::Null);
    assert!(script.knows(&call("a")) && !script.knows(&call("b")) && !script.knows(&other));
    assert_eq!(said(script.next(&call("b"))), "nothing");
    assert_eq!(said(script.next(&other)), "nothing");
    assert!(!Script::default().knows(&call("a")));
}

#[test]
fn an_answer_may_be_null_and_a_failure_may_say_nothing() {
    let mut script = script(r#"{"a":[{"ok":null}],"b":[{"failed":{"code":"Busy"}}]}"#);
    assert_eq!(said(script.next(&call("a"))), "null");
    assert_eq!(said(script.next(&call("b"))), "Busy: ");
}

#[test]
fn what_is_no_script_is_refused_and_named() {
    for (text, named) in [
        ("5", "no map"),
        ("[]", "no map"),
        (r#"{"a":[]}"#, "`a`"),
        (r#"{"a":{"ok":1}}"#, "`a`"),
        (r#"{"a":[{"ok":1}],"b":[{"okay":1}]}"#, "`b`"),
        (r#"{"a":[5]}"#, "`a`"),
        (r#"{"a":[{"failed":{"message":"m"}}]}"#, "`a`"),
        (r#"{"a":[{"failed":"Busy"}]}"#, "`a`"),
    ] {
        match Script::read(&data(text)) {
            Err(ProgramFault::BadScript { reason }) => assert!(reason.contains(named), "{reason}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

fn data(text: &str) -> Value {
    json::from_text(text).expect("the case is JSON")
}
