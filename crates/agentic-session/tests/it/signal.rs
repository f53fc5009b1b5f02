//! Signals: what comes from outside while a session waits, or before it does.

use agentic_model::Value;
use agentic_session::decide::Action;
use agentic_session::error::SessionError;
use agentic_session::{Error, SessionState, signal};

use crate::kit::{Stage, draft};

#[test]
fn a_signal_is_the_answer_of_the_request_that_waits_for_it() {
    let stage = Stage::new();
    let id = stage.start("suspend(\"go\")");
    assert!(!stage.state(&id).is_over());
    signal(&stage.space, &id, "go", Value::Int(7)).expect("it is taken");
    assert_eq!((stage.state(&id), stage.result(&id)), (SessionState::Done, Some(Value::Int(7))));
}

#[test]
fn a_signal_of_another_name_answers_nothing() {
    let stage = Stage::new();
    let id = stage.start("suspend(\"go\")");
    signal(&stage.space, &id, "stay", Value::Null).expect("it is taken");
    assert!(!stage.state(&id).is_over());
}

#[test]
fn a_signal_that_comes_too_early_waits_for_its_request() {
    let stage = Stage::new();
    let id = stage.start("hold(\"Go on?\"); suspend(\"go\")");
    signal(&stage.space, &id, "go", Value::Int(7)).expect("it is taken");
    assert_eq!(stage.state(&id), SessionState::Held);
    stage.answer(&draft(Action::Approve)).expect("it may");
    assert_eq!(stage.result(&id), Some(Value::Int(7)));
}

#[test]
fn a_session_that_is_over_takes_no_signal() {
    let stage = Stage::new();
    let id = stage.start("1");
    let refused = signal(&stage.space, &id, "go", Value::Null);
    assert!(matches!(refused, Err(Error::Session(SessionError::Over { .. }))), "{refused:?}");
}

#[test]
fn a_signal_that_is_too_long_is_refused() {
    let stage = Stage::new();
    let id = stage.start("suspend(\"go\")");
    let long = Value::text("x".repeat(agentic_session::decide::VALUE_BYTES_MAX + 1));
    assert!(signal(&stage.space, &id, "go", long).is_err());
    assert!(!stage.state(&id).is_over());
}
