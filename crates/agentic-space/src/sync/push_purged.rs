//! Pushing what a purge made again: over what the remote has, and only over what was seen there.
//!
//! First everything that the remote has is taken in without what was purged, so that nothing of it is
//! lost. Then each ref is replaced with a lease on where it was seen before that.

use std::collections::BTreeMap;

use agentic_git::ARCHIVE_REF;
use agentic_model::{AgentName, Oid};

use super::purged::check_tombstones;
use super::push::push_once;
use super::{PushOutcome, check_remote, fetch};
use crate::kind::REGISTRY_REF;
use crate::{Result, Space};

/// Replaces the refs of a remote that were made again here.
///
/// # Errors
/// Fails with [`RemoteError::PushRefused`](crate::error::RemoteError::PushRefused) when the remote moved
/// meanwhile or does not take it, and as fetch does.
pub fn push_purged(space: &Space, remote: &str) -> Result<PushOutcome> {
    check_remote(space, remote)?;
    let repository = space.repository();
    let seen = seen_there(space, remote)?;
    fetch(space, remote, &[])?;
    let (mut specs, mut refs) = (Vec::new(), Vec::new());
    for (name, theirs) in seen {
        let (Some(ours), Some(followed)) = (repository.find_ref(&name)?, followed(remote, &name))
        else {
            continue;
        };
        let clean = repository.find_ref(&followed)?;
        let has_theirs = match clean {
            Some(clean) => repository.is_ancestor(clean, ours)?,
            None => false,
        };
        // What is no part of ours, or was never made again, goes with any other push.
        if !has_theirs || ours == theirs || clean == Some(theirs) {
            continue;
        }
        if let Some(agent) = agent_of(&name).or_else(|| AgentName::from_branch_ref(&name)) {
            check_tombstones(space, &agent)?;
        }
        specs.push(format!("--force-with-lease={name}:{theirs}"));
        refs.push(name);
    }
    if !refs.is_empty() {
        let updates = refs.iter().map(|name| format!("+{name}:{name}"));
        let specs = specs.into_iter().chain([remote.to_owned()]).chain(updates).collect();
        push_once(space, remote, specs)?;
    }
    Ok(PushOutcome { remote: remote.to_owned(), refs, contested: Vec::new() })
}

fn seen_there(space: &Space, remote: &str) -> Result<BTreeMap<String, Oid>> {
    let patterns = ["refs/heads/agents/*", "refs/notes/agentic/*", "refs/agentic/*"];
    let arguments = [&["ls-remote", "--refs", remote], &patterns[..]].concat();
    let listed = space.repository().git_at_remote(&arguments)?.checked(&arguments)?;
    let line = |line: &str| {
        let (oid, name) = line.split_once('\t')?;
        Some((name.to_owned(), Oid::parse(oid).ok()?))
    };
    Ok(listed.lines().filter_map(line).collect())
}

/// Names the ref that follows one of a remote; nothing of those that no purge pushes.
fn followed(remote: &str, name: &str) -> Option<String> {
    if let Some(agent) = AgentName::from_branch_ref(name) {
        return Some(format!("refs/remotes/{remote}/agents/{agent}"));
    }
    let below = match name {
        ARCHIVE_REF => "archive".to_owned(),
        REGISTRY_REF => "registry".to_owned(),
        name => format!("notes/{}", agent_of(name)?),
    };
    Some(format!("refs/agentic/remotes/{remote}/{below}"))
}

fn agent_of(name: &str) -> Option<AgentName> {
    AgentName::from_notes_ref(name)
}
