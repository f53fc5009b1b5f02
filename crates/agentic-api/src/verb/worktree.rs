//! Agents checked out into folders of their own.

use std::path::PathBuf;

use agentic_space::worktree::{self, UncommittedWork};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::caller::agent_name;
use crate::verb::gate::carry_gates;
use crate::verb::{Reply, Verb};
use crate::view::{WorktreeAddView, WorktreeRemoveView, WorktreeSyncView, WorktreeView};
use crate::{Caller, Notice, Refusal};

/// Check an agent's branch out in a folder.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorktreeAdd {
    /// The agent; else the caller's.
    pub agent: Option<String>,
    /// The folder; `../<repository>.agents/AGENT` without.
    pub folder: Option<PathBuf>,
}

impl Verb for WorktreeAdd {
    type Answer = WorktreeAddView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<WorktreeAddView>, Refusal> {
        let (space, agent) = (caller.space, caller.agent(self.agent.as_deref())?);
        let folder = self.folder.map(|folder| caller.path(&folder));
        let folder = folder.unwrap_or_else(|| worktree::default_path(space, &agent));
        let added = worktree::add(space, &agent, &folder)?;
        let notice = carry_gates(caller, &added.path).map(|why| Notice::NoGate { why });
        let view = WorktreeAddView {
            agent: agent.to_string(),
            path: added.path.display().to_string(),
            base: space.head(&agent)?.to_string(),
        };
        Ok(Reply { notices: notice.into_iter().collect(), ..Reply::plain(view) })
    }
}

/// List the worktrees of agents.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorktreeList {}

impl Verb for WorktreeList {
    type Answer = Vec<WorktreeView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<WorktreeView>>, Refusal> {
        let mut views = Vec::new();
        for found in caller.space.agent_worktrees()? {
            views.push(WorktreeView {
                agent: found.agent.to_string(),
                path: found.worktree.path.display().to_string(),
                base: found.base.to_string(),
                head: found.head.to_string(),
                clean: found.worktree.is_pristine()?,
                stale: found.base != found.head,
            });
        }
        Ok(Reply::plain(views))
    }
}

/// Bring a worktree to its agent's head; uncommitted changes are carried over.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorktreeSync {
    /// The agent; else the caller's.
    pub agent: Option<String>,
}

impl Verb for WorktreeSync {
    type Answer = WorktreeSyncView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<WorktreeSyncView>, Refusal> {
        let agent = caller.agent(self.agent.as_deref())?;
        let synced = worktree::sync(caller.space, &agent)?;
        Ok(Reply::plain(WorktreeSyncView {
            agent: agent.to_string(),
            path: synced.path.display().to_string(),
            from: synced.from.to_string(),
            to: synced.to.to_string(),
        }))
    }
}

/// Remove an agent's worktree; the branch stays.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorktreeRemove {
    /// The agent.
    pub agent: String,
    /// Even if it has uncommitted work, which is then lost.
    #[serde(default)]
    pub force: bool,
}

impl Verb for WorktreeRemove {
    type Answer = WorktreeRemoveView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<WorktreeRemoveView>, Refusal> {
        let agent = agent_name(&self.agent)?;
        let work = if self.force { UncommittedWork::Discarded } else { UncommittedWork::Kept };
        let path = worktree::remove(caller.space, &agent, work)?;
        let (agent, path) = (agent.to_string(), path.display().to_string());
        Ok(Reply::plain(WorktreeRemoveView { agent, path }))
    }
}
