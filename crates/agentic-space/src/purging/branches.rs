//! Branches of agents in a purge: which commits may be made again, and how worktrees come along.
//!
//! Branches of agents are those that have a ref, those that archives keep, what was rescued of them,
//! and what follows those of a remote. A commit that any other ref reaches is never made again.

use std::collections::{BTreeMap, BTreeSet};

use agentic_git::{WorktreeLock, follow};
use agentic_model::{AgentName, Oid, Tombstone};

use super::tombstone::replacements;
use super::{OWN_FOLDERS, PurgeHistory, RESCUED};
use crate::branch::short;
use crate::error::WorktreeError;
use crate::following::reserve;
use crate::{Error, Result, Space};

/// The branches of agents, whole.
#[derive(Debug, Default)]
pub struct AgentBranches {
    /// Their refs, and where they are.
    pub roots: Vec<(String, Oid)>,
    /// Where branches are, or were, that archives keep.
    pub archived: BTreeSet<Oid>,
    /// The commits that only they reach, each after its parents.
    pub commits: Vec<Oid>,
}

/// A worktree whose branch is made again; nobody else changes its files meanwhile.
#[derive(Debug)]
pub struct PurgedWorktree {
    /// The full name of its branch.
    pub branch: String,
    lock: WorktreeLock,
}

/// Such a worktree, and from where to where its branch goes.
#[derive(Debug)]
pub struct WorktreeGoing {
    worktree: PurgedWorktree,
    from: Oid,
    to: Oid,
}

/// Tells whether a ref is a branch of an agent, or follows one of a remote.
pub fn is_agent_branch(name: &str) -> bool {
    let remote = name.strip_prefix("refs/remotes/").and_then(|rest| rest.split_once('/'));
    name.starts_with(AgentName::BRANCHES)
        || name.starts_with(RESCUED)
        || remote.is_some_and(|(_, rest)| rest.starts_with("agents/"))
}

/// Tells what tombstones say that commits and files of branches became, as far as that is here.
pub fn buried_in_branches(space: &Space, tombstones: &[Tombstone]) -> BTreeMap<Oid, Oid> {
    let pairs = replacements(tombstones).into_iter();
    let pairs = pairs.filter_map(|(old, new)| {
        let (old, new) = (Oid::parse(&old).ok()?, Oid::parse(&new?).ok()?);
        space.repository().has_object(new).then_some((old, new))
    });
    pairs.collect()
}

impl Space {
    /// Lists the branches of agents, beside what else this space keeps.
    ///
    /// # Errors
    /// Fails when refs or archives are damaged.
    pub fn agent_branches(&self, purged: &PurgeHistory) -> Result<AgentBranches> {
        let repository = self.repository();
        let (mut roots, mut others) = (Vec::new(), Vec::new());
        for found in repository.list_refs("refs/")? {
            if is_agent_branch(&found.name) {
                roots.push((found.name, found.target));
            } else if !OWN_FOLDERS.iter().any(|folder| found.name.starts_with(folder)) {
                others.push(found.target);
            }
        }
        let archived = repository.archived_heads(&purged.history)?;
        let tips: BTreeSet<Oid> =
            roots.iter().map(|(_, tip)| *tip).chain(archived.iter().copied()).collect();
        let tips: Vec<Oid> = tips.into_iter().filter(|tip| repository.has_object(*tip)).collect();
        let commits = repository.commits_apart(&tips, &others)?;
        Ok(AgentBranches { roots, archived, commits })
    }

    /// Keeps the worktrees that have branches checked out from everybody else, and lets all worktrees
    /// follow first that have still to. The caller holds no lock of a branch.
    ///
    /// # Errors
    /// Fails when one cannot follow, and when git is about to move a branch.
    pub fn reserve_for_purge<'n>(
        &self,
        branches: impl IntoIterator<Item = &'n str>,
    ) -> Result<Vec<PurgedWorktree>> {
        self.note_found(follow::catch_up(self.repository(), self.now())?);
        let mut found = Vec::new();
        for branch in branches {
            let lock = reserve(self, branch)?;
            found.extend(lock.map(|lock| PurgedWorktree { branch: branch.to_owned(), lock }));
        }
        Ok(found)
    }
}

impl PurgedWorktree {
    /// Says where its branch goes, after it is checked that nothing in it would be lost.
    ///
    /// # Errors
    /// Fails when there is work in it that is not committed.
    pub fn going(self, space: &Space, from: Oid, to: Oid) -> Result<WorktreeGoing> {
        let worktree = self.lock.worktree();
        let trees = (space.read_commit(from)?.tree, space.read_commit(to)?.tree);
        let changed = space.repository().scratch().changed_paths(trees.0, trees.1)?;
        if !worktree.is_clean()? || worktree.untracked_among(&changed)? {
            let path = worktree.path.clone();
            return Err(Error::Worktree(WorktreeError::Busy { branch: short(&self.branch), path }));
        }
        Ok(WorktreeGoing { worktree: self, from, to })
    }
}

impl WorktreeGoing {
    /// Returns the full name of its branch.
    pub fn branch(&self) -> &str {
        &self.worktree.branch
    }

    /// Makes sure that it comes along even if this process dies as soon as the branch has moved.
    ///
    /// # Errors
    /// Fails when that cannot be noted.
    pub fn announce(&self) -> Result<()> {
        Ok(self.worktree.lock.announce(&self.worktree.branch, (self.from, self.to))?)
    }

    /// Brings it along. The caller holds no lock of a branch.
    ///
    /// # Errors
    /// Fails when something is in the way; the next command tries once more.
    pub fn bring(self) -> Result<()> {
        Ok(self.worktree.lock.bring_along(self.from, self.to)?)
    }
}
