//! How a spawn is read: whether it begins a session, and what becomes of that.

use agentic_replay::{Path, Request};

use super::{Close, begins_a_session, close_policy, run_id, runs_a_flow};
use crate::tests::{data, space_with_an_agent, started};

fn request(kind: &str, payload: &str) -> Request {
    Request::new(Path::root(), kind, data(payload))
}

#[test]
fn only_a_spawn_with_a_flow_or_a_program_begins_a_session() {
    for (kind, payload, begins) in [
        ("spawn", r#"{"flow":"1"}"#, true),
        ("spawn", r#"{"program":"main"}"#, true),
        ("spawn", r#"{"briefing":"b"}"#, false),
        ("spawn", "null", false),
        ("exec", r#"{"flow":"1"}"#, false),
    ] {
        assert_eq!(begins_a_session(&request(kind, payload)), begins, "{kind} {payload}");
    }
    assert!(
        runs_a_flow(&request("spawn", r#"{"flow":null}"#)),
        "what is malformed is refused, not ignored"
    );
}

#[test]
fn a_child_that_nobody_waits_for_is_cancelled_unless_it_says_otherwise() {
    for (payload, close) in [
        ("{}", Some(Close::Cancel)),
        (r#"{"close":"cancel"}"#, Some(Close::Cancel)),
        (r#"{"close":"abandon"}"#, Some(Close::Abandon)),
        (r#"{"close":"wait"}"#, Some(Close::Wait)),
        (r#"{"close":"Wait"}"#, None),
        (r#"{"close":""}"#, None),
        (r#"{"close":null}"#, None),
        (r#"{"close":5}"#, None),
    ] {
        assert_eq!(close_policy(&request("spawn", payload)), close, "{payload}");
    }
}

#[test]
fn a_run_is_named_after_the_session_that_no_other_has_begun() {
    let (_folder, space, agent) = space_with_an_agent();
    let id = started(&space, &agent, "hold(\"Go on?\")");
    let path = Path::parse("3").expect("a valid path");
    let child = agentic_replay::child_key(&id, &path);
    assert_eq!(run_id(&space, &child), "hold(\"Go on?\")", "the key of its parent");
    assert_eq!(run_id(&space, "key"), "key");
    let orphan = agentic_replay::child_key(&agentic_replay::SessionId::from_bytes([9; 32]), &path);
    assert_eq!(run_id(&space, &orphan), orphan, "one that cannot be read cannot be told either");
}
