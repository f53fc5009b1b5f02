//! Watching: the records of a session as they are made.

use agentic_session::decide::Action;
use agentic_session::{SessionState, Watch};

use crate::kit::{Stage, draft};

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
