//! Exchange with another repository.

mod refspec;

use std::collections::BTreeSet;

use agentic_space::archive::{ArchiveWish, SessionUsers, archive};
use agentic_space::error::{AgentError, RemoteError, WorktreeError};
use agentic_space::merge::{MergePlan, Target, merge};
use agentic_space::model::{AgentName, KindEntry, Object, Value};
use agentic_space::spawn::SpawnOrigin;
use agentic_space::sync::{PushRefusal, PushScope, fetch, push};
use agentic_space::worktree::add;
use agentic_space::{AgentBranch, Error, Result};

use crate::place::{Place, briefing, git, kind, name, walk};

#[test]
fn what_is_pushed_is_fetched_elsewhere_with_its_trace() {
    let mut place = Place::with(&["alice"]);
    let head = place.commit("alice", &[("a", Some("1"))]).expect("there is room").commit;
    place.space.add_trace(&name("alice"), &kind("log"), b"one").expect("there is room");
    let bound = place.space.attach_trace(&name("alice"), head).expect("it is hers");
    let remote = place.make_remote();
    push(&place.space, "origin", PushScope::All).expect("the remote is empty");
    assert_eq!(git(&remote, &["rev-parse", "agents/alice"]), head.to_string());
    let mut other = Place::new();
    other.add_remote(&remote);
    fetch(&other.space, "origin", &[name("alice")]).expect("it is there");
    assert_eq!(other.head("alice"), head);
    assert_eq!(other.space.trace_of_commit(head).expect("it came along").cid, bound.cid);
    other.check_sound();
}

#[test]
fn a_remote_that_has_more_refuses_a_push_and_keeps_what_it_has() {
    let mut place = Place::with(&["alice"]);
    let remote = place.make_remote();
    push(&place.space, "origin", PushScope::All).expect("the remote is empty");
    let mut other = Place::new();
    other.add_remote(&remote);
    fetch(&other.space, "origin", &[name("alice")]).expect("it is there");
    let theirs = other.commit("alice", &[("b", Some("2"))]).expect("there is room").commit;
    push(&other.space, "origin", PushScope::All).expect("it is ahead");
    place.commit("alice", &[("a", Some("1"))]).expect("there is room");
    let refused = push(&place.space, "origin", PushScope::All);
    assert!(matches!(refused, Err(Error::Remote(RemoteError::PushRefused { .. }))), "{refused:?}");
    assert_eq!(git(&remote, &["rev-parse", "agents/alice"]), theirs.to_string());
}

#[test]
fn a_remote_that_nobody_named_is_unknown() {
    let place = Place::with(&["alice"]);
    let refused = push(&place.space, "origin", PushScope::All);
    assert!(matches!(refused, Err(Error::Remote(RemoteError::Unknown { .. }))), "{refused:?}");
}

/// Makes two places that share a remote and an agent.
fn shared() -> (Place, Place) {
    let mut place = Place::with(&["alice"]);
    let remote = place.make_remote();
    push(&place.space, "origin", PushScope::All).expect("the remote is empty");
    let mut other = Place::new();
    other.add_remote(&remote);
    fetch(&other.space, "origin", &[name("alice")]).expect("it is there");
    (place, other)
}

#[test]
fn notes_of_both_sides_are_united() {
    let (place, other) = shared();
    let plan = |number: i64| {
        let map = [("type", Value::text("plan")), ("n", Value::Int(number))];
        let map = map.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        Object::new(map).expect("it is short")
    };
    place.space.put_object(&name("alice"), &plan(1)).expect("there is room");
    other.space.put_object(&name("alice"), &plan(2)).expect("there is room");
    push(&place.space, "origin", PushScope::All).expect("it is ahead");
    let fetched = fetch(&other.space, "origin", &[]).expect("it is there");
    assert_eq!(fetched.notes_united, [name("alice")]);
    for number in [1, 2] {
        assert!(other.space.object(plan(number).cid()).is_ok(), "{number}");
    }
    push(&other.space, "origin", PushScope::All).expect("it has both");
    fetch(&place.space, "origin", &[]).expect("it is there");
    assert!(place.space.object(plan(2).cid()).is_ok());
    other.check_sound();
}

#[test]
fn a_branch_that_is_behind_is_brought_along_and_one_that_diverged_is_named() {
    let (place, other) = shared();
    let ahead = place.commit("alice", &[("a", Some("1"))]).expect("there is room").commit;
    push(&place.space, "origin", PushScope::Named(&[name("alice")])).expect("it is ahead");
    let fetched = fetch(&other.space, "origin", &[]).expect("it is there");
    assert_eq!((fetched.fast_forwarded, other.head("alice")), (vec![name("alice")], ahead));
    place.commit("alice", &[("a", Some("2"))]).expect("there is room");
    push(&place.space, "origin", PushScope::All).expect("it is ahead");
    let own = other.commit("alice", &[("b", Some("1"))]).expect("there is room").commit;
    let fetched = fetch(&other.space, "origin", &[]).expect("it is there");
    assert_eq!((fetched.diverged, other.head("alice")), (vec![name("alice")], own));
    // Then both sides are reconciled by a merge.
    let theirs = AgentBranch { agent: name("alice"), remote: Some("origin".to_owned()) };
    let target = Target::Agent(name("alice"));
    merge(&other.space, &theirs, &target, &MergePlan::default()).expect("nothing is in the way");
    push(&other.space, "origin", PushScope::All).expect("it has both");
    assert_eq!(other.files("alice"), ["a", "b"]);
}

#[test]
fn who_is_not_adopted_is_listed_and_stays_away() {
    let (place, other) = shared();
    place.spawn("bob", &SpawnOrigin::Root).expect("the name is free");
    push(&place.space, "origin", PushScope::All).expect("it is ahead");
    fetch(&other.space, "origin", &[]).expect("it is there");
    assert!(other.space.head(&name("bob")).is_err());
    let listed: Vec<_> =
        other.space.remote_agents().expect("readable").into_iter().map(|one| one.name).collect();
    assert_eq!(listed, [name("bob")]);
    assert!(fetch(&other.space, "origin", &[name("carol")]).is_err(), "nobody has her");
}

#[test]
fn kinds_and_the_archive_travel() {
    let (place, other) = shared();
    let (parent, description) = (Some(kind("finding")), "x".to_owned());
    let entry = KindEntry { name: kind("deploy"), parent, description, schema: None };
    place.space.register_kind(entry).expect("the name is free");
    place.spawn("bob", &SpawnOrigin::Root).expect("the name is free");
    push(&place.space, "origin", PushScope::All).expect("it is ahead");
    archive(&place.space, ArchiveWish::by_person(&[name("bob")]), &Nobody)
        .expect("nothing is in the way");
    push(&place.space, "origin", PushScope::All).expect("it is ahead");
    fetch(&other.space, "origin", &[]).expect("it is there");
    let kinds = other.open_again().kinds().expect("sound");
    assert!(kinds.is_a(&kind("deploy"), &kind("finding")));
    assert!(other.space.archived_agent(&name("bob")).expect("sound").is_some());
    let taken = fetch(&other.space, "origin", &[name("bob")]);
    assert!(matches!(taken, Err(Error::Agent(AgentError::NameArchived { .. }))), "{taken:?}");
}

/// Nobody has a session.
struct Nobody;

impl SessionUsers for Nobody {
    fn open_session(&self, _: &BTreeSet<&AgentName>) -> Result<Option<(AgentName, String)>> {
        Ok(None)
    }
}

#[test]
fn a_hook_of_the_remote_that_declines_is_told_from_one_that_moved_on() {
    let mut place = Place::with(&["alice"]);
    let remote = place.make_remote();
    let hook = remote.join("hooks/pre-receive");
    std::fs::create_dir_all(remote.join("hooks")).expect("writable");
    std::fs::write(&hook, "#!/bin/sh\necho no bread >&2\nexit 1\n").expect("writable");
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("ours");
    let refused = push(&place.space, "origin", PushScope::All);
    let Err(Error::Remote(RemoteError::PushRefused { why, message, .. })) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(why, PushRefusal::Hook);
    assert!(message.contains("no bread"), "{message}");
}

#[test]
fn a_push_is_of_all_or_of_none() {
    let (place, other) = shared();
    other.commit("alice", &[("b", Some("1"))]).expect("there is room");
    push(&other.space, "origin", PushScope::All).expect("it is ahead");
    place.commit("alice", &[("a", Some("1"))]).expect("there is room");
    place.spawn("bob", &SpawnOrigin::Root).expect("the name is free");
    assert!(push(&place.space, "origin", PushScope::All).is_err());
    let there = other.git(&["ls-remote", "origin"]);
    assert!(!there.contains("bob"), "{there}");
    let named = push(&place.space, "origin", PushScope::Named(&[name("bob")])).expect("he is new");
    assert_eq!(named.refs, ["refs/heads/agents/bob", "refs/notes/agentic/bob"]);
    assert!(push(&place.space, "origin", PushScope::Named(&[name("nobody")])).is_err());
}

#[test]
fn a_push_of_what_is_there_moves_nothing() {
    let (place, _other) = shared();
    let pushed = push(&place.space, "origin", PushScope::All).expect("it is there");
    assert_eq!(pushed.refs, Vec::<String>::new());
    let empty = Place::new();
    assert!(push(&empty.space, "origin", PushScope::All).is_err(), "there is no remote");
}

#[test]
fn the_files_of_an_agent_follow_what_was_fetched_unless_work_is_in_the_way() {
    let (place, other) = shared();
    let folder = other.beside("alice");
    add(&other.space, &name("alice"), &folder).expect("the folder is free");
    place.commit("alice", &[("a", Some("1"))]).expect("there is room");
    push(&place.space, "origin", PushScope::All).expect("it is ahead");
    fetch(&other.space, "origin", &[]).expect("nothing is in the way");
    assert_eq!(std::fs::read_to_string(folder.join("a")).expect("it came along"), "1");
    assert_eq!(git(&folder, &["status", "--porcelain"]), "");
    std::fs::write(folder.join("a"), "edited").expect("writable");
    let before = other.head("alice");
    place.commit("alice", &[("a", Some("2"))]).expect("there is room");
    push(&place.space, "origin", PushScope::All).expect("it is ahead");
    let refused = fetch(&other.space, "origin", &[]);
    assert!(matches!(refused, Err(Error::Worktree(WorktreeError::Busy { .. }))), "{refused:?}");
    assert_eq!(other.head("alice"), before);
    assert_eq!(std::fs::read_to_string(folder.join("a")).expect("it is there"), "edited");
}

#[test]
fn a_fetch_that_is_broken_off_anywhere_can_be_repeated() {
    let prepare = || {
        let (place, other) = shared();
        add(&place.space, &name("alice"), &place.beside("alice")).expect("the folder is free");
        other.commit("alice", &[("a", Some("1"))]).expect("there is room");
        other.space.put_object(&name("alice"), &briefing("x")).expect("there is room");
        other.spawn("bob", &SpawnOrigin::Root).expect("the name is free");
        push(&other.space, "origin", PushScope::All).expect("it is ahead");
        place
    };
    let bob = [name("bob")];
    let act = |place: &Place| _ = fetch(&place.space, "origin", &bob);
    walk(prepare, act, |place, step| {
        fetch(&place.space, "origin", &bob).unwrap_or_else(|error| panic!("step {step}: {error}"));
        assert_eq!(place.file("alice", "a"), "1", "step {step}");
        let folder = place.beside("alice");
        assert_eq!(git(&folder, &["status", "--porcelain"]), "", "step {step}");
        for text in ["x", "bob"] {
            let cid = briefing(text).cid();
            assert!(place.space.object(cid).is_ok(), "step {step}: {text}");
        }
    });
}

#[test]
fn an_agent_that_moved_on_there_stays_there_although_it_is_archived_here() {
    let (place, other) = shared();
    let ahead = other.commit("alice", &[("b", Some("1"))]).expect("there is room").commit;
    push(&other.space, "origin", PushScope::All).expect("it is ahead");
    archive(&place.space, ArchiveWish::by_person(&[name("alice")]), &Nobody)
        .expect("nothing is in the way");
    push(&place.space, "origin", PushScope::All).expect("the archive is new there");
    let there = place.git(&["ls-remote", "origin", "refs/heads/agents/alice"]);
    assert!(there.starts_with(&ahead.to_string()), "{there}");
}

#[test]
fn a_push_of_some_agents_takes_no_archived_one_away() {
    let (place, _other) = shared();
    place.spawn("bob", &SpawnOrigin::Root).expect("the name is free");
    archive(&place.space, ArchiveWish::by_person(&[name("alice")]), &Nobody)
        .expect("nothing is in the way");
    let branches = || place.git(&["ls-remote", "--heads", "origin"]);
    push(&place.space, "origin", PushScope::Named(&[name("bob")])).expect("he is new");
    assert!(branches().contains("alice") && branches().contains("bob"));
    push(&place.space, "origin", PushScope::All).expect("it is ahead");
    assert!(!branches().contains("alice") && branches().contains("bob"));
}

#[test]
fn agents_that_were_archived_at_different_heads_are_named_and_the_own_one_counts() {
    let (place, other) = shared();
    for (place, file) in [(&other, "b"), (&place, "a")] {
        place.commit("alice", &[(file, Some("1"))]).expect("there is room");
        archive(&place.space, ArchiveWish::by_person(&[name("alice")]), &Nobody)
            .expect("nothing is in the way");
    }
    // What is archived goes there alone: the branch that the remote has is behind both.
    push(&other.space, "origin", PushScope::All).expect("the archive is new there");
    let own = place.space.archived_agent(&name("alice")).expect("sound").expect("it is there");
    let fetched = fetch(&place.space, "origin", &[]).expect("it is there");
    assert_eq!(fetched.diverged, [name("alice")]);
    let kept = place.space.archived_agent(&name("alice")).expect("sound").expect("it is there");
    assert_eq!(kept.archived.head, own.archived.head);
    place.check_sound();
}

#[test]
fn a_branch_on_the_remote_that_is_no_agent_is_left_alone() {
    let (place, other) = shared();
    for branch in ["agents/sub/deep", "agents/Upper"] {
        place.commit_on(branch, "By hand");
        place.git(&["push", "--quiet", "origin", branch]);
    }
    let fetched = fetch(&other.space, "origin", &[]).expect("it is there");
    assert_eq!((fetched.adopted, fetched.diverged), (Vec::new(), Vec::new()));
    assert_eq!(other.space.agent_names().expect("readable").len(), 1);
}
