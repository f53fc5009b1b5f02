//! Worktrees as JSON.

use schemars::JsonSchema;
use serde::Serialize;

/// The answer of `agentic worktree add`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WorktreeAddView {
    /// The agent.
    pub agent: String,
    /// The folder.
    pub path: String,
    /// The commit that it was brought to.
    pub base: String,
}

/// One worktree of `agentic worktree list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WorktreeView {
    /// The agent.
    pub agent: String,
    /// The folder.
    pub path: String,
    /// The commit that it was last brought to.
    pub base: String,
    /// The agent's head.
    pub head: String,
    /// Whether it holds nothing that is not committed.
    pub clean: bool,
    /// Whether the agent has moved on since.
    pub stale: bool,
}

/// The answer of `agentic worktree sync`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WorktreeSyncView {
    /// The agent.
    pub agent: String,
    /// The folder.
    pub path: String,
    /// The commit that it was at.
    pub from: String,
    /// The commit that it is at.
    pub to: String,
}

/// The answer of `agentic worktree remove`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WorktreeRemoveView {
    /// The agent.
    pub agent: String,
    /// The folder that was removed.
    pub path: String,
}
