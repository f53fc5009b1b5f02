//! Traces: pending, bound to a commit, and read again.

use agentic_model::{Map, Oid, Value};
use agentic_space::commit::{Emptiness, TraceBinding, commit};
use agentic_space::error::{AgentError, CommitError};
use agentic_space::trace::TRACE_CHAIN_MAX;
use agentic_space::{AgentBranch, Error};

use crate::place::{Place, draft, kind, name, walk};

/// Adds an entry to the trace of alice.
fn add(place: &Place, text: &str) -> u64 {
    let added = place.space.add_trace(&name("alice"), &kind("log"), text.as_bytes());
    added.expect("there is room").n_pending
}

/// Returns the texts of the pending entries of alice.
fn pending(place: &Place) -> Vec<String> {
    let entries = place.space.pending_trace(&name("alice")).expect("sound");
    entries.iter().filter_map(|entry| entry.body.as_text().map(str::to_owned)).collect()
}

#[test]
fn entries_wait_in_order_until_a_commit_takes_all_of_them() {
    let place = Place::with(&["alice"]);
    assert_eq!([add(&place, "one"), add(&place, "two")], [1, 2]);
    place.commit("alice", &[("a", Some("1"))]).expect("there is room");
    assert_eq!(pending(&place), ["one", "two"], "a commit without its trace leaves them");
    let mut traced = draft("With trace", &[("a", Some("2"))]);
    traced.capture = TraceBinding::WithTrace;
    let done = commit(&place.space, &name("alice"), &traced).expect("there is room");
    assert_eq!(pending(&place), Vec::<String>::new());
    let shown = place.space.trace_of_commit(done.commit).expect("it is bound");
    assert_eq!(Some(shown.cid), done.trace);
    let texts: Vec<_> = shown.trace.entries.iter().filter_map(|one| one.body.as_text()).collect();
    assert_eq!(texts, ["one", "two"]);
    assert_eq!(add(&place, "three"), 1, "what comes after it is of the next commit");
}

#[test]
fn entries_outlive_the_handle_that_took_them() {
    let place = Place::with(&["alice"]);
    add(&place, "one");
    let again = place.open_again();
    let entries = again.pending_trace(&name("alice")).expect("sound");
    assert_eq!(entries.len(), 1);
}

#[test]
fn a_trace_is_bound_later_to_a_commit_of_the_agent_alone() {
    let place = Place::with(&["alice", "bob"]);
    let theirs = place.commit("bob", &[("b", Some("1"))]).expect("there is room").commit;
    let ours = place.commit("alice", &[("a", Some("1"))]).expect("there is room").commit;
    add(&place, "one");
    let foreign = place.space.attach_trace(&name("alice"), theirs);
    assert!(matches!(foreign, Err(Error::Commit(CommitError::Foreign { .. }))), "{foreign:?}");
    assert_eq!(pending(&place), ["one"]);
    let bound = place.space.attach_trace(&name("alice"), ours).expect("it is hers");
    assert_eq!(bound.commit, ours);
    assert_eq!(pending(&place), Vec::<String>::new());
    let note = place.git(&["notes", "--ref=agentic/alice", "show", &ours.to_string()]);
    assert!(note.contains(&bound.cid.to_string()), "git shows the trace as a note: {note}");
    let nothing = place.space.attach_trace(&name("alice"), ours);
    assert!(matches!(nothing, Err(Error::Commit(CommitError::NoTrace { .. }))), "{nothing:?}");
}

#[test]
fn a_commit_that_fails_takes_no_trace() {
    let place = Place::with(&["alice"]);
    add(&place, "one");
    let mut hostile = draft("Hostile", &[(".git/config", Some("x"))]);
    hostile.capture = TraceBinding::WithTrace;
    assert!(commit(&place.space, &name("alice"), &hostile).is_err());
    assert_eq!(pending(&place), ["one"]);
    let mut empty = draft("Only the trace", &[]);
    (empty.capture, empty.emptiness) = (TraceBinding::WithTrace, Emptiness::Allowed);
    commit(&place.space, &name("alice"), &empty).expect("it says something");
    assert_eq!(pending(&place), Vec::<String>::new());
}

#[test]
fn entries_that_are_broken_off_anywhere_are_there_whole_or_not_at_all() {
    let prepare = || Place::with(&["alice"]);
    let act = |place: &Place| {
        let entries = [(&kind("log"), &b"one"[..]), (&kind("log"), b"two")];
        let _ = place.space.add_traces(&name("alice"), &entries);
    };
    walk(prepare, act, |place, step| {
        let n_before = pending(place).len();
        assert!([0, 2].contains(&n_before), "step {step}: {n_before}");
        assert_eq!(add(place, "three"), n_before as u64 + 1, "step {step}");
    });
}

#[test]
fn a_trace_that_is_bound_later_is_bound_once_wherever_that_is_broken_off() {
    let prepare = || {
        let place = Place::with(&["alice"]);
        place.commit("alice", &[("a", Some("1"))]).expect("there is room");
        add(&place, "one");
        place
    };
    let act = |place: &Place| _ = place.space.attach_trace(&name("alice"), place.head("alice"));
    walk(prepare, act, |place, step| {
        let head = place.head("alice");
        if !pending(place).is_empty() {
            place.space.attach_trace(&name("alice"), head).expect("it waits still");
        }
        assert_eq!(pending(place), Vec::<String>::new(), "step {step}");
        let shown = place.space.trace_of_commit(head).expect("it is bound");
        assert_eq!(shown.trace.entries.len(), 1, "step {step}");
    });
}

#[test]
fn threads_that_add_entries_lose_none() {
    let place = Place::with(&["alice"]);
    std::thread::scope(|scope| {
        for number in 0..4 {
            let place = &place;
            scope.spawn(move || {
                for round in 0..5 {
                    add(place, &format!("{number}/{round}"));
                }
            });
        }
    });
    let mut all = pending(&place);
    for number in 0..4 {
        let prefix = format!("{number}/");
        let own: Vec<&String> = all.iter().filter(|text| text.starts_with(&prefix)).collect();
        assert!(own.is_sorted(), "each thread's own entries stay in order: {own:?}");
    }
    all.dedup();
    assert_eq!(all.len(), 20);
}

#[test]
fn a_long_entry_is_kept_in_pieces_and_shown_whole() {
    let place = Place::with(&["alice"]);
    let text = "ä".repeat(200_000);
    assert_eq!(add(&place, &text), 2, "more than one entry may have");
    assert_eq!(pending(&place).concat(), text, "no letter is cut in two");
    let done = commit(&place.space, &name("alice"), &{
        let mut empty = draft("Only the trace", &[]);
        (empty.capture, empty.emptiness) = (TraceBinding::WithTrace, Emptiness::Allowed);
        empty
    });
    let shown =
        place.space.trace_of_commit(done.expect("it says something").commit).expect("bound");
    let continues: Vec<bool> = shown.trace.entries.iter().map(|entry| entry.continues).collect();
    assert_eq!(continues, [true, false], "the first one is not the end of it");
}

#[test]
fn a_trace_beyond_all_bounds_is_refused_and_keeps_what_there_is() {
    let place = Place::with(&["alice"]);
    add(&place, "one");
    let huge = vec![b'x'; 65 << 20];
    let refused = place.space.add_trace(&name("alice"), &kind("log"), &huge);
    assert!(matches!(refused, Err(Error::Commit(CommitError::TraceTooLong { .. }))), "{refused:?}");
    assert_eq!(pending(&place), ["one"]);
}

#[test]
fn bytes_that_are_no_text_are_kept_as_they_are() {
    let place = Place::with(&["alice"]);
    place.space.add_trace(&name("alice"), &kind("output"), b"\xff\x00").expect("there is room");
    let entries = place.space.pending_trace(&name("alice")).expect("sound");
    assert_eq!(entries[0].body.as_bytes(), Some(&b"\xff\x00"[..]));
}

#[test]
fn nobody_writes_the_trace_of_an_agent_that_is_not_there() {
    let place = Place::new();
    assert!(place.space.add_trace(&name("nobody"), &kind("log"), b"x").is_err());
    assert!(place.space.pending_trace(&name("nobody")).is_err());
    assert!(!place.path().join(".git/agentic/journal/nobody").exists());
}

/// Commits with the pending trace of alice.
fn bind(place: &Place, file: &str) -> agentic_space::commit::CommitOutcome {
    let mut traced = draft("Work", &[(file, Some("x"))]);
    traced.capture = TraceBinding::WithTrace;
    commit(&place.space, &name("alice"), &traced).expect("there is room")
}

#[test]
fn the_trace_of_an_agent_is_that_of_its_newest_commit_that_has_one() {
    let place = Place::with(&["alice"]);
    let branch = AgentBranch::here(name("alice"));
    let none = place.space.trace_of_branch(&branch);
    assert!(matches!(none, Err(Error::Commit(CommitError::NoTrace { .. }))), "{none:?}");
    add(&place, "one");
    let first = bind(&place, "a");
    place.commit("alice", &[("b", Some("1"))]).expect("there is room");
    let shown = place.space.trace_of_branch(&branch).expect("there is one");
    assert_eq!((shown.commit, Some(shown.cid)), (Some(first.commit), first.trace));
}

#[test]
fn a_trace_is_found_by_its_id_although_its_note_is_gone() {
    let place = Place::with(&["alice"]);
    add(&place, "one");
    let done = bind(&place, "a");
    place.git(&["notes", "--ref=agentic/alice", "remove", &done.commit.to_string()]);
    let gone = place.open_again().trace_of_commit(done.commit);
    assert!(gone.is_err(), "a person removed it: {gone:?}");
    let cid = done.trace.expect("it was bound");
    let shown = place.space.trace_by_cid(cid, None).expect("its object stays");
    assert_eq!(shown.trace.entries.len(), 1);
}

#[test]
fn what_was_bound_to_a_commit_before_is_told() {
    let place = Place::with(&["alice"]);
    add(&place, "one");
    let done = bind(&place, "a");
    add(&place, "two");
    let bound = place.space.attach_trace(&name("alice"), done.commit).expect("it is hers");
    let history = place.space.trace_history(done.commit).expect("readable");
    let cids: Vec<_> = history.iter().map(|past| past.cid).collect();
    assert_eq!(cids, [Some(bound.cid), done.trace], "the newest first");
    let other = place
        .space
        .trace_history(place.space.agent(&name("alice")).expect("it is").genesis.expect("has"));
    assert_eq!(other.expect("readable"), []);
}

#[test]
fn a_note_that_a_person_wrote_stays_beside_ours() {
    let place = Place::with(&["alice"]);
    let head = place.commit("alice", &[("a", Some("1"))]).expect("there is room").commit;
    place.git(&["notes", "--ref=agentic/alice", "add", "-m", "By hand", &head.to_string()]);
    add(&place, "one");
    let bound = place.space.attach_trace(&name("alice"), head).expect("it is hers");
    let note = place.git(&["notes", "--ref=agentic/alice", "show", &head.to_string()]);
    assert!(note.contains("By hand") && note.contains(&bound.cid.to_string()), "{note}");
}

#[test]
fn entries_of_a_branch_that_was_renamed_are_told_with_where_they_wait() {
    let place = Place::with(&["alice"]);
    add(&place, "one");
    place.git(&["branch", "-m", "agents/alice", "agents/bob"]);
    let space = place.open_again();
    let aside = space.pending_aside(&name("bob")).expect("readable");
    let texts: Vec<_> =
        aside.iter().map(|aside| (aside.folder.as_str(), aside.entries.len())).collect();
    assert_eq!(texts, [("journal/alice", 1)]);
    let said = space.briefing(&name("bob"));
    assert!(matches!(said, Err(Error::Agent(AgentError::Renamed { .. }))), "{said:?}");
}

fn shown(place: &Place, commit: Oid) -> Vec<String> {
    let shown = place.space.trace_of_commit(commit).expect("it is bound");
    shown.trace.entries.iter().filter_map(|one| one.body.as_text().map(str::to_owned)).collect()
}

#[test]
fn what_is_bound_later_goes_on_where_the_trace_before_ends() {
    let place = Place::with(&["alice"]);
    add(&place, "one");
    let done = bind(&place, "a");
    add(&place, "two");
    let captured = vec![Map::from([("source".to_owned(), Value::text("claude"))])];
    let bound = place.space.attach_captured(&name("alice"), done.commit, captured.clone());
    let bound = bound.expect("it is hers");
    assert_eq!(shown(&place, done.commit), ["one", "two"]);
    let object = place.space.object(bound.cid).expect("it is stored");
    assert_eq!(object.map().get("previous").and_then(Value::as_link), done.trace);
    let trace = place.space.trace_of_commit(done.commit).expect("it is bound").trace;
    assert_eq!(trace.captured, captured);
}

#[test]
fn a_chain_that_grows_long_is_joined_and_shows_each_entry_once() {
    let place = Place::with(&["alice"]);
    let head = place.commit("alice", &[("a", Some("1"))]).expect("there is room").commit;
    let mut said = Vec::new();
    let mut joined = 0;
    for number in 0..2 * TRACE_CHAIN_MAX + 3 {
        let text = format!("entry {number}");
        add(&place, &text);
        said.push(text);
        let bound = place.space.attach_trace(&name("alice"), head).expect("it is hers");
        let object = place.space.object(bound.cid).expect("it is stored");
        joined += usize::from(object.map().contains_key("parts"));
    }
    assert_eq!(shown(&place, head), said);
    assert_eq!(joined, 2);
}

#[test]
fn a_trace_that_goes_on_does_so_once_wherever_that_is_broken_off() {
    let prepare = || {
        let place = Place::with(&["alice"]);
        add(&place, "one");
        bind(&place, "a");
        add(&place, "two");
        place
    };
    let act = |place: &Place| _ = place.space.attach_trace(&name("alice"), place.head("alice"));
    walk(prepare, act, |place, step| {
        let head = place.head("alice");
        if !pending(place).is_empty() {
            place.space.attach_trace(&name("alice"), head).expect("it waits still");
        }
        assert_eq!(shown(place, head), ["one", "two"], "step {step}");
    });
}
