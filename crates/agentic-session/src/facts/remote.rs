//! Agents of remotes and of peers: what came by fetch and is only there. A question calls such an agent
//! `REMOTE/NAME`, and what an agent here has, too, is of that one alone.

use std::collections::BTreeSet;

use agentic_model::{AgentName, Oid};
use agentic_space::AgentBranch;

use super::reading::ReadSessions;
use crate::Result;

/// Lists the notes of agents that remotes had at the last fetch.
pub(super) fn remote_notes(read: &ReadSessions<'_>) -> Result<Vec<(AgentBranch, Oid)>> {
    remote_refs(read, |remote| format!("refs/agentic/remotes/{remote}/notes/"))
}

/// Lists the branches of agents that remotes had at the last fetch, with their heads.
pub(super) fn remote_branches(read: &ReadSessions<'_>) -> Result<Vec<(AgentBranch, Oid)>> {
    remote_refs(read, |remote| format!("refs/remotes/{remote}/agents/"))
}

fn remote_refs(
    read: &ReadSessions<'_>,
    prefix_of: impl Fn(&str) -> String,
) -> Result<Vec<(AgentBranch, Oid)>> {
    let repository = read.space.repository();
    let mut refs = Vec::new();
    for remote in read.space.read_remotes()? {
        let prefix = prefix_of(&remote);
        for found in repository.list_refs(&prefix)? {
            if let Some(Ok(agent)) = found.name.strip_prefix(&prefix).map(AgentName::parse) {
                refs.push((AgentBranch { agent, remote: Some(remote.clone()) }, found.target));
            }
        }
    }
    Ok(refs)
}

/// Reads the name of an agent of a remote, of which there may be nothing.
pub(super) fn remote_agent(read: &ReadSessions<'_>, name: &str) -> Option<AgentBranch> {
    let (remote, agent) = name.rsplit_once('/')?;
    let agent = AgentName::parse(agent).ok()?;
    let remotes = read.space.read_remotes().unwrap_or_default();
    let is_known = remotes.iter().any(|known| known == remote);
    is_known.then(|| AgentBranch { agent, remote: Some(remote.to_owned()) })
}

/// Lists the commits of a remote's agent that its agent here does not have, newest first.
pub(super) fn commits_beyond(read: &ReadSessions<'_>, branch: &AgentBranch) -> Result<Vec<Oid>> {
    let (space, agent) = (read.space, &branch.agent);
    let Some(there) = space.repository().find_ref(&branch.branch_ref())? else {
        return Ok(Vec::new());
    };
    let own = |head: Oid| -> Result<Vec<Oid>> {
        space.walk_own_commits(agent, head).map(|step| Ok(step?.0.oid)).collect()
    };
    let here = match space.repository().find_ref(&agent.branch_ref())? {
        Some(head) => Some(head),
        None => {
            let archived = read.archived().into_iter().map(|entry| entry.archived);
            archived.filter(|it| it.agent == *agent).map(|it| it.head).next()
        }
    };
    if here == Some(there) {
        return Ok(Vec::new());
    }
    let here: BTreeSet<Oid> = here.map(own).transpose()?.into_iter().flatten().collect();
    Ok(own(there)?.into_iter().filter(|commit| !here.contains(commit)).collect())
}
