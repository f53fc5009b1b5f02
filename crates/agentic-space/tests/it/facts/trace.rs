//! Facts about traces: what is bound, what was, and what waits.

use agentic_space::commit::{TraceBinding, commit};
use agentic_space::model::{Cid, Oid};

use crate::ask::{ask, rows};
use crate::place::{Place, draft, kind, name};

/// Adds an entry to the trace of alice.
fn add(place: &Place, sort: &str, text: &[u8]) {
    place.space.add_trace(&name("alice"), &kind(sort), text).expect("there is room");
}

/// Commits a file of alice with what waits in her trace.
fn commit_with_trace(place: &Place, content: &str) -> Oid {
    let mut traced = draft("With trace", &[("a", Some(content))]);
    traced.capture = TraceBinding::WithTrace;
    commit(&place.space, &name("alice"), &traced).expect("there is room").commit
}

#[test]
fn an_entry_is_pending_until_it_is_bound_and_never_both() {
    let place = Place::with(&["alice"]);
    add(&place, "log", b"one");
    add(&place, "tool", b"two");
    let pending = "? pending_entry(agent: alice, n: N, kind: K, text: T).";
    let bound =
        "? (N, K, T) trace(cid: _C, agent: alice), entry(trace: _C, n: N, kind: K, text: T).";
    assert_eq!(
        (rows(&place.space, pending).as_str(), rows(&place.space, bound).as_str()),
        ("0 log one; 1 tool two", "")
    );
    commit_with_trace(&place, "1");
    assert_eq!(
        (rows(&place.space, pending).as_str(), rows(&place.space, bound).as_str()),
        ("", "0 log one; 1 tool two")
    );
    add(&place, "log", b"three");
    assert_eq!(rows(&place.space, pending), "0 log three", "it belongs to the next commit");
}

#[test]
fn a_long_entry_is_one_row_and_bytes_have_no_text() {
    let place = Place::with(&["alice"]);
    let long = "x".repeat(600_000);
    add(&place, "log", long.as_bytes());
    add(&place, "log", b"\xff\xfe");
    let lengths = "? (N, L) entry(n: N, text: _T), L = len(_T).";
    let pending = "? (N, L) pending_entry(n: N, text: _T), L = len(_T).";
    assert_eq!(rows(&place.space, pending), "0 600000", "bytes have no length as text");
    commit_with_trace(&place, "1");
    assert_eq!(rows(&place.space, lengths), "0 600000");
    assert_eq!(rows(&place.space, "? entry(n: N, text: null)."), "1");
    assert_eq!(rows(&place.space, "? trace(entries: N)."), "2");
}

#[test]
fn a_trace_that_is_bound_later_is_a_row_beside_the_one_that_it_continues() {
    let place = Place::with(&["alice"]);
    add(&place, "log", b"one");
    let head = commit_with_trace(&place, "1");
    add(&place, "log", b"two");
    place.space.attach_trace(&name("alice"), head).expect("it is hers");
    assert_eq!(rows(&place.space, "? (N) N = count { trace(cid: _T) }."), "2");
    let texts = rows(&place.space, "? (T) entry(text: T).");
    assert!(texts.contains("one") && texts.contains("two"), "{texts}");
    // The history tells both bindings, of which only the later one is the note's now.
    assert_eq!(rows(&place.space, "? (N) N = count { binding(commit: _C) }."), "2");
}

#[test]
fn a_note_that_somebody_removed_binds_nothing_and_its_history_stays() {
    let place = Place::with(&["alice"]);
    add(&place, "log", b"one");
    let head = commit_with_trace(&place, "1").to_string();
    assert_eq!(rows(&place.space, "? trace(agent: A, entries: N)."), "alice 1");
    place.git(&["notes", "--ref=refs/notes/agentic/alice", "remove", &head]);
    assert_eq!(rows(&place.space, "? trace(agent: A, entries: N)."), "");
    assert_eq!(rows(&place.space, "? entry(text: T)."), "");
    assert_eq!(rows(&place.space, "? (N) N = count { binding(cid: _C), _C != null }."), "1");
    assert_eq!(rows(&place.space, "? (N) N = count { binding(cid: null) }."), "1");
}

#[test]
fn a_note_of_people_binds_nothing() {
    let place = Place::with(&["alice"]);
    let head = place.commit("alice", &[("a", Some("1"))]).expect("there is room").commit;
    let note = ["notes", "--ref=refs/notes/agentic/alice", "add", "-m", "well done"];
    place.git(&[&note[..], &[&head.to_string()]].concat());
    assert_eq!(rows(&place.space, "? trace(commit: C)."), "");
    assert_eq!(rows(&place.space, "? (N) N = count { binding(cid: null) }."), "1");
}

#[test]
fn a_trace_that_is_not_here_is_bound_all_the_same() {
    let place = Place::with(&["alice"]);
    let head = place.commit("alice", &[("a", Some("1"))]).expect("there is room").commit;
    let foreign = format!("trace {}", Cid::of(b"elsewhere"));
    let note = ["notes", "--ref=refs/notes/agentic/alice", "add", "-m", &foreign];
    place.git(&[&note[..], &[&head.to_string()]].concat());
    assert_eq!(rows(&place.space, "? trace(agent: A, entries: N)."), "alice null");
    let report = ask(&place.space, "? entry(text: T).");
    assert_eq!(report.answers[0].rows.len(), 0);
    assert!(report.notes[0].contains("the trace bafy"), "{:?}", report.notes);
}

#[test]
fn two_readers_see_what_stood_when_each_began() {
    let place = Place::with(&["alice"]);
    add(&place, "log", b"one");
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for n in 0..20 {
                commit_with_trace(&place, &n.to_string());
                add(&place, "log", format!("more {n}").as_bytes());
            }
        });
        while !writer.is_finished() {
            let report = ask(&place.open_again(), "? (X) X = count { entry(text: _T) }.");
            assert_eq!(report.notes, Vec::<String>::new(), "nothing is half-written to a reader");
        }
    });
    assert_eq!(rows(&place.space, "? (N) N = count { entry(text: _T) }."), "20");
    assert_eq!(rows(&place.space, "? pending_entry(n: N, text: T)."), "0 more 19");
}
