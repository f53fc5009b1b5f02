//! What is sealed of a session, in parts that may overlap, contradict each other or lack something.

use agentic_model::{Cid, Object, Value};
use agentic_replay::{HashedRecord, SessionId};

use super::{PART_BYTES_MAX, record_part, record_parts, value_objects};
use crate::folder::Folder;
use crate::segment::{Segments, joined, pieces_of, segment_object, whole_value};
use crate::tests::{anew, is_damage, space_with_an_agent, started};

fn id() -> SessionId {
    SessionId::from_bytes([1; 32])
}

/// Makes records of so many bytes, each another one.
fn records(count: u8, n_bytes: usize) -> Vec<HashedRecord> {
    (0..count).map(|number| HashedRecord::new(vec![number; n_bytes])).collect()
}

fn part(from: usize, records: &[HashedRecord]) -> Object {
    record_part(&id(), from, records).expect("there is memory").object
}

/// Joins parts, and counts the records; nothing if they are damaged.
fn n_joined(parts: &[Object]) -> Option<usize> {
    match joined(&id(), parts) {
        Ok(lines) => Some(lines.into_first().len()),
        Err(error) => {
            assert!(is_damage(&error), "{error}");
            None
        }
    }
}

#[test]
fn parts_are_joined_in_whatever_order_they_come() {
    let all = records(6, 10);
    let parts = [part(4, &all[4..]), part(0, &all[..2]), part(2, &all[2..4])];
    let joined = joined(&id(), &parts).expect("they are whole").into_first();
    assert!(joined.iter().zip(&all).all(|(one, other)| one == other.bytes()));
    assert_eq!(joined.len(), all.len());
}

#[test]
fn two_clones_may_have_sealed_the_same_records_in_other_portions() {
    let all = records(6, 10);
    assert_eq!(n_joined(&[part(0, &all[..4]), part(0, &all[..6]), part(2, &all[2..5])]), Some(6));
    assert_eq!(n_joined(&[part(0, &all), part(0, &all)]), Some(6));
}

#[test]
fn parts_that_contradict_each_other_or_lack_records_are_damage() {
    let all = records(6, 10);
    assert_eq!(n_joined(&[part(0, &all[..2]), part(3, &all[3..])]), None, "one is missing");
    assert_eq!(n_joined(&[part(1, &all[1..])]), None, "the first one is missing");
    assert_eq!(n_joined(&[part(0, &all[..4]), part(2, &all[..2])]), None, "they differ");
    assert_eq!(n_joined(&[]), Some(0));
}

#[test]
fn a_block_that_says_something_else_than_it_holds_counts_for_nothing() {
    let all = records(6, 2000);
    let sound = part(0, &all);
    assert!(sound.map().contains_key("block"), "so many bytes are packed");
    assert_eq!(n_joined(std::slice::from_ref(&sound)), Some(6));
    for (field, lie) in [
        ("count", Value::Int(5)),
        ("count", Value::Int(7)),
        ("head", Value::Bytes(vec![0; 32])),
        ("block", Value::Bytes(b"none".to_vec())),
    ] {
        let mut map = sound.map().clone();
        map.insert(field.to_owned(), lie);
        let lying = Object::new(map).expect("it is an object");
        assert_eq!(n_joined(&[lying]), Some(0), "{field}");
    }
}

#[test]
fn records_are_cut_into_parts_of_bounded_length() {
    let all = records(5, PART_BYTES_MAX / 2);
    let parts = record_parts(&id(), 0, &all).expect("there is memory");
    // The first record stands apart, so that the log can take the other blocks as they are.
    assert_eq!(parts.len(), 3);
    let objects: Vec<Object> = parts.into_iter().map(|part| part.object).collect();
    assert_eq!(n_joined(&objects), Some(5));
    let huge = records(2, 2 * PART_BYTES_MAX);
    assert_eq!(record_parts(&id(), 0, &huge).expect("there is memory").len(), 2, "one at least");
    let few = record_parts(&id(), 3, &records(2, 10)).expect("there is memory");
    assert_eq!((few.len(), few[0].object.map().get("from")), (1, Some(&Value::Int(3))));
}

#[test]
fn a_long_value_is_put_together_from_its_pieces_and_checked() {
    let value = [vec![1; 10], vec![2; 10]].concat();
    let cid = Cid::of(&value);
    let piece = |part: i64, bytes: &[u8]| {
        segment_object([
            ("session", Value::text(id().to_string())),
            ("value", Value::Link(cid)),
            ("part", Value::Int(part)),
            ("bytes", Value::Bytes(bytes.to_vec())),
        ])
        .expect("it is short")
    };
    let whole = |pieces: &[Object]| whole_value(pieces_of(pieces, &cid), &cid);
    assert_eq!(whole(&[piece(1, &value[10..]), piece(0, &value[..10])]), Some(value.clone()));
    assert_eq!(whole(&[piece(0, &value[..10])]), None, "a piece is missing");
    assert_eq!(
        whole(&[piece(0, &value[10..]), piece(1, &value[..10])]),
        None,
        "the wrong way round"
    );
    let other = Cid::of(b"other");
    assert_eq!(whole_value(pieces_of(&[piece(0, &value)], &other), &other), None);
}

#[test]
fn long_values_travel_with_their_session() {
    let (_folder, space, agent) = space_with_an_agent();
    let id = started(&space, &agent, "let t = \"x\"; for n in 0..19 { t += t; } hold(t)");
    let folder = Folder::of(&space, &id);
    let cid = folder
        .object_ids()
        .into_iter()
        .max_by_key(|cid| folder.read_object(cid).ok().flatten().map_or(0, |bytes| bytes.len()));
    let cid = cid.expect("a value of half a mebibyte stands by itself");
    let bytes = folder.read_object(&cid).expect("readable").expect("it is sound");
    assert!(bytes.len() > PART_BYTES_MAX, "{}", bytes.len());
    assert!(value_objects(&folder).expect("readable").len() >= 3, "the flow, and two pieces");
    let segments = Segments::of(&space, &agent).expect("readable");
    assert_eq!(segments.value(&id, &cid).expect("sound"), Some(bytes.clone()));
    std::fs::remove_dir_all(space.repository().layout().open_sessions()).expect("it is there");
    let space = anew(&space);
    assert_eq!(crate::segment::value(&space, &id, &cid).expect("sound"), Some(bytes));
    let hold = &space.session(&id).expect("it is sealed").holds[0];
    assert_eq!(hold.payload.get("question").and_then(Value::as_text).map(str::len), Some(1 << 19));
}

#[test]
fn nothing_is_sealed_where_the_agent_is_gone() {
    let (folder, space, agent) = space_with_an_agent();
    let id = started(&space, &agent, "hold(\"Go on?\")");
    let delete = ["update-ref", "-d", "refs/heads/agents/alice"];
    agentic_git::run_git(folder.path(), &delete).expect("git runs").checked(&delete).expect("ok");
    let sealed = super::seal(&space, &agent, &Folder::of(&space, &id)).expect("nothing to do");
    assert!(sealed.is_empty());
}
