//! The commit that a new one builds upon.

use agentic_model::{AgentName, Oid};
use agentic_store::git::Worktree;

use super::{Draft, Source};
use crate::error::{BranchError, WorktreeError};
use crate::following::{Waited, wait_for};
use crate::{Error, Result, Space};

/// Finds the commit that the new one builds upon, once the worktree is where that is. Whoever moves
/// the branch announces it before, so that files on their way are not taken for work.
pub(super) fn settled_base(
    space: &Space,
    agent: &AgentName,
    draft: &Draft,
    worktree: Option<&Worktree>,
) -> Result<Oid> {
    loop {
        let base = base_of(space, agent, draft, worktree);
        match worktree.map(|worktree| wait_for(space, worktree)).transpose()? {
            Some(Waited::ForAnother) => {}
            Some(Waited::ForNobody) | None => return base,
        }
    }
}

/// Finds the commit that the new one builds upon.
fn base_of(
    space: &Space,
    agent: &AgentName,
    draft: &Draft,
    worktree: Option<&Worktree>,
) -> Result<Oid> {
    let head = space.head(agent)?;
    if let Some(expected) = draft.expect
        && expected != head
    {
        return Err(Error::Branch(BranchError::HeadMoved {
            branch: agent.to_string(),
            expected: expected.to_string(),
            found: Some(head),
        }));
    }
    let Some(worktree) = worktree else { return Ok(head) };
    let base = worktree.base(head)?;
    if base != head {
        let (path, agent) = (worktree.path.clone(), agent.clone());
        return Err(Error::Worktree(WorktreeError::Stale { path, agent, base, head }));
    }
    Ok(head)
}

/// Says that somebody moved the branch meanwhile.
pub(super) fn overtaken(agent: &AgentName, draft: &Draft, base: Oid, head: Oid) -> Error {
    match &draft.source {
        Source::Worktree(worktree) => Error::Worktree(WorktreeError::Stale {
            path: worktree.path.clone(),
            agent: agent.clone(),
            base,
            head,
        }),
        Source::Folder(_) | Source::Paths { .. } | Source::Edits(_) => {
            Error::Branch(BranchError::HeadMoved {
                branch: agent.to_string(),
                expected: base.to_string(),
                found: Some(head),
            })
        }
    }
}
