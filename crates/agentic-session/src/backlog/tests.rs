//! What waits for its next attempt.

use agentic_replay::{Path, Performance};

use super::{Backlog, RETRIES_MAX, wanted};
use crate::tests::{at, data, performance};

/// Makes effects that may begin at these instants; at once where there is none.
fn effects(begin: &[(&str, Option<i64>)]) -> Vec<Performance> {
    let effect = |(path, not_before): &(&str, Option<i64>)| Performance {
        not_before: not_before.map(at),
        ..performance(path, "exec", "null")
    };
    begin.iter().map(effect).collect()
}

fn paths(performances: &[Performance]) -> Vec<&str> {
    performances.iter().map(|performance| performance.request.path.as_str()).collect()
}

#[test]
fn what_may_begin_now_is_not_kept() {
    let mut backlog = Backlog::default();
    let all = effects(&[("0", None), ("1", Some(9)), ("2", Some(10)), ("3", Some(11))]);
    assert_eq!(paths(&backlog.keep_later(all, at(10))), ["0", "1", "2"]);
    assert_eq!(paths(&backlog.take_due(at(10))), Vec::<&str>::new());
    assert_eq!(paths(&backlog.take_due(at(11))), ["3"]);
}

#[test]
fn what_is_due_is_taken_once() {
    let mut backlog = Backlog::default();
    let ready = backlog.keep_later(effects(&[("0", Some(5)), ("1", Some(6))]), at(0));
    assert_eq!(ready, []);
    assert_eq!(paths(&backlog.take_due(at(5))), ["0"]);
    assert_eq!(paths(&backlog.take_due(at(100))), ["1"]);
    assert_eq!(backlog.take_due(at(100)), []);
}

#[test]
fn a_later_attempt_takes_the_place_of_the_earlier_one() {
    let mut backlog = Backlog::default();
    let first = backlog.keep_later(effects(&[("0", Some(5))]), at(0));
    let second = backlog.keep_later(effects(&[("0", Some(50))]), at(0));
    assert_eq!((first, second), (vec![], vec![]));
    assert_eq!(backlog.take_due(at(49)), []);
    assert_eq!(paths(&backlog.take_due(at(50))), ["0"]);
}

#[test]
fn what_nobody_waits_for_is_forgotten() {
    let mut backlog = Backlog::default();
    let ready = backlog.keep_later(effects(&[("0", Some(5)), ("1", Some(5))]), at(0));
    assert_eq!(ready, []);
    backlog.forget(&Path::parse("0").expect("a valid path"));
    assert_eq!(paths(&backlog.take_due(at(5))), ["1"]);
}

#[test]
fn a_payload_asks_for_no_more_attempts_than_there_may_be() {
    for (payload, n) in [
        (r#"{"retries":0}"#, Some(0)),
        (r#"{"retries":3}"#, Some(3)),
        (r#"{"retries":10}"#, Some(RETRIES_MAX)),
        (r#"{"retries":11}"#, Some(RETRIES_MAX)),
        (r#"{"retries":9223372036854775807}"#, Some(RETRIES_MAX)),
        (r#"{"retries":-1}"#, Some(0)),
        (r#"{"retries":"3"}"#, None),
        (r#"{"retries":2.5}"#, None),
        (r#"{"retries":null}"#, None),
        ("{}", None),
        ("3", None),
    ] {
        assert_eq!(wanted(&data(payload)), n, "{payload}");
    }
}
