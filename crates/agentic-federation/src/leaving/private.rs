//! What is of private agents: it leaves by no announcement, however it is reached.

use std::collections::{BTreeMap, BTreeSet};

use agentic_git::Repository;
use agentic_model::commit::Claims;
use agentic_model::edge::Party;
use agentic_model::{AgentName, Cid, Edge, Object, Oid};
use agentic_session::SessionSpace;
use agentic_store::journal::GitKind;

use super::{LeavingObjects, LeavingPlace};
use crate::shard::HeadChange;
use crate::{Error, Result};

/// What reaches something that no agent that differs does.
const OF_NOBODY: &str = "what is announced";

/// Refuses commits, notes and edges of private agents, however they are reached.
pub(super) fn refuse_private(
    space: &SessionSpace,
    changes: &[HeadChange],
    objects: &LeavingObjects,
) -> Result<()> {
    let repository = space.repository();
    let private = repository.private_agents()?;
    if private.is_empty() {
        return Ok(());
    }
    let mut owners: BTreeMap<Oid, AgentName> = BTreeMap::new();
    for agent in &private {
        for name in [agent.branch_ref(), agent.notes_ref()] {
            if let Some(tip) = repository.find_ref(&name)? {
                owners.insert(tip, agent.clone());
            }
        }
    }
    for (oid, (path, place)) in objects {
        match (path.is_empty(), place) {
            // Files and folders have paths, at least below their commits; commits have none.
            (true, _) => {
                let owner = match owners.get(oid) {
                    Some(owner) => Some(owner.clone()),
                    None => claimed(repository, *oid)?.filter(|agent| private.contains(agent)),
                };
                if let Some(owner) = owner {
                    let what = format!("reaches {oid}, which is of");
                    return Err(refusal(&reached_by(repository, changes, *oid)?, &what, &owner));
                }
            }
            (false, LeavingPlace::Text) => {
                if let Some((edge, owner)) = named_in_edge(repository, *oid, &private)? {
                    let by = kept_by(repository, changes, edge)?;
                    return Err(refusal(&by, &format!("has the edge {edge} of"), &owner));
                }
            }
            (false, LeavingPlace::File) => {}
        }
    }
    Ok(())
}

fn refusal(by: &str, what: &str, owner: &AgentName) -> Error {
    Error::not_allowed(
        format!("{by} {what} the private agent `{owner}`"),
        format!(
            "nothing was signed: `agentic agent private` keeps {by} here, too; \
             `agentic agent public {owner}` lets both go"
        ),
    )
}

/// Finds the private agent that an edge is about, if the object is such an edge.
fn named_in_edge(
    repository: &Repository,
    oid: Oid,
    private: &BTreeSet<AgentName>,
) -> Result<Option<(Cid, AgentName)>> {
    let object = repository.verify_object(oid)?;
    let Some(object) = Some(object.bytes).filter(|_| object.kind == GitKind::Blob) else {
        return Ok(None);
    };
    let Ok(object) = Object::decode(&object) else { return Ok(None) };
    let Ok(edge) = Edge::from_object(&object) else { return Ok(None) };
    let named = [&edge.source, &edge.target].into_iter().filter_map(Party::agent);
    let mut named = named.filter(|agent| private.contains(*agent));
    Ok(named.next().map(|agent| (object.cid(), agent.clone())))
}

/// Finds the agent whose notes have an object.
fn kept_by(repository: &Repository, changes: &[HeadChange], cid: Cid) -> Result<String> {
    for change in changes {
        let notes = change.new.as_ref().and_then(|entry| entry.notes);
        if notes.is_some() && repository.notes_at(notes)?.object(cid)?.is_some() {
            return Ok(format!("`{}`", change.agent));
        }
    }
    Ok(OF_NOBODY.to_owned())
}

fn claimed(repository: &Repository, oid: Oid) -> Result<Option<AgentName>> {
    let object = repository.verify_object(oid)?;
    match object.kind {
        GitKind::Commit => Ok(Claims::read(&repository.read_commit(oid)?.message).agent),
        GitKind::Tree | GitKind::Blob => Ok(None),
    }
}

fn reached_by(repository: &Repository, changes: &[HeadChange], commit: Oid) -> Result<String> {
    for change in changes {
        for tip in change.new.iter().flat_map(crate::shard::HeadEntry::tips) {
            if repository.is_ancestor(commit, tip)? {
                return Ok(format!("`{}`", change.agent));
            }
        }
    }
    Ok(OF_NOBODY.to_owned())
}
