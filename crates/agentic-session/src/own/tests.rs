//! Logs that do not say what was sealed of them.

use agentic_model::Value;
use agentic_replay::{Body, Chain, RecordChain, SessionId};

use super::super::folder::Folder;
use super::super::own::read_journal;
use super::super::tests::{agent_in, is_damage, replace_log, repository};
use super::super::{Begin, KeySource, SessionState, flow_object, prove, resume, start};
use crate::{SessionOptions, SessionSpace};

/// Makes a repository with one session that waits for a human, and opens it as a new command does.
fn held_session(folder: &std::path::Path) -> (SessionSpace, SessionId) {
    let space = repository(folder);
    let agent = agent_in(&space, "alice");
    let flow = flow_object("hold(\"Go on?\")").expect("it is short");
    let (parts, allow, key) = (Vec::new(), Vec::new(), "one".to_owned());
    let begin =
        Begin { agent, flow, parts, input: Value::Null, key, key_source: KeySource::Named, allow };
    let id = start(&space, begin).expect("it runs to its question");
    (SessionSpace::open(folder, SessionOptions::default()).expect("it is a repository"), id)
}

#[test]
fn a_log_that_was_chained_anew_is_damaged() {
    let folder = crate::tests::temporary_folder();
    let (space, id) = held_session(folder.path());
    let (frames, _) = Folder::of(&space, &id).frames(&space).expect("they are readable");
    let journal = RecordChain::read(&frames).expect("they are sound");
    let mut chain = Chain::empty();
    let forged = journal.records().iter().map(|record| {
        let mut body = record.body.clone();
        if let Body::Ask(ask) = &mut body {
            ask.position = None;
        }
        chain.append(record.at, body).bytes
    });
    let forged: Vec<Vec<u8>> = forged.collect();
    assert!(RecordChain::read(&forged).is_ok());
    replace_log(&space, &id, &forged);

    assert!(read_journal(&space, &id).is_err_and(|error| is_damage(&error)));
    assert!(resume(&space, &id).is_err_and(|error| is_damage(&error)));
    assert!(prove(&space, &id).is_err_and(|error| is_damage(&error)));
}

#[test]
fn a_log_that_lost_sealed_records_is_found_and_gets_them_back() {
    let folder = crate::tests::temporary_folder();
    let (space, id) = held_session(folder.path());
    let (frames, _) = Folder::of(&space, &id).frames(&space).expect("they are readable");
    for n_left in 0..frames.len() {
        replace_log(&space, &id, &frames[..n_left]);
        let space = SessionSpace::open(folder.path(), SessionOptions::default())
            .expect("it is a repository");
        // Whoever only reads restores nothing.
        let summary = space.session(&id).expect("what is sealed is readable");
        assert_eq!((summary.state, summary.n_records), (SessionState::Held, frames.len() as u64));
        assert!(prove(&space, &id).is_err(), "{n_left} records are left");

        resume(&space, &id).expect("it waits again");
        assert_eq!(Folder::of(&space, &id).frames(&space).expect("readable").0, frames);
        assert_eq!(prove(&space, &id).expect("all is there").n_sealed, frames.len());
    }
}
