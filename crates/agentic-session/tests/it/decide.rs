//! Deciding: who may, what, and what comes of it.

use agentic_model::Value;
use agentic_session::decide::{Action, ApprovalScope, DecisionDraft, decide};
use agentic_session::error::{DecisionError, RequestError};
use agentic_session::{Begin, Error, SessionState, start};

use crate::kit::{Stage, by, draft, with};

/// Checks what a script makes of the answer to its hold.
fn check(source: &str, draft: &DecisionDraft, wanted: &Value) {
    let stage = Stage::new();
    let id = stage.start(source);
    stage.answer(draft).expect("it may");
    let summary = stage.space.session(&id).expect("its records are sound");
    assert_eq!(summary.result.as_ref(), Some(wanted), "{source}: {:?}", summary.failure);
}

/// Checks that an answer is refused, and that the hold stays open.
fn check_refused(source: &str, draft: &DecisionDraft) -> Error {
    let stage = Stage::new();
    let id = stage.start(source);
    let refused = stage.answer(draft).expect_err("it may not");
    assert_eq!((stage.state(&id), stage.holds().len()), (SessionState::Held, 1), "{source}");
    refused
}

#[test]
fn a_script_is_told_what_was_decided() {
    let source = "hold(\"Go on?\").action";
    check(source, &draft(Action::Approve), &Value::text("approve"));
    check(source, &draft(Action::Reject), &Value::text("reject"));
}

#[test]
fn a_response_is_the_value_of_the_hold() {
    check("hold(\"Which?\").value", &with(Value::Int(3), Action::Respond), &Value::Int(3));
}

#[test]
fn an_approval_gives_what_was_to_be_approved() {
    check("hold(\"This?\", #{payload: 5}).value", &draft(Action::Approve), &Value::Int(5));
}

#[test]
fn a_hold_that_is_assigned_is_decided_by_nobody_else() {
    let source = "hold(\"Go on?\", #{assignees: [\"user:bob\"]}).action";
    let refused = check_refused(source, &draft(Action::Approve));
    assert!(matches!(refused, Error::Decision(DecisionError::NotAllowed { .. })), "{refused}");
    check(source, &by("user:bob", Action::Approve), &Value::text("approve"));
}

#[test]
fn only_people_decide() {
    let refused = check_refused("hold(\"Go on?\")", &by("agent:alice", Action::Approve));
    assert!(matches!(refused, Error::Decision(DecisionError::NotAllowed { .. })), "{refused}");
}

#[test]
fn an_action_that_is_not_offered_is_refused() {
    let source = "hold(\"Go on?\", #{actions: [\"approve\"]})";
    let refused = check_refused(source, &draft(Action::Reject));
    assert!(matches!(refused, Error::Decision(DecisionError::NotAllowed { .. })), "{refused}");
}

#[test]
fn a_response_without_a_value_is_refused() {
    let refused = check_refused("hold(\"Which?\")", &draft(Action::Respond));
    assert!(matches!(refused, Error::Request(RequestError::ValueMisfit { .. })), "{refused}");
}

#[test]
fn a_value_that_does_not_fit_the_schema_is_refused_at_its_part() {
    let source = "hold(\"Which?\", #{schema: #{properties: #{n: #{type: \"integer\"}}}})";
    let value = Value::map([("n", Value::text("three"))]);
    let refused = check_refused(source, &with(value, Action::Respond));
    let Error::Request(RequestError::ValueMisfit { pointer, .. }) = refused else {
        panic!("{refused}")
    };
    assert_eq!(pointer, "/n");
}

#[test]
fn a_response_that_is_none_of_the_choices_is_refused() {
    let source = "hold(\"Which?\", #{choices: [\"red\", \"blue\"]}).value";
    check_refused(source, &with(Value::text("green"), Action::Respond));
    check(source, &with(Value::text("red"), Action::Respond), &Value::text("red"));
}

#[test]
fn a_request_of_another_hash_is_not_decided() {
    let expect = Some("0000000000000".to_owned());
    let other = DecisionDraft { expect, ..draft(Action::Approve) };
    let refused = check_refused("hold(\"Go on?\")", &other);
    assert!(matches!(refused, Error::Request(RequestError::Other { .. })), "{refused}");
}

#[test]
fn a_quorum_is_settled_by_as_many_people_as_it_needs() {
    let stage = Stage::new();
    let id = stage.start("hold(\"Go on?\", #{quorum: #{need: 2}}).action");
    stage.answer(&draft(Action::Approve)).expect("it may");
    assert_eq!(stage.state(&id), SessionState::Held);
    // Who has answered once has no second voice.
    assert!(stage.answer(&draft(Action::Reject)).is_err());
    stage.answer(&by("user:bob", Action::Approve)).expect("it may");
    assert_eq!(stage.result(&id), Some(Value::text("approve")));
}

#[test]
fn a_decision_is_made_once_and_the_loser_is_told_who_won() {
    let stage = Stage::new();
    stage.start("hold(\"Go on?\").action");
    let hold = stage.only_hold();
    let first = decide(&stage.space, &hold, &draft(Action::Approve)).expect("it may");
    let again = decide(&stage.space, &hold, &draft(Action::Approve)).expect("it said the same");
    assert_eq!(again.commit, first.commit);
    let refused = decide(&stage.space, &hold, &by("user:bob", Action::Reject));
    let Err(Error::Decision(DecisionError::AlreadyDecided { principal, .. })) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(principal, "user:alice");
}

#[test]
fn what_a_session_may_not_do_waits_for_leave() {
    let stage = Stage::new();
    let source = "exec([\"touch\", \"ran\"]); 1";
    let id = start(&stage.space, Begin { allow: Vec::new(), ..stage.begin(source) });
    let id = id.expect("it starts");
    assert_eq!(stage.state(&id), SessionState::Held);
    assert!(!stage.path("ran").exists());
    stage.answer(&draft(Action::Approve)).expect("it may");
    assert!(stage.path("ran").exists());
    assert_eq!(stage.state(&id), SessionState::Done);
}

#[test]
fn an_approval_for_the_rest_of_a_session_is_asked_for_once() {
    let stage = Stage::new();
    let source = "exec([\"touch\", \"one\"]); exec([\"touch\", \"one\"]); 1";
    let id = start(&stage.space, Begin { allow: Vec::new(), ..stage.begin(source) });
    let id = id.expect("it starts");
    let scope = ApprovalScope::RestOfSession;
    stage.answer(&DecisionDraft { scope, ..draft(Action::Approve) }).expect("it may");
    assert_eq!(stage.state(&id), SessionState::Done);
}
