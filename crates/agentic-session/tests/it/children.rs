//! Children: sessions that a session begins, on branches of their own.

use agentic_model::Value;
use agentic_session::decide::Action;
use agentic_session::{SessionState, children};

use crate::kit::{Stage, draft};

const HELD_CHILD: &str = "spawn(#{briefing: \"b\", flow: \"hold(\\\"Go on?\\\").action\"})";

#[test]
fn a_parent_is_given_what_its_child_came_to() {
    let stage = Stage::new();
    let id = stage.start("spawn(#{briefing: \"b\", flow: \"6 * 7\"})");
    assert_eq!(stage.result(&id), Some(Value::Int(42)));
    assert_eq!(stage.space.n_sessions().expect("readable"), 2);
}

#[test]
fn a_parent_waits_for_the_hold_of_its_child_and_goes_on_with_it() {
    let stage = Stage::new();
    let id = stage.start(HELD_CHILD);
    let child = stage.only_hold().hold.session;
    assert_eq!(children(&stage.space, &id).expect("readable"), [child]);
    stage.answer(&draft(Action::Approve)).expect("it may");
    assert_eq!((stage.state(&child), stage.state(&id)), (SessionState::Done, SessionState::Done));
    assert_eq!(stage.result(&id), Some(Value::text("approve")));
    assert_eq!(children(&stage.space, &id).expect("readable"), []);
}

#[test]
fn a_child_runs_as_an_agent_of_its_own() {
    let stage = Stage::new();
    stage.start(HELD_CHILD);
    let child = stage.only_hold().hold.session;
    let agent = stage.space.session(&child).expect("readable").agent;
    assert_ne!(agent, stage.agent);
    assert!(stage.space.head(&agent).is_ok());
}

#[test]
fn a_child_may_do_no_more_than_its_parent() {
    let stage = Stage::new();
    let source = "spawn(#{briefing: \"b\", flow: \"exec([\\\"touch\\\", \\\"ran\\\"])\", \
                  allow: [\"exec\"]})";
    let begin = agentic_session::Begin { allow: Vec::new(), ..stage.begin(source) };
    agentic_session::start(&stage.space, begin).expect("it starts");
    assert_eq!(stage.only_hold().hold.ask.kind, "exec");
    assert!(!stage.path("ran").exists());
}
