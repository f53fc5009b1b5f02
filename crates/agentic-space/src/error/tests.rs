//! With what code each error ends a command, and what it tells people.

use std::sync::Arc;

use agentic_model::guidance::Guidance;
use agentic_model::{AgentName, Kind, Oid};

use super::{
    AgentError, BranchError, CommitError, DeferredWrite, Error, KindError, LookupError,
    RelationError, RemoteError, WorktreeError, left_out_words,
};
use crate::sync::PushRefusal;

fn name() -> AgentName {
    AgentName::parse("alice").expect("a valid name")
}

fn oid() -> Oid {
    Oid::parse(&"1".repeat(40)).expect("40 digits")
}

fn text() -> String {
    "x".to_owned()
}

/// Makes one of each error about agents, branches and commits, with its exit code.
fn of_branches() -> Vec<(Error, u8)> {
    let agents = [
        (AgentError::Exists { name: name() }, 3),
        (AgentError::Unknown { name: name() }, 1),
        (AgentError::NameArchived { name: name() }, 3),
        (AgentError::Archived { name: name() }, 1),
        (AgentError::NotArchived { agent: name() }, 1),
        (AgentError::Renamed { name: name(), earlier: name() }, 1),
        (AgentError::SessionOpen { agent: name(), session: text() }, 1),
        (AgentError::TracePending { agent: name() }, 1),
        (AgentError::Busy { name: name() }, 3),
        (AgentError::Held { stream: text() }, 3),
    ];
    let moved = |found| BranchError::HeadMoved { branch: text(), expected: text(), found };
    let branches = [
        (BranchError::Unknown { name: text() }, 1),
        (BranchError::Ambiguous { name: text() }, 1),
        (moved(None), 3),
        (moved(Some(oid())), 3),
        (BranchError::NoForkPoint { left: text(), right: text() }, 1),
        (BranchError::SelfMerge { name: text() }, 1),
    ];
    let commits = [
        CommitError::Nothing { agent: name(), left_out: vec![] },
        CommitError::NotInBatch,
        CommitError::SecondGenesis { agent: name() },
        CommitError::UnknownDurability { value: text() },
        CommitError::NoSuchPath { path: text() },
        CommitError::Foreign { commit: oid(), agent: name() },
        CommitError::NoTrace { what: text() },
        CommitError::TraceTooLong { agent: name() },
    ];
    let agents = agents.into_iter().map(|(error, code)| (error.into(), code));
    let branches = branches.into_iter().map(|(error, code)| (error.into(), code));
    agents.chain(branches).chain(commits.into_iter().map(|error| (error.into(), 1))).collect()
}

/// Makes one of each of the others.
fn of_everything_else() -> Vec<(Error, u8)> {
    let kind = || Kind::parse("deploy").expect("a valid kind");
    let path = || std::path::PathBuf::from("/x");
    let stale = WorktreeError::Stale { path: path(), agent: name(), base: oid(), head: oid() };
    let worktrees = [
        (stale, 3),
        (WorktreeError::Busy { branch: text(), path: path() }, 3),
        (WorktreeError::SyncConflict { path: path(), conflicts: vec![text()] }, 3),
        (WorktreeError::Empty { agent: name(), path: path() }, 1),
        (WorktreeError::Gone { agent: name(), path: path() }, 1),
        (WorktreeError::Unlinked { agent: name(), path: path() }, 1),
        (WorktreeError::CheckedOut { agent: name(), path: path() }, 1),
        (WorktreeError::Missing { agent: name() }, 1),
        (WorktreeError::Bare, 1),
        (WorktreeError::PathTaken { path: path() }, 1),
        (WorktreeError::UncommittedWork { path: path() }, 1),
    ];
    let refused = |why| RemoteError::PushRefused { remote: text(), why, message: text() };
    let full = agentic_store::Error::io("write", &path())(std::io::ErrorKind::StorageFull.into());
    let mut all: Vec<(Error, u8)> = vec![
        (KindError::Unknown { kind: kind(), root: "object" }.into(), 1),
        (KindError::Taken { kind: kind() }.into(), 3),
        (KindError::UnknownParent { parent: kind() }.into(), 1),
        (KindError::Misfit { kind: kind(), reason: "x".to_owned() }.into(), 7),
        (KindError::NoSchema { kind: kind(), reason: "x".to_owned() }.into(), 7),
        (LookupError::Unknown { id: text() }.into(), 1),
        (LookupError::Ambiguous { prefix: text(), candidates: vec![text()] }.into(), 1),
        (RelationError::Derived { relation: kind() }.into(), 1),
        (RelationError::NoEdge { edge: text() }.into(), 1),
        (RemoteError::Unknown { remote: text() }.into(), 1),
        (RemoteError::NotEmpty { path: path() }.into(), 1),
        (refused(PushRefusal::MovedOn).into(), 3),
        (refused(PushRefusal::Hook).into(), 1),
        (DeferredWrite { why: Arc::new(full) }.into(), 1),
    ];
    all.extend(worktrees.into_iter().map(|(error, code)| (error.into(), code)));
    all
}

fn all() -> Vec<(Error, u8)> {
    of_branches().into_iter().chain(of_everything_else()).collect()
}

#[test]
fn every_error_has_its_exit_code() {
    for (error, code) in all() {
        assert_eq!(error.class().exit_code(), code, "{error}");
    }
}

#[test]
fn every_error_says_what_to_do_next() {
    for (error, _) in all() {
        let hint = error.hint();
        assert!(!hint.is_empty() && !hint.ends_with('.'), "{error}: {hint}");
    }
}

#[test]
fn messages_are_lower_case_without_a_final_period() {
    for (error, _) in all() {
        let message = error.to_string();
        assert!(!message.ends_with('.') && !message.starts_with(char::is_uppercase), "{message}");
    }
}

#[test]
fn only_what_the_store_could_not_do_is_its_fault() {
    let faults: Vec<String> = all()
        .into_iter()
        .filter(|(error, _)| error.is_fault())
        .map(|(error, _)| error.to_string())
        .collect();
    assert_eq!(faults, ["the write is durable but not visible yet"]);
    let full = agentic_store::Error::io("write", std::path::Path::new("/x"));
    assert!(Error::Store(full(std::io::ErrorKind::StorageFull.into())).is_fault());
}

#[test]
fn repositories_that_were_left_out_are_named() {
    let one = left_out_words(&["a".to_owned()]);
    assert_eq!(one, "`a` is a git repository of its own and left out");
    let two = left_out_words(&["a".to_owned(), "b".to_owned()]);
    assert_eq!(two, "`a`, `b` are git repositories of their own and left out");
    let nothing =
        |left_out| Error::from(CommitError::Nothing { agent: name(), left_out }).because();
    assert_eq!(nothing(vec!["a".to_owned()]), Some(one));
    assert_eq!(nothing(vec![]), None);
}
