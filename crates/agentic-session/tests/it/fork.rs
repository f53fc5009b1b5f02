//! Forks and other programs: another way from a place, and the same way under another program.

use agentic_model::Value;
use agentic_session::decide::Action;
use agentic_session::error::SessionError;
use agentic_session::{Error, ForkPlan, SessionState, diff, flow_object, fork, upgrade};

use crate::kit::{Stage, draft};

const ASKING: &str = "hold(\"Go on?\").action";

#[test]
fn a_fork_goes_another_way_and_leaves_its_parent_alone() {
    let stage = Stage::new();
    let parent = stage.start(ASKING);
    let n_records = stage.space.session(&parent).expect("readable").n_records;
    stage.answer(&draft(Action::Approve)).expect("it may");
    let plan =
        ForkPlan { at: Some(n_records), who: "user:alice".to_owned(), ..ForkPlan::default() };
    let other = fork(&stage.space, &parent, &plan).expect("it is forked");
    assert_eq!(stage.state(&other), SessionState::Held);
    stage.answer(&draft(Action::Reject)).expect("it may");
    assert_eq!(stage.result(&parent), Some(Value::text("approve")));
    assert_eq!(stage.result(&other), Some(Value::text("reject")));
    assert!(diff(&stage.space, &parent, &other).expect("readable").is_some());
}

#[test]
fn a_session_does_not_differ_from_itself() {
    let stage = Stage::new();
    let id = stage.start("1");
    assert!(diff(&stage.space, &id, &id).expect("readable").is_none());
}

#[test]
fn a_program_that_asks_something_else_is_refused_and_nothing_of_it_is_done() {
    let stage = Stage::new();
    let id = stage.start(ASKING);
    let other = flow_object("exec([\"touch\", \"ran\"])").expect("it is short");
    let refused = upgrade(&stage.space, &id, &other);
    let is_diverged = matches!(refused, Err(Error::Session(SessionError::Diverged { .. })));
    assert!(is_diverged, "{refused:?}");
    assert!(!stage.path("ran").exists());
    assert_eq!(stage.state(&id), SessionState::Held);
}

#[test]
fn a_program_that_asks_the_same_takes_over() {
    let stage = Stage::new();
    let id = stage.start(ASKING);
    let other = flow_object("hold(\"Go on?\").action + \"!\"").expect("it is short");
    upgrade(&stage.space, &id, &other).expect("it asks the same");
    stage.answer(&draft(Action::Approve)).expect("it may");
    assert_eq!(stage.result(&id), Some(Value::text("approve!")));
}
