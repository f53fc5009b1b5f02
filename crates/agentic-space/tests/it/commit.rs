//! Committing.

use agentic_space::commit::{
    CommitDraft, Edit, Emptiness, FileMode, TraceBinding, TreeSource, commit, commit_all,
};
use agentic_space::error::{BranchError, CommitError};
use agentic_space::model::{Cid, Map, Value};
use agentic_space::{Error, Options, Space};
use agentic_store::error::CheckoutError;

use crate::place::{Place, draft, kind, name, walk};

#[test]
fn edits_make_a_commit_upon_the_head() {
    let place = Place::with(&["alice"]);
    let genesis = place.head("alice");
    let files = [("src/a", Some("1")), ("b", Some("2"))];
    let done = place.commit("alice", &files).expect("there is room");
    assert_eq!((place.head("alice"), &done.parents[..]), (done.commit, &[genesis][..]));
    assert_eq!(done.changed, ["b", "src/a"]);
    place.commit("alice", &[("src/a", None), ("b", Some("3"))]).expect("there is room");
    assert_eq!(
        (place.files("alice"), place.file("alice", "b")),
        (vec!["b".to_owned()], "3".into())
    );
    place.check_sound();
}

#[test]
fn a_commit_without_changes_is_made_only_if_that_is_meant() {
    let place = Place::with(&["alice"]);
    place.commit("alice", &[("a", Some("1"))]).expect("there is room");
    let before = place.head("alice");
    let refused = place.commit("alice", &[("a", Some("1"))]);
    assert!(matches!(refused, Err(Error::Commit(CommitError::Nothing { .. }))), "{refused:?}");
    assert_eq!(place.head("alice"), before);
    let mut meant = draft("Say something", &[]);
    meant.emptiness = Emptiness::Allowed;
    let done = commit(&place.space, &name("alice"), &meant).expect("it is meant");
    assert_eq!(done.tree, place.space.read_commit(before).expect("sound").tree);
}

#[test]
fn a_head_that_was_not_expected_is_a_conflict() {
    let place = Place::with(&["alice"]);
    let seen = place.head("alice");
    place.commit("alice", &[("a", Some("theirs"))]).expect("there is room");
    let mut late = draft("Come late", &[("a", Some("ours"))]);
    late.expect = Some(seen);
    let refused = commit(&place.space, &name("alice"), &late);
    assert!(matches!(refused, Err(Error::Branch(BranchError::HeadMoved { .. }))), "{refused:?}");
    assert_eq!(place.file("alice", "a"), "theirs");
}

#[test]
fn what_git_would_not_check_out_is_not_committed() {
    let place = Place::with(&["alice"]);
    let before = place.head("alice");
    for path in [".git/config", "a/../b", "/etc/passwd", "a//b", ".GIT/hooks"] {
        let refused = place.commit("alice", &[(path, Some("x"))]);
        let Err(Error::Store(agentic_store::Error::Checkout(CheckoutError::UnsafePath { .. }))) =
            refused
        else {
            panic!("{path}: {refused:?}")
        };
    }
    assert_eq!(place.head("alice"), before);
}

#[test]
fn of_several_drafts_the_one_that_cannot_be_committed_is_left_out() {
    let place = Place::with(&["alice"]);
    let drafts = [
        draft("First", &[("a", Some("1"))]),
        draft("Hostile", &[(".git/config", Some("x"))]),
        draft("Second", &[("b", Some("2"))]),
    ];
    let done = commit_all(&place.space, &name("alice"), &drafts).expect("there is room");
    assert!(done[0].is_ok() && done[1].is_err(), "{done:?}");
    let second = done[2].as_ref().expect("it has nothing to do with the others");
    assert_eq!(second.commit, place.head("alice"));
    assert_eq!(second.parents, [done[0].as_ref().expect("made above").commit]);
    assert_eq!(place.files("alice"), ["a", "b"]);
    place.check_sound();
}

#[test]
fn an_agent_that_does_not_exist_commits_nothing() {
    let place = Place::new();
    assert!(place.commit("nobody", &[("a", Some("1"))]).is_err());
    assert_eq!(place.git(&["for-each-ref"]), "");
}

/// Makes alice with two entries that wait for a commit.
fn traced() -> Place {
    let place = Place::with(&["alice"]);
    for text in ["one", "two"] {
        place
            .space
            .add_trace(&name("alice"), &kind("log"), text.as_bytes())
            .expect("there is room");
    }
    place
}

fn with_trace() -> CommitDraft {
    let capture = TraceBinding::WithTrace;
    CommitDraft { capture, ..draft("Work", &[("a", Some("1"))]) }
}

#[test]
fn a_commit_with_trace_that_is_broken_off_anywhere_is_made_once_with_all_of_it() {
    let act = |place: &Place| _ = commit(&place.space, &name("alice"), &with_trace());
    walk(traced, act, |place, step| {
        // Whoever tries again finds what was decided, or commits now.
        let done = match commit(&place.space, &name("alice"), &with_trace()) {
            Ok(done) => done.commit,
            Err(Error::Commit(CommitError::Nothing { .. })) => place.head("alice"),
            Err(other) => panic!("step {step}: {other}"),
        };
        let subjects = place.git(&["log", "--format=%s", "agents/alice"]);
        assert_eq!(subjects.matches("Work").count(), 1, "step {step}: {subjects}");
        let shown = place.space.trace_of_commit(done).expect("it is bound");
        assert_eq!(shown.trace.entries.len(), 2, "step {step}");
        assert_eq!(place.space.pending_trace(&name("alice")).expect("sound"), [], "step {step}");
    });
}

#[test]
fn handles_that_race_lose_nothing() {
    let place = Place::with(&["alice"]);
    std::thread::scope(|scope| {
        for number in 0..3 {
            let place = &place;
            scope.spawn(move || {
                let space = place.open_again();
                for round in 0..3 {
                    let path = format!("{number}/{round}");
                    let change = draft("Add a file", &[(path.as_str(), Some("x"))]);
                    commit(&space, &name("alice"), &change).expect("edits fit on any head");
                }
            });
        }
    });
    assert_eq!(place.files("alice").len(), 9);
    place.check_sound();
}

#[test]
fn a_message_may_not_pose_as_ours() {
    let place = Place::with(&["alice"]);
    let before = place.head("alice");
    for message in ["Work\n\nAgentic-Kind: decision", "Work\n\nagentic-agent: bob"] {
        let refused = commit(&place.space, &name("alice"), &draft(message, &[("a", Some("1"))]));
        assert!(matches!(refused, Err(Error::Message(_))), "{message}: {refused:?}");
    }
    assert_eq!(place.head("alice"), before);
    let own = draft("Work\n\nCo-authored-by: Bob <b@c>", &[("a", Some("1"))]);
    commit(&place.space, &name("alice"), &own).expect("trailers of others stay");
    let trailers = place.git(&["log", "-1", "--format=%(trailers:only)", "agents/alice"]);
    assert!(trailers.contains("Co-authored-by") && trailers.contains("Agentic-Kind"), "{trailers}");
}

#[test]
fn open_fields_stand_in_the_commit_or_beside_it_if_they_are_long() {
    let place = Place::with(&["alice"]);
    for (length, is_inline) in [(10, true), (20_000, false)] {
        let mut fielded = draft("Fields", &[("a", Some(&length.to_string()))]);
        fielded.fields = Map::from([("note".to_owned(), Value::text("x".repeat(length)))]);
        commit(&place.space, &name("alice"), &fielded).expect("there is room");
        let message = place.git(&["log", "-1", "--format=%B", "agents/alice"]);
        let fields = message.lines().find_map(|line| line.strip_prefix("Agentic-Fields: "));
        let fields = fields.expect("it has fields");
        assert_eq!(fields.starts_with('{'), is_inline, "{length}");
        if !is_inline {
            let cid = Cid::parse(fields).expect("it names an object");
            let object = place.space.object(cid).expect("it is kept with the agent");
            assert_eq!(object.map().get("fields").and_then(Value::as_map), Some(&fielded.fields));
        }
    }
}

#[test]
fn files_have_their_mode() {
    let place = Place::with(&["alice"]);
    let write = |text: &str, mode| Edit::Write { content: text.as_bytes().to_vec(), mode };
    let files = [
        ("run".to_owned(), write("#!/bin/sh", FileMode::Executable)),
        ("link".to_owned(), write("run", FileMode::Link)),
        ("plain".to_owned(), write("x", FileMode::Plain)),
    ];
    let source = TreeSource::Edits(files.into());
    let modes = CommitDraft { source, ..draft("Modes", &[]) };
    commit(&place.space, &name("alice"), &modes).expect("there is room");
    let listed = place.git(&["ls-tree", "--format=%(objectmode) %(path)", "agents/alice"]);
    assert_eq!(listed.lines().collect::<Vec<_>>(), ["120000 link", "100644 plain", "100755 run"]);
}

#[test]
fn a_file_in_place_of_a_folder_takes_all_below_it_away() {
    let place = Place::with(&["alice"]);
    place.commit("alice", &[("a/b/c", Some("1")), ("a/d", Some("2"))]).expect("there is room");
    place.commit("alice", &[("a", Some("file"))]).expect("there is room");
    assert_eq!(place.files("alice"), ["a"]);
    place.commit("alice", &[("a/b", Some("folder again"))]).expect("there is room");
    assert_eq!(place.files("alice"), ["a/b"]);
    place.check_sound();
}

#[test]
fn to_take_away_what_is_not_there_is_no_change() {
    let place = Place::with(&["alice"]);
    let refused = place.commit("alice", &[("none", None)]);
    assert!(matches!(refused, Err(Error::Commit(CommitError::Nothing { .. }))), "{refused:?}");
}

#[test]
fn a_folder_is_committed_whole_and_some_paths_of_it_alone() {
    let place = Place::with(&["alice"]);
    place.commit("alice", &[("old", Some("1")), ("kept", Some("1"))]).expect("there is room");
    let folder = place.beside("folder");
    std::fs::create_dir_all(folder.join("sub")).expect("writable");
    for (file, text) in [("kept", "2"), ("sub/new", "3"), ("other", "4")] {
        std::fs::write(folder.join(file), text).expect("writable");
    }
    let (root, paths) = (folder.clone(), vec![b"sub/new".to_vec(), b"kept".to_vec()]);
    let some = CommitDraft { source: TreeSource::Paths { root, paths }, ..draft("Some", &[]) };
    commit(&place.space, &name("alice"), &some).expect("they are there");
    assert_eq!(place.files("alice"), ["kept", "old", "sub/new"]);
    assert_eq!(place.file("alice", "kept"), "2");
    let whole = CommitDraft { source: TreeSource::Folder(folder.clone()), ..draft("All", &[]) };
    commit(&place.space, &name("alice"), &whole).expect("it is there");
    assert_eq!(place.files("alice"), ["kept", "other", "sub/new"]);
    let (root, paths) = (folder, vec![b"none".to_vec()]);
    let none = CommitDraft { source: TreeSource::Paths { root, paths }, ..draft("None", &[]) };
    let refused = commit(&place.space, &name("alice"), &none);
    assert!(matches!(refused, Err(Error::Commit(CommitError::NoSuchPath { .. }))), "{refused:?}");
}

#[test]
fn a_snapshot_is_no_part_of_a_batch() {
    let place = Place::with(&["alice"]);
    let snapshot = CommitDraft { source: TreeSource::Folder(place.path()), ..draft("All", &[]) };
    let expecting =
        CommitDraft { expect: Some(place.head("alice")), ..draft("E", &[("b", Some("1"))]) };
    let drafts = [snapshot, draft("Edit", &[("a", Some("1"))]), expecting];
    let done = commit_all(&place.space, &name("alice"), &drafts).expect("one of them can be made");
    for refused in [&done[0], &done[2]] {
        assert!(matches!(refused, Err(Error::Commit(CommitError::NotInBatch))), "{refused:?}");
    }
    assert!(done[1].is_ok());
}

#[test]
fn a_batch_is_there_whole_or_not_at_all() {
    let drafts: Vec<_> = (0..4)
        .map(|number| draft(&format!("Step {number}"), &[(&*number.to_string(), Some("x"))]))
        .collect();
    let prepare = || Place::with(&["alice"]);
    let act = |place: &Place| _ = commit_all(&place.space, &name("alice"), &drafts);
    walk(prepare, act, |place, step| {
        let n_made = place.files("alice").len();
        assert!([0, 4].contains(&n_made), "step {step}: {n_made} of 4");
    });
}

#[test]
fn the_trace_is_bound_to_the_first_of_a_batch_that_asks_for_it() {
    let place = traced();
    let plain = draft("Plain", &[("p", Some("1"))]);
    let second = CommitDraft { source: plain.source.clone(), ..with_trace() };
    let drafts = [draft("First", &[("f", Some("1"))]), with_trace(), second];
    let done = commit_all(&place.space, &name("alice"), &drafts).expect("there is room");
    let traces: Vec<bool> =
        done.iter().map(|one| one.as_ref().is_ok_and(|one| one.trace.is_some())).collect();
    assert_eq!(traces, [false, true, false]);
}

#[test]
fn a_file_beyond_the_room_of_a_record_is_committed_and_survives() {
    let place = Place::with(&["alice"]);
    let large: Vec<u8> =
        (0..9 << 20).map(|n: u32| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let edit = Edit::Write { content: large, mode: FileMode::Plain };
    let source = TreeSource::Edits([("large".to_owned(), edit)].into());
    let done = commit(&place.space, &name("alice"), &CommitDraft { source, ..draft("Large", &[]) });
    done.expect("there is room");
    assert_eq!(place.git(&["cat-file", "-s", "agents/alice:large"]), (9 << 20).to_string());
    place.git(&["gc", "--quiet", "--prune=now"]);
    place.check_sound();
}

#[test]
fn a_commit_is_of_a_kind_of_commits() {
    let place = Place::with(&["alice"]);
    for (text, may) in
        [("finding", true), ("agent-commit", true), ("briefing", false), ("none", false)]
    {
        let typed = CommitDraft { kind: Some(kind(text)), ..draft("Typed", &[("a", Some(text))]) };
        assert_eq!(commit(&place.space, &name("alice"), &typed).is_ok(), may, "{text}");
    }
}

#[test]
fn a_durability_that_nobody_knows_is_refused_before_anything_is_written() {
    let place = Place::with(&["alice"]);
    place.git(&["config", "agentic.durability", "someday"]);
    let opened = Space::open(&place.path(), Options::default());
    let is_told = matches!(opened, Err(Error::Commit(CommitError::UnknownDurability { .. })));
    assert!(is_told);
}
