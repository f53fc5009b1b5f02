//! Children: sessions that a `spawn` has begun, on branches of their own.
//!
//! A child is found by its start key, which names its parent and the request; so there is one child
//! however often the request is performed. A fork of the parent finds the same child where it shares
//! it, or a fork of it.

use std::collections::BTreeSet;

use agentic_model::Value;
use agentic_replay::{
    AskedRequest, Body, Path, RecordChain, Request, SessionId, StartRecord, child_key, parent_of,
};

use super::begin::Begin;
use super::listing::{list_open, newest_with_key};
use super::own::read_journal;
use super::{own, roster};
use crate::{Result, SessionSpace};

/// What a fork's start key ends with that has forks of the children of its parent.
pub const WITH_CHILDREN: &str = " with children";

/// What is to be run for a spawn.
#[derive(Debug)]
pub enum Child {
    /// A session that begins, or began.
    New(Box<Begin>),
    /// One that has begun: before a crash, or as the fork of what the parent of a fork has begun.
    Begun(SessionId),
}

/// What becomes of a child that nobody waits for any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Close {
    /// It is cancelled.
    Cancel,
    /// It goes on by itself.
    Abandon,
    /// It goes on, and its parent is not over before it.
    Wait,
}

/// A child that a fork did not begin itself.
#[derive(Debug, Clone, Copy)]
pub struct AdoptedChild {
    /// The session.
    pub id: SessionId,
    /// Whether it answers to the fork, and not to the session that it was forked from.
    pub is_own: bool,
}

/// Says whether a request begins a session.
pub fn begins_a_session(request: &Request) -> bool {
    request.kind == "spawn" && runs_a_flow(request)
}

/// Says whether an agent is spawned to run something.
pub fn runs_a_flow(request: &Request) -> bool {
    request.payload.get("flow").is_some() || request.payload.get("program").is_some()
}

/// Reads what becomes of the child of a request; nothing if that is malformed.
pub fn close_policy(request: &Request) -> Option<Close> {
    match request.payload.get("close") {
        None => Some(Close::Cancel),
        Some(policy) => match policy.as_text()? {
            "cancel" => Some(Close::Cancel),
            "abandon" => Some(Close::Abandon),
            "wait" => Some(Close::Wait),
            _ => None,
        },
    }
}

/// Returns the name of the run that a session with a start key is of, for its agents: the start key
/// of the session that no other has begun. Children are parts of the run that spawned them.
pub fn run_id(space: &SessionSpace, key: &str) -> String {
    let mut key = key.to_owned();
    while let Some(parent) = parent_of(&key) {
        // One that cannot be read cannot be told either.
        let Ok(beginning) = own::first(space, &parent) else { break };
        key = beginning.start.key;
    }
    key
}

/// Finds the child session that a request has begun and that is not over.
pub fn child_of(space: &SessionSpace, parent: &SessionId, request: &Request) -> Option<SessionId> {
    if !begins_a_session(request) {
        return None;
    }
    let key = child_key(parent, &request.path);
    let has_key =
        |id: &SessionId| own::first(space, id).is_ok_and(|beginning| beginning.start.key == key);
    let of_key = roster::hash_of_key(&key);
    let may_be = roster::select(space, list_open(space).ok()?, |mark| mark.key == of_key);
    may_be.into_iter().find(has_key)
}

/// Finds the child that a fork takes over from the session that it was forked from: a fork of it, or
/// the child itself.
pub fn adopted(
    space: &SessionSpace,
    start: &StartRecord,
    request: &Request,
) -> Option<AdoptedChild> {
    start.parent.as_ref()?;
    let own = newest_with_key(space, &child_key(&start.session, &request.path)).ok()?;
    if let Some(id) = own {
        return Some(AdoptedChild { id, is_own: true });
    }
    let id = shared(space, start, &request.path)?;
    Some(AdoptedChild { id, is_own: false })
}

/// Finds the child that the session from which a fork parted was waiting for at a request.
fn shared(space: &SessionSpace, start: &StartRecord, path: &Path) -> Option<SessionId> {
    let point = start.parent.as_ref()?;
    if parent_of(&start.key).is_some() || start.key.ends_with(WITH_CHILDREN) {
        return None;
    }
    let journal = read_journal(space, &start.session).ok()?.up_to(point.seq);
    let last = journal.records().iter().rev().find(|record| {
        matches!(record.body, Body::Ask(_) | Body::Answer(_)) && record.body.path() == Some(path)
    });
    if !matches!(last.map(|record| &record.body), Some(Body::Ask(_))) {
        return None;
    }
    let own = newest_with_key(space, &child_key(&point.session, path)).ok()?;
    own.or_else(|| shared(space, journal.start(), path))
}

/// Lists the requests that have begun a child and have no answer yet.
///
/// # Errors
/// Fails when the values of the journal cannot be read.
pub fn open_spawns(space: &SessionSpace, journal: &RecordChain) -> Result<Vec<Path>> {
    let summary = super::summary::of_past(space, journal)?;
    let is_open = |asked: &&AskedRequest| {
        let runs = |key| asked.payload.get(key).and_then(Value::as_text).is_some();
        asked.kind == "spawn" && asked.answer.is_none() && (runs("flow") || runs("program"))
    };
    Ok(summary.asked.iter().filter(is_open).map(|asked| asked.path.clone()).collect())
}

/// Lists the children of a session that are not over. A session that has asked for none has none,
/// and no other is looked at.
///
/// # Errors
/// Fails when the records of the session are damaged, and when the sessions cannot be listed.
pub fn children(space: &SessionSpace, parent: &SessionId) -> Result<Vec<SessionId>> {
    let journal = read_journal(space, parent)?;
    let keys = journal.records().iter().filter_map(|record| {
        if let Body::Ask(ask) = &record.body
            && ask.kind == "spawn"
        {
            Some(child_key(parent, &ask.path))
        } else {
            None
        }
    });
    let keys: BTreeSet<String> = keys.collect();
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let hashes: BTreeSet<_> = keys.iter().map(|key| roster::hash_of_key(key)).collect();
    let may_be = roster::select(space, list_open(space)?, |mark| hashes.contains(&mark.key));
    let is_child = |id: &SessionId| {
        own::first(space, id).is_ok_and(|beginning| keys.contains(&beginning.start.key))
    };
    Ok(may_be.into_iter().filter(is_child).collect())
}

#[cfg(test)]
mod tests;
