//! Watching: the records of a session as they are made.

use agentic_replay::AnswerSource;
use agentic_session::decide::Action;
use agentic_session::{SessionState, Watch};

use crate::kit::{Stage, draft, second};

#[test]
fn a_watch_tells_each_record_once() {
    let stage = Stage::new();
    let id = stage.start("hold(\"Go on?\")");
    let mut watch = Watch::new(&stage.space, id);
    let (before, state) = watch.look().expect("readable").expect("it has begun");
    assert_eq!(state, SessionState::Held);
    assert!(watch.look().expect("readable").is_none());
    stage.answer(&draft(Action::Approve)).expect("it may");
    let (after, state) = watch.look().expect("readable").expect("it went on");
    assert_eq!(state, SessionState::Done);
    let seqs: Vec<u64> = before.iter().chain(&after).map(|noted| noted.seq).collect();
    assert_eq!(seqs, (0..seqs.len() as u64).collect::<Vec<_>>());
}

#[test]
fn a_watch_tells_who_answered_and_how_long_it_took() {
    let stage = Stage::at(second(0));
    let id = stage.start("sleep(10000); hold(\"Go on?\", #{payload: 5}).value");
    let stage = stage.reopened_at(second(10));
    stage.resume(&id);
    let mut watch = Watch::new(&stage.space, id);
    let (seen, _) = watch.look().expect("readable").expect("it has begun");
    let answers: Vec<_> = seen.iter().filter(|noted| noted.by.is_some()).collect();
    assert_eq!(answers.len(), 1);
    assert_eq!(
        (answers[0].by.clone(), answers[0].took_ms),
        (Some(AnswerSource::Timer), Some(10_000))
    );
    let asked = seen.iter().filter_map(|noted| noted.data.get("payload")).next_back();
    let payload = asked.and_then(|payload| payload.get("payload"));
    assert_eq!(payload, Some(&agentic_model::Value::Int(5)), "values are shown as what they are");
}

#[test]
fn a_session_that_nobody_began_cannot_be_watched() {
    let stage = Stage::new();
    let id = stage.begin("1").session().expect("the input is data");
    assert!(Watch::new(&stage.space, id).look().is_err());
}

#[test]
fn a_watch_of_a_fork_begins_with_what_it_shares() {
    let stage = Stage::new();
    let parent = stage.start("hold(\"Go on?\")");
    let plan = agentic_session::ForkPlan::default();
    let fork = agentic_session::fork(&stage.space, &parent, &plan).expect("it is forked");
    let mut watch = Watch::new(&stage.space, fork);
    let (seen, state) = watch.look().expect("readable").expect("it has begun");
    assert_eq!((seen[0].seq, state), (0, SessionState::Held));
    assert_eq!(seen.len() as u64, stage.space.session(&fork).expect("readable").n_records);
}
