//! Forks and other programs: another way from a place, and the same way under another program.

use agentic_model::Value;
use agentic_session::decide::{Action, decide};
use agentic_session::error::SessionError;
use agentic_session::{
    Error, ForkPlan, ReplayVerdict, SessionState, diff, flow_object, fork, prove, replay, upgrade,
};
use agentic_space::spawn::SpawnOrigin;

use crate::kit::{Stage, draft, name, walk};

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

#[test]
fn a_fork_that_is_broken_off_anywhere_is_made_once() {
    let prepare = || {
        let stage = Stage::new();
        stage.start("exec([\"sh\", \"-c\", \"echo x >> ran\"]); hold(\"Go on?\").action");
        stage
    };
    let plan = || ForkPlan { agent: Some(name("bob")), ..ForkPlan::default() };
    let parent = |stage: &Stage| stage.space.find_session("alice").expect("it was started");
    let act = |stage: &Stage| _ = fork(&stage.space, &parent(stage), &plan());
    walk(prepare, act, |stage, step| {
        let id = fork(&stage.space, &parent(stage), &plan());
        let id = id.unwrap_or_else(|error| panic!("step {step}: {error}"));
        assert_eq!(stage.state(&id), SessionState::Held, "step {step}");
        assert_eq!(stage.n_lines("ran"), 1, "step {step}: what is shared is not performed again");
        assert_eq!(stage.space.n_sessions().expect("readable"), 2, "step {step}");
        prove(&stage.space, &id).unwrap_or_else(|error| panic!("step {step}: {error}"));
    });
}

#[test]
fn an_answer_that_is_set_by_hand_is_marked_and_nothing_is_performed_for_it() {
    let stage = Stage::new();
    let source = "let a = exec([\"sh\", \"-c\", \"echo x >> ran; echo 1\"]).stdout; a + \"!\"";
    let parent = stage.start(source);
    let asked = &stage.space.session(&parent).expect("readable").asked[0];
    let value = Value::map([("stdout", Value::text("2"))]);
    let plan = ForkPlan {
        set: vec![(asked.seq, value)],
        who: "user:alice".to_owned(),
        ..ForkPlan::default()
    };
    let other = fork(&stage.space, &parent, &plan).expect("it is forked");
    assert_eq!(stage.result(&other), Some(Value::text("2!")));
    assert_eq!(stage.result(&parent), Some(Value::text("1\n!")));
    assert_eq!(stage.n_lines("ran"), 1);
    let by = &stage.space.session(&other).expect("readable").asked[0].answer;
    let by = by.as_ref().map(|(_, _, by)| by.clone());
    assert_eq!(by, Some(agentic_replay::AnswerSource::Edited("user:alice".to_owned())));
}

#[test]
fn what_is_set_must_be_asked_and_a_refused_fork_leaves_nothing() {
    let stage = Stage::new();
    let parent = stage.start(ASKING);
    let before = stage.git(&["for-each-ref"]);
    for seq in [0, 99] {
        let plan = ForkPlan { set: vec![(seq, Value::Int(1))], ..ForkPlan::default() };
        assert!(fork(&stage.space, &parent, &plan).is_err(), "{seq}");
    }
    let other = flow_object("exec([\"true\"])").expect("it is short");
    let plan = ForkPlan { flow: Some(other), ..ForkPlan::default() };
    assert!(fork(&stage.space, &parent, &plan).is_err(), "it does not ask the same");
    assert_eq!(stage.git(&["for-each-ref"]), before);
    assert_eq!(stage.space.n_sessions().expect("readable"), 1);
}

#[test]
fn a_fork_takes_no_name_of_somebody_else() {
    let stage = Stage::new();
    let parent = stage.start(ASKING);
    stage.spawn("bob", &SpawnOrigin::Root);
    let plan = ForkPlan { agent: Some(name("bob")), ..ForkPlan::default() };
    assert!(fork(&stage.space, &parent, &plan).is_err());
    let first = fork(&stage.space, &parent, &ForkPlan::default()).expect("it is forked");
    let second = fork(&stage.space, &parent, &ForkPlan::default()).expect("it is forked");
    let agent = |id| stage.space.session(id).expect("readable").agent;
    assert_eq!((agent(&first), agent(&second)), (name("alice-fork-1"), name("alice-fork-2")));
}

#[test]
fn a_fork_of_a_session_that_is_over_goes_on_before_its_end() {
    let stage = Stage::new();
    let parent = stage.start("exec([\"true\"]); 1");
    let other = fork(&stage.space, &parent, &ForkPlan::default()).expect("it is forked");
    assert_eq!(
        (stage.state(&other), stage.result(&other)),
        (SessionState::Done, Some(Value::Int(1)))
    );
    let n_records = stage.space.session(&parent).expect("readable").n_records;
    let plan = ForkPlan { at: Some(n_records), ..ForkPlan::default() };
    let refused = fork(&stage.space, &parent, &plan);
    assert!(matches!(refused, Err(Error::Session(SessionError::Over { .. }))), "{refused:?}");
}

#[test]
fn a_fork_of_a_fork_reads_the_records_of_both() {
    let stage = Stage::new();
    let parent = stage.start("let a = hold(\"One?\").action; let b = hold(\"Two?\").action; a + b");
    stage.answer(&draft(Action::Approve)).expect("it may");
    let child = fork(&stage.space, &parent, &ForkPlan::default()).expect("it is forked");
    let grandchild = fork(&stage.space, &child, &ForkPlan::default()).expect("it is forked");
    let stage = stage.reopened();
    assert_eq!(stage.holds().len(), 3, "each asks under its own name");
    let ours = stage.holds().into_iter().find(|hold| hold.hold.session == grandchild);
    decide(&stage.space, &ours.expect("it is held"), &draft(Action::Reject)).expect("it may");
    stage.resume(&grandchild);
    assert_eq!(stage.result(&grandchild), Some(Value::text("approvereject")));
    assert_eq!([parent, child].map(|id| stage.state(&id)), [SessionState::Held; 2]);
    let verdict = replay(&stage.space, &grandchild, None).expect("readable");
    assert!(matches!(verdict, ReplayVerdict::Same), "{verdict:?}");
}

#[test]
fn an_upgrade_that_is_broken_off_anywhere_can_be_repeated() {
    let prepare = || {
        let stage = Stage::new();
        stage.start(ASKING);
        stage
    };
    let other = || flow_object("hold(\"Go on?\").action + \"!\"").expect("it is short");
    let id = |stage: &Stage| stage.space.find_session("alice").expect("it was started");
    let act = |stage: &Stage| _ = upgrade(&stage.space, &id(stage), &other());
    walk(prepare, act, |stage, step| {
        let id = id(stage);
        upgrade(&stage.space, &id, &other()).unwrap_or_else(|error| panic!("step {step}: {error}"));
        stage.answer(&draft(Action::Approve)).expect("it may");
        assert_eq!(stage.result(&id), Some(Value::text("approve!")), "step {step}");
    });
}
