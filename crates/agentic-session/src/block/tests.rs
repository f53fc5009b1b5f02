//! Logs and seals that hold their records in blocks.

use std::collections::BTreeMap;

use agentic_model::Object;
use agentic_replay::SessionId;
use agentic_store::journal::{LogFile, payloads};

use super::super::folder::Folder;
use super::super::own::read_journal;
use super::super::segment::Segments;
use super::super::tests::{
    anew, decide_open, is_damage, replace_log, space_with_an_agent, started,
};
use super::super::{SessionState, prove, resume};
use super::*;
use crate::decide::Action;
use agentic_model::AgentName;

/// A flow whose records are enough for a block.
const LONG: &str = "for n in 0..200 { sleep(0); } hold(\"Go on?\")";

#[test]
fn a_long_log_is_short_once_it_is_sealed_and_says_the_same() {
    let (_folder, space, agent) = space_with_an_agent();
    let id = started(&space, &agent, LONG);
    let known = read_journal(&space, &id).expect("it is remembered");
    let space = anew(&space);
    let log = Folder::of(&space, &id).log();
    let stored = payloads(&log).expect("readable");
    assert_eq!(stored.len(), 2, "the first record, and a block of the others");
    assert!(stored[1].len() * 5 < known.records().len() * 100);
    assert_eq!(read_journal(&space, &id).expect("sound").records(), known.records());
    assert_eq!(prove(&space, &id).expect("sound").n_sealed, known.records().len());

    decide_open(&space, &id, Action::Approve);
    resume(&space, &id).expect("it goes on");
    let space = anew(&space);
    assert_eq!(space.session(&id).expect("sound").state, SessionState::Done);
    assert_eq!(
        prove(&space, &id).expect("sound").n_sealed,
        space.session(&id).expect("sound").n_records as usize
    );
}

#[test]
fn the_log_and_the_seal_have_the_same_blocks() {
    let (_folder, space, agent) = space_with_an_agent();
    let source = "for n in 0..200 { sleep(0); } hold(\"Go on?\"); for n in 0..300 { sleep(0); }";
    let id = started(&space, &agent, source);
    let first = sealed_blocks(&space, &agent, &id);
    assert_eq!(first.len(), 1, "all but the first record are packed once");
    assert_eq!(blocks_of_log(&space, &id), first);

    decide_open(&space, &id, Action::Approve);
    resume(&space, &id).expect("it ends");
    let both = sealed_blocks(&space, &agent, &id);
    assert_eq!(both.len(), 2);
    assert_eq!(blocks_of_log(&space, &id), both);
}

/// Lists the blocks of a session that are sealed, in order.
fn sealed_blocks(space: &SessionSpace, agent: &AgentName, id: &SessionId) -> Vec<Vec<u8>> {
    let segments = Segments::of(space, agent).expect("readable").read(id).expect("sound");
    let block = |object: &Object| {
        let from = object.map().get("from")?.as_int()?;
        Some((from, object.map().get("block")?.as_bytes()?.to_vec()))
    };
    let blocks: BTreeMap<_, _> = segments.iter().filter_map(block).collect();
    blocks.into_values().collect()
}

fn blocks_of_log(space: &SessionSpace, id: &SessionId) -> Vec<Vec<u8>> {
    let mut stored = payloads(&Folder::of(space, id).log()).expect("readable");
    stored.retain(|payload| is_block(payload));
    stored
}

#[test]
fn a_log_of_records_alone_is_read_as_ever() {
    let (_folder, space, agent) = space_with_an_agent();
    let id = started(&space, &agent, LONG);
    let (frames, _) = Folder::of(&space, &id).frames(&space).expect("readable");
    replace_log(&space, &id, &frames);
    let space = anew(&space);
    assert_eq!(prove(&space, &id).expect("sound").n_sealed, frames.len());
    decide_open(&space, &id, Action::Approve);
    resume(&space, &id).expect("it goes on");
    assert_eq!(space.session(&id).expect("sound").state, SessionState::Done);
}

#[test]
fn whoever_knows_a_log_as_it_was_reads_on_behind_its_block() {
    let (_folder, space, agent) = space_with_an_agent();
    let id = started(&space, &agent, LONG);
    let (frames, _) = Folder::of(&space, &id).frames(&space).expect("readable");
    replace_log(&space, &id, &frames);
    let other = anew(&space);
    let folder = Folder::of(&other, &id);
    let known = read_journal(&other, &id).expect("sound");
    let (mut log, _) = LogFile::open(&folder.log()).expect("readable");
    shorten(&anew(&space), &folder, &mut log, &[]).expect("writable");
    assert_eq!(payloads(&folder.log()).expect("readable").len(), 2);
    assert_eq!(read_journal(&other, &id).expect("sound"), known);
    decide_open(&anew(&space), &id, Action::Approve);
    let journal = read_journal(&other, &id).expect("sound");
    assert!(journal.records().starts_with(known.records()));
    assert!(journal.is_over() || journal.records().len() >= known.records().len());
}

#[test]
fn a_log_that_lost_its_block_gets_it_back() {
    let (_folder, space, agent) = space_with_an_agent();
    let id = started(&space, &agent, LONG);
    let (frames, _) = Folder::of(&space, &id).frames(&space).expect("readable");
    for left in [vec![], frames[..1].to_vec(), frames[..50].to_vec()] {
        replace_log(&space, &id, &left);
        let space = anew(&space);
        assert_eq!(space.session(&id).expect("sealed").n_records, frames.len() as u64);
        resume(&space, &id).expect("it waits again");
        assert_eq!(Folder::of(&space, &id).frames(&space).expect("readable").0, frames);
    }
}

#[test]
fn a_block_that_says_something_else_is_damage() {
    let (_folder, space, agent) = space_with_an_agent();
    let id = started(&space, &agent, LONG);
    let (frames, _) = Folder::of(&space, &id).frames(&space).expect("readable");
    let mut forged = frames.clone();
    forged.swap(5, 7);
    let forged: Vec<_> = forged[1..].iter().cloned().map(HashedRecord::new).collect();
    let packed = PackedSpan::of(&forged).expect("there is memory").expect("it is short");
    replace_log(&space, &id, &[frames[0].clone(), packed.block]);
    assert!(read_journal(&anew(&space), &id).is_err_and(|error| is_damage(&error)));
    // Bytes that are no block at all are no record either.
    replace_log(&space, &id, &[frames[0].clone(), b"\x82\x01\x41x".to_vec()]);
    assert!(read_journal(&anew(&space), &id).is_err_and(|error| is_damage(&error)));
}

#[test]
fn no_bytes_make_a_block_take_more_memory_than_blocks_have() {
    let huge = Value::List(vec![Value::Int(i64::MAX), Value::Bytes(vec![0; 9])]);
    let huge = canonical::encode(&huge).expect("it is data");
    assert_eq!(records(&huge).expect("nothing was reserved"), None);
}
