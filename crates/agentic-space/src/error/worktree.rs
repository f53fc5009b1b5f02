//! What keeps a worktree from being made, used or brought along.

use std::borrow::Cow;
use std::path::PathBuf;

use agentic_model::guidance::{ErrorClass, Guidance};
use agentic_model::{AgentName, Oid};

/// What keeps a worktree from being made, used or brought along.
#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    /// The worktree was last brought to another commit than the head.
    #[error("the worktree `{}` is at `{base}`, but `{agent}` has moved on", path.display())]
    Stale {
        /// The worktree.
        path: PathBuf,
        /// The agent.
        agent: AgentName,
        /// What the worktree was brought to.
        base: Oid,
        /// Where the agent's branch is.
        head: Oid,
    },
    /// The branch is checked out in a worktree with changes that are in the way.
    #[error("`{branch}` is checked out in `{}`, which has uncommitted work", path.display())]
    Busy {
        /// The branch.
        branch: String,
        /// The worktree.
        path: PathBuf,
    },
    /// Somebody who made the agent's worktree died before anything was checked out in it.
    #[error("the worktree of `{agent}` in `{}` was made and never checked out", path.display())]
    Empty {
        /// The agent.
        agent: AgentName,
        /// The worktree.
        path: PathBuf,
    },
    /// The folder of the agent's worktree is gone.
    #[error("the worktree of `{agent}` is gone from `{}`", path.display())]
    Gone {
        /// The agent.
        agent: AgentName,
        /// Where it was.
        path: PathBuf,
    },
    /// The folder of the agent's worktree does not lead back to this repository.
    #[error("the worktree of `{agent}` at `{}` does not lead to this repository", path.display())]
    Unlinked {
        /// The agent.
        agent: AgentName,
        /// Where it is.
        path: PathBuf,
    },
    /// The agent has a worktree.
    #[error("agent `{agent}` is checked out in `{}`", path.display())]
    CheckedOut {
        /// The agent.
        agent: AgentName,
        /// The worktree.
        path: PathBuf,
    },
    /// The agent has no worktree.
    #[error("agent `{agent}` has no worktree")]
    Missing {
        /// The agent.
        agent: AgentName,
    },
    /// The repository is bare.
    #[error("a bare repository has no worktrees")]
    Bare,
    /// A worktree cannot be made where something is.
    #[error("`{}` already exists", path.display())]
    PathTaken {
        /// The path.
        path: PathBuf,
    },
    /// The worktree has work that is not committed.
    #[error("the worktree `{}` has uncommitted work", path.display())]
    UncommittedWork {
        /// The worktree.
        path: PathBuf,
    },
    /// Bringing the worktree to the head would lose or garble changes.
    #[error("the changes in `{}` conflict with the head", path.display())]
    SyncConflict {
        /// The worktree.
        path: PathBuf,
        /// The conflicting paths.
        conflicts: Vec<String>,
    },
}

impl Guidance for WorktreeError {
    fn class(&self) -> ErrorClass {
        match self {
            WorktreeError::Stale { .. }
            | WorktreeError::Busy { .. }
            | WorktreeError::SyncConflict { .. } => ErrorClass::Conflict,
            WorktreeError::Empty { .. }
            | WorktreeError::Gone { .. }
            | WorktreeError::Unlinked { .. }
            | WorktreeError::CheckedOut { .. }
            | WorktreeError::Missing { .. }
            | WorktreeError::Bare
            | WorktreeError::PathTaken { .. }
            | WorktreeError::UncommittedWork { .. } => ErrorClass::Refused,
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            WorktreeError::Stale { agent, .. } => format!("run `agentic worktree sync {agent}`, look at the result, then commit again").into(),
            WorktreeError::Busy { .. } => "commit or stash the work in that folder, then try again".into(),
            WorktreeError::Empty { agent, .. } => format!("make it anew with `agentic worktree add {agent}`, or forget it with `agentic worktree remove {agent}`").into(),
            WorktreeError::Gone { agent, .. } => format!("`agentic worktree remove {agent}` forgets it; then make another, or commit with `--stdin`").into(),
            WorktreeError::Unlinked { path, .. } => format!("`git worktree repair {}` links it again", path.display()).into(),
            WorktreeError::CheckedOut { agent, .. } => format!("`agentic worktree remove {agent}`, or check something else out there").into(),
            WorktreeError::Missing { .. } => "make one with `agentic worktree add`, or commit with `--stdin`, `--path` or `--tree`".into(),
            WorktreeError::Bare => "commit with `--stdin` or `--tree`".into(),
            WorktreeError::PathTaken { .. } => "name a folder that does not exist yet".into(),
            WorktreeError::UncommittedWork { .. } => "commit the work, or throw it away with `--force`".into(),
            WorktreeError::SyncConflict { .. } => "commit with `--stdin` or `--path`, or put the changes aside with `git stash` and sync again".into(),
        }
    }

    fn because(&self) -> Option<String> {
        match self {
            WorktreeError::SyncConflict { conflicts, .. } => {
                Some(format!("both changed {}", conflicts.join(", ")))
            }
            WorktreeError::Stale { .. }
            | WorktreeError::Busy { .. }
            | WorktreeError::Empty { .. }
            | WorktreeError::Gone { .. }
            | WorktreeError::Unlinked { .. }
            | WorktreeError::CheckedOut { .. }
            | WorktreeError::Missing { .. }
            | WorktreeError::Bare
            | WorktreeError::PathTaken { .. }
            | WorktreeError::UncommittedWork { .. } => None,
        }
    }
}
