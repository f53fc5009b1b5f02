//! Cancelling: nothing stays without an answer.

use agentic_replay::record::CancelMode;
use agentic_session::decide::{Action, decide};
use agentic_session::error::SessionError;
use agentic_session::{Error, SessionState, cancel};

use crate::kit::{Stage, draft};

const ALICE: &str = "user:alice";

#[test]
fn a_session_that_is_cancelled_asks_nobody_any_more() {
    let stage = Stage::new();
    let id = stage.start("hold(\"Go on?\")");
    let hold = stage.only_hold();
    cancel(&stage.space, &id, CancelMode::Cooperative, ALICE, "too late").expect("it stops");
    assert!(stage.state(&id).is_over());
    assert!(stage.holds().is_empty());
    assert!(decide(&stage.space, &hold, &draft(Action::Approve)).is_err());
}

#[test]
fn a_session_that_is_killed_is_cancelled_whatever_its_script_would_do() {
    let stage = Stage::new();
    let id = stage.start("try { hold(\"Go on?\") } catch { } hold(\"Still?\")");
    cancel(&stage.space, &id, CancelMode::Kill, ALICE, "enough").expect("it stops");
    assert_eq!(stage.state(&id), SessionState::Cancelled);
}

#[test]
fn a_child_is_cancelled_with_its_parent() {
    let stage = Stage::new();
    let id = stage.start("spawn(#{briefing: \"b\", flow: \"hold(\\\"Go on?\\\")\"})");
    let child = stage.only_hold().hold.session;
    assert_ne!(child, id);
    cancel(&stage.space, &id, CancelMode::Cooperative, ALICE, "too late").expect("it stops");
    assert!(stage.state(&child).is_over());
    assert!(stage.state(&id).is_over());
}

#[test]
fn a_session_that_is_over_cannot_be_cancelled() {
    let stage = Stage::new();
    let id = stage.start("1");
    let refused = cancel(&stage.space, &id, CancelMode::Kill, ALICE, "again");
    assert!(matches!(refused, Err(Error::Session(SessionError::Over { .. }))), "{refused:?}");
    assert_eq!(stage.state(&id), SessionState::Done);
}
