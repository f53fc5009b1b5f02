//! Logs that do not say what was sealed of them.

use agentic_model::{Instant, Value};
use agentic_replay::record::{Outcome, StoredValue};
use agentic_replay::{Body, Chain, HashedRecord, RecordChain, SessionId};

use super::super::folder::Folder;
use super::super::own::read_journal;
use super::super::seal::{keep, record_parts};
use super::super::tests::{agent_in, anew, is_damage, replace_log, repository};
use super::super::{Begin, KeySource, SessionState, flow_object, prove, resume, start};
use super::super::{other_lines, seal_open};
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

/// Makes records that begin like others, and go on otherwise after so many of them.
fn branched(frames: &[Vec<u8>], n_common: usize, later_ms: i64) -> Vec<Vec<u8>> {
    let journal = RecordChain::read(frames).expect("they are sound");
    let mut chain = Chain::empty();
    let records = journal.records().iter().enumerate().map(|(at, record)| {
        let late = if at >= n_common { later_ms } else { 0 };
        let instant = Instant::from_millis(record.at.millis() + late);
        chain.append(instant, record.body.clone()).bytes
    });
    records.collect()
}

#[test]
fn of_clones_that_went_on_with_one_session_each_keeps_its_own_records() {
    let folder = crate::tests::temporary_folder();
    let (space, id) = held_session(folder.path());
    let (frames, _) = Folder::of(&space, &id).frames(&space).expect("they are readable");
    let agent = space.session(&id).expect("readable").agent;
    // Another clone went on from the second record, and came further than this one.
    let mut other = branched(&frames, 1, 5);
    let end = RecordChain::read(&other).expect("sound");
    let mut chain = end.chain();
    let at = end.records().last().expect("some").at;
    other.push(chain.append(at, Body::End(Outcome::Ok(StoredValue::Inline(vec![0xf6])))).bytes);
    let records: Vec<HashedRecord> = other.iter().cloned().map(HashedRecord::new).collect();
    let parts = record_parts(&id, 1, &records[1..]).expect("there is memory");
    let objects: Vec<_> = parts.into_iter().map(|part| part.object).collect();
    keep(&space, &agent, "test", &objects).expect("writable");

    let here = anew(&space);
    assert_eq!(read_journal(&here, &id).expect("it stays").records().len(), frames.len());
    let proof = prove(&here, &id).expect("it agrees with its own seal");
    assert_eq!(proof.n_sealed, frames.len());
    let others = other_lines(&here, &id).expect("readable");
    let [line] = others.as_slice() else { panic!("{others:?}") };
    assert_eq!((line.from, line.n_records), (1, frames.len() as u64));
    // What happens next is sealed as well, however far the other one came.
    resume(&here, &id).expect("it waits");
    seal_open(&here).expect("it is kept");
    // Where there is no log, the line counts that went on first.
    std::fs::remove_dir_all(Folder::of(&space, &id).log()).expect("it is there");
    let fetched = anew(&space);
    let (known, _) = Folder::of(&fetched, &id).frames(&fetched).expect("none");
    assert!(known.is_empty());
    let journal = read_journal(&fetched, &id).expect("one line is read");
    assert_eq!(journal.records().len(), frames.len());
    assert_eq!(other_lines(&fetched, &id).expect("readable").len(), 1);
    // A log that agrees with neither is damaged, as ever.
    resume(&fetched, &id).expect("it is put back");
    replace_log(&fetched, &id, &branched(&frames, 1, 9));
    assert!(read_journal(&anew(&space), &id).is_err_and(|error| is_damage(&error)));
}
