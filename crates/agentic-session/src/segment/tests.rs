//! What segments say that they hold, hostile ones included, and the cache of it.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::{Cid, Object, Value, canonical};
use agentic_replay::{RecordHash, SessionId};

use super::sealing::SealingNotes;
use super::{
    KnownSegments, Part, SealedSpan, Segments, cache_of, notes_with_sessions, read_cache,
    segment_object,
};
use crate::SessionSpace;
use crate::tests::{anew, oid, space_with_an_agent, started};

/// Makes a segment of a session with these fields besides.
fn segment(fields: &[(&'static str, Value)]) -> Object {
    let session = Value::text(SessionId::from_bytes([1; 32]).to_string());
    let own = [("session", session)].into_iter();
    segment_object(own.chain(fields.iter().cloned())).expect("it is short")
}

fn bytes(text: &str) -> Value {
    Value::Bytes(text.as_bytes().to_vec())
}

#[test]
fn a_list_of_records_says_from_where_to_where_and_the_hash_of_the_last() {
    let list = Value::List(vec![bytes("one"), bytes("two")]);
    let span = SealedSpan::of(&segment(&[("from", Value::Int(5)), ("records", list)]));
    let hash = RecordHash::of_record(b"two");
    assert_eq!(span, Some(SealedSpan { from: 5, end: 7, hash }));
}

#[test]
fn a_block_says_how_many_records_it_has() {
    let head = Value::Bytes(vec![9; 32]);
    let block = |count: i64, head: &Value| {
        let fields = [("block", bytes("b")), ("count", Value::Int(count)), ("head", head.clone())];
        let from = [("from", Value::Int(3))];
        SealedSpan::of(&segment(&[from.as_slice(), &fields].concat()))
    };
    let hash = RecordHash::from_bytes([9; 32]);
    assert_eq!(block(4, &head), Some(SealedSpan { from: 3, end: 7, hash }));
    assert_eq!(block(0, &head), None);
    assert_eq!(block(-1, &head), None);
    assert_eq!(block(4, &Value::Bytes(vec![9; 31])), None);
    assert_eq!(block(4, &Value::text("9")), None);
}

#[test]
fn a_segment_that_says_nonsense_holds_no_records() {
    let list = || Value::List(vec![bytes("one")]);
    for (what, fields) in [
        ("no position", vec![("records", list())]),
        ("a position before the first", vec![("from", Value::Int(-1)), ("records", list())]),
        ("a position that is no number", vec![("from", bytes("0")), ("records", list())]),
        ("no records", vec![("from", Value::Int(0))]),
        ("an empty list", vec![("from", Value::Int(0)), ("records", Value::List(vec![]))]),
        (
            "records that are texts",
            vec![("from", Value::Int(0)), ("records", Value::List(vec![Value::text("one")]))],
        ),
        (
            "a piece of a value",
            vec![
                ("value", Value::Link(Cid::of(b"v"))),
                ("part", Value::Int(0)),
                ("bytes", bytes("v")),
            ],
        ),
    ] {
        let object = segment(&fields);
        assert_eq!(SealedSpan::of(&object), None, "{what}");
        let part = Part::of(&object).expect(what);
        assert_eq!(part.records, None, "{what}");
    }
    let nobody = segment_object([("from", Value::Int(0)), ("records", list())]).expect("short");
    assert_eq!(Part::of(&nobody), None, "whose it is stands inside");
}

/// Makes what a cache may hold.
fn known() -> KnownSegments {
    let session = SessionId::from_bytes([1; 32]);
    let hash = RecordHash::from_bytes([2; 32]);
    let records = Some(SealedSpan { from: 3, end: 9, hash });
    let parts = BTreeMap::from([
        (Cid::of(b"one"), Part { session, records }),
        (Cid::of(b"two"), Part { session, records: None }),
    ]);
    KnownSegments { tip: Some(oid(7)), parts }
}

#[test]
fn a_cache_is_read_as_it_was_written() {
    for tip in [None, Some(oid(7))] {
        let known = KnownSegments { tip, ..known() };
        let read = KnownSegments::from_value(&known.to_value()).expect("it is one");
        assert_eq!((read.tip, read.parts), (known.tip, known.parts));
    }
}

#[test]
fn a_cache_that_is_damaged_anywhere_is_none() {
    let folder = crate::tests::temporary_folder();
    let path = folder.path().join("cache");
    let bytes = canonical::encode(&known().to_value()).expect("it is data");
    let whole = [Cid::of(&bytes).to_string().as_bytes(), b"\n", &bytes].concat();
    std::fs::write(&path, &whole).expect("writable");
    assert!(read_cache(&path).is_some());
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        std::fs::write(&path, &damaged).expect("writable");
        assert!(read_cache(&path).is_none(), "byte {at}");
        std::fs::write(&path, &whole[..at]).expect("writable");
        assert!(read_cache(&path).is_none(), "cut at {at}");
    }
}

#[test]
fn a_cache_in_another_form_is_none_although_its_sum_is_right() {
    for value in [
        Value::Null,
        Value::map([("tip", Value::Null)]),
        Value::map([("tip", Value::text("x")), ("parts", Value::map::<String>([]))]),
        Value::map([
            ("tip", Value::Null),
            ("parts", Value::map([("no cid", Value::List(vec![]))])),
        ]),
        Value::map([
            ("tip", Value::Null),
            (
                "parts",
                Value::map([(Cid::of(b"one").to_string(), Value::List(vec![Value::Int(1)]))]),
            ),
        ]),
    ] {
        assert!(KnownSegments::from_value(&value).is_none(), "{value:?}");
    }
}

#[test]
fn how_far_a_session_is_sealed_does_not_depend_on_the_cache() {
    let (_folder, space, agent) = space_with_an_agent();
    let id = started(&space, &agent, "hold(\"Go on?\")");
    let n_sealed = |space: &SessionSpace| {
        let segments = Segments::of(space, &agent).expect("readable");
        (segments.n_records(&id), segments.read(&id).expect("sound").len())
    };
    let known = n_sealed(&space);
    assert!(known.0 > 0, "a session that is held is sealed");
    let cache = cache_of(&space, &agent.notes_ref());
    for content in [&b""[..], b"garbage", b"bafy\nmore"] {
        std::fs::write(&cache, content).expect("writable");
        assert_eq!(n_sealed(&anew(&space)), known, "{content:?}");
    }
    std::fs::remove_file(&cache).expect("it is there");
    assert_eq!(n_sealed(&anew(&space)), known);
    let fresh = Segments::read_anew(&space, &agent).expect("readable").n_records(&id);
    assert_eq!(fresh, known.0);
}

#[test]
fn an_agent_without_notes_has_no_segments() {
    let (_folder, space, _) = space_with_an_agent();
    let nobody = agentic_model::AgentName::parse("nobody").expect("a valid name");
    let segments = Segments::of(&space, &nobody).expect("readable");
    assert_eq!(segments.sessions().count(), 0);
    assert!(segments.read(&SessionId::from_bytes([1; 32])).expect("readable").is_empty());
}

#[test]
fn notes_without_sessions_are_remembered_for_a_file_of_packed_refs() {
    let (folder, space, alice) = space_with_an_agent();
    let bob = crate::tests::agent_in(&space, "bob");
    let id = started(&space, &alice, "hold(\"Go on?\")");
    let pack = || {
        let packed = std::process::Command::new("git")
            .args(["pack-refs", "--all"])
            .current_dir(folder.path())
            .status();
        assert!(packed.expect("git is there").success());
    };
    let notes = |agent: &agentic_model::AgentName| agent.notes_ref();
    let both = BTreeSet::from([notes(&alice), notes(&bob)]);
    assert_eq!(notes_with_sessions(&anew(&space)).expect("readable"), both, "none is packed");
    pack();
    let of_alice = BTreeSet::from([notes(&alice)]);
    assert_eq!(notes_with_sessions(&anew(&space)).expect("readable"), of_alice);
    let mark = space.repository().packed_refs_mark().expect("they are packed");
    let remembered = SealingNotes { mark, names: BTreeSet::new() };
    remembered.write(&space);
    assert_eq!(notes_with_sessions(&anew(&space)).expect("readable"), BTreeSet::new());
    started(&space, &bob, "hold(\"Go on?\")");
    let of_bob = BTreeSet::from([notes(&bob)]);
    assert_eq!(notes_with_sessions(&anew(&space)).expect("readable"), of_bob, "its own file");
    pack();
    assert_eq!(notes_with_sessions(&anew(&space)).expect("readable"), both, "another file");
    remembered.write(&space);
    assert_eq!(notes_with_sessions(&anew(&space)).expect("readable"), both, "of an earlier one");
    assert!(anew(&space).sessions().expect("readable").contains(&id));
}
