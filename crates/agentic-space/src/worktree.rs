//! Worktrees of agents: making, listing, syncing and removing them.

use std::path::{Path, PathBuf};

use agentic_git::WorktreeLock;
use agentic_git::{Checkout, Snapshot, SnapshotSource, Worktree};
use agentic_model::{AgentName, Oid};
use agentic_store::error::RefError;
use agentic_store::{Durability, Lock};

use crate::error::WorktreeError;
use crate::{Error, Result, Space};

/// Where git's configuration says which notes amend and rebase carry along.
pub(crate) const REWRITE_REF: &str = "notes.rewriteRef";

/// A worktree that has an agent's branch checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentWorktree {
    /// The agent.
    pub agent: AgentName,
    /// The worktree.
    pub worktree: Worktree,
    /// The commit that it was last brought to.
    pub base: Oid,
    /// The agent's head.
    pub head: Oid,
}

/// What syncing a worktree did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncOutcome {
    /// The worktree.
    pub path: PathBuf,
    /// Where it was.
    pub from: Oid,
    /// Where it is.
    pub to: Oid,
}

/// What happens to uncommitted work in a worktree that is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UncommittedWork {
    /// The worktree stays.
    Kept,
    /// It is thrown away.
    Discarded,
}

impl Space {
    /// Finds the worktree of an agent: the current one if it is the agent's, else any.
    ///
    /// # Errors
    /// Fails when the agent has none that can be used.
    pub fn worktree_of(&self, agent: &AgentName) -> Result<Worktree> {
        let branch = agent.branch_ref();
        let current = self.repository().current_worktree();
        let agent = agent.clone();
        let filled = |worktree: Worktree| match worktree.is_empty() {
            true => Err(Error::Worktree(WorktreeError::Empty {
                agent: agent.clone(),
                path: worktree.path,
            })),
            false => Ok(worktree),
        };
        if let Some(current) = current.filter(|tree| tree.branch.as_ref() == Some(&branch)) {
            return filled(current);
        }
        match self.repository().checkout_of(&branch)? {
            Checkout::Here(worktree) => filled(worktree),
            Checkout::Nowhere => Err(Error::Worktree(WorktreeError::Missing { agent })),
            Checkout::Gone(path) => Err(Error::Worktree(WorktreeError::Gone { agent, path })),
            Checkout::Unlinked(path) => {
                Err(Error::Worktree(WorktreeError::Unlinked { agent, path }))
            }
            Checkout::Occupied(path, occupation) => {
                Err(agentic_store::Error::Ref(RefError::Occupied { branch, occupation, path })
                    .into())
            }
        }
    }

    /// Lists the worktrees of agents, by agent.
    ///
    /// # Errors
    /// Fails when worktrees or refs cannot be read.
    pub fn agent_worktrees(&self) -> Result<Vec<AgentWorktree>> {
        let mut found = Vec::new();
        for worktree in self.repository().worktrees()? {
            let agent = worktree.branch.as_deref().and_then(AgentName::from_branch_ref);
            let Some(agent) = agent else { continue };
            let Some(head) = self.repository().find_ref(&agent.branch_ref())? else { continue };
            let base = worktree.base(head)?;
            found.push(AgentWorktree { agent, worktree, base, head });
        }
        found.sort_by(|left, right| left.agent.cmp(&right.agent));
        Ok(found)
    }
}

/// Returns where an agent's worktree stands unless somebody says otherwise:
/// `../<repository>.agents/<agent>`.
pub fn default_path(space: &Space, agent: &AgentName) -> PathBuf {
    let common = space.repository().common_dir();
    let top = if common.ends_with(".git") { common.parent().unwrap_or(common) } else { common };
    let name = top.file_name().map_or("repository".into(), |name| name.to_string_lossy());
    let above = top.parent().unwrap_or(top);
    above.join(format!("{name}.agents")).join(agent.as_str())
}

/// Checks that a worktree could be made in a folder.
///
/// # Errors
/// Fails in a bare repository, and when something is in the folder.
pub fn check_place(space: &Space, path: &Path) -> Result<()> {
    // One that is bare may still have worktrees, and be used from one.
    if space.repository().work_dir().is_none() {
        return Err(Error::Worktree(WorktreeError::Bare));
    }
    let is_free = match std::fs::read_dir(path) {
        Ok(mut entries) => entries.next().is_none(),
        Err(_) => !path.exists(),
    };
    if is_free {
        Ok(())
    } else {
        Err(Error::Worktree(WorktreeError::PathTaken { path: path.to_owned() }))
    }
}

/// Tells whether a folder is the agent's worktree that somebody made and died before it was filled.
fn is_empty_at(space: &Space, agent: &AgentName, folder: &Path) -> bool {
    let Err(Error::Worktree(WorktreeError::Empty { path, .. })) = space.worktree_of(agent) else {
        return false;
    };
    matches!((path.canonicalize(), folder.canonicalize()), (Ok(path), Ok(folder)) if path == folder)
}

/// Checks an agent's branch out in a new folder.
///
/// # Errors
/// Fails as [`check_place`] and git do, and when the agent has a worktree, one that is gone included.
pub fn add(space: &Space, agent: &AgentName, path: &Path) -> Result<Worktree> {
    let head = space.head(agent)?;
    if !is_empty_at(space, agent, path) {
        check_place(space, path)?;
    }
    match space.worktree_of(agent) {
        Ok(worktree) => {
            return Err(Error::Worktree(WorktreeError::CheckedOut {
                agent: agent.clone(),
                path: worktree.path,
            }));
        }
        Err(
            Error::Worktree(WorktreeError::Missing { .. })
            | Error::Worktree(WorktreeError::Empty { .. }),
        ) => {}
        Err(error) => return Err(error),
    }
    let repository = space.repository();
    let lock = {
        // Two `git worktree add` at once can pick the same name for their git directories.
        let lock_path = repository.layout().space_lock("worktree");
        let _adding = Lock::take(&lock_path, repository.common_dir())?;
        WorktreeLock::take(repository, make_empty(space, agent, path)?)?
    };
    if let Err(error) = lock.fill(repository, head) {
        discard(space, path)?;
        return Err(error.into());
    }
    name_notes_in(space, agent, lock.worktree())?;
    if space.durability() == Durability::Full {
        // Git syncs none of it; an agent could take files that a power cut lost for deleted ones.
        repository.sync_filesystem()?;
    }
    let worktree = lock.worktree().clone();
    // The hook is no concern of those who wait for the worktree, and may be one of them.
    drop(lock);
    run_hook(&worktree, head)?;
    Ok(worktree)
}

/// Lets git make a worktree without files: no filter and no hook of the user's runs. It is locked
/// until it is filled, so that one whose maker died is known.
fn make_empty(space: &Space, agent: &AgentName, path: &Path) -> Result<Worktree> {
    let repository = space.repository();
    match space.worktree_of(agent) {
        Err(Error::Worktree(WorktreeError::Empty { path, .. })) => {
            check_without_work(&path)?;
            discard(space, &path)?;
        }
        Ok(worktree) => {
            return Err(Error::Worktree(WorktreeError::CheckedOut {
                agent: agent.clone(),
                path: worktree.path,
            }));
        }
        Err(_) => {}
    }
    let (target, branch) = (path.to_string_lossy(), format!("agents/{agent}"));
    let arguments = [
        "-c",
        "core.hooksPath=/dev/null",
        "worktree",
        "add",
        "--quiet",
        "--no-checkout",
        "--lock",
        &target,
        &branch,
    ];
    repository.git(&arguments)?.checked(&arguments[2..])?;
    agentic_store::fault::point("worktree-made")?;
    match repository.checkout_of(&agent.branch_ref())? {
        Checkout::Here(worktree) => Ok(worktree),
        Checkout::Nowhere | Checkout::Gone(_) | Checkout::Unlinked(_) | Checkout::Occupied(..) => {
            Err(Error::Worktree(WorktreeError::Missing { agent: agent.clone() }))
        }
    }
}

/// Checks that a worktree in which nothing was ever checked out is as git made it: what else is
/// there is somebody's work.
fn check_without_work(path: &Path) -> Result<()> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    match entries.into_iter().any(|entry| entry.file_name() != ".git") {
        true => Err(Error::Worktree(WorktreeError::UncommittedWork { path: path.to_owned() })),
        false => Ok(()),
    }
}

/// Removes a worktree with whatever is in it, even if it is locked.
fn discard(space: &Space, path: &Path) -> Result<()> {
    let name = path.to_string_lossy();
    let arguments = ["worktree", "remove", "--force", "--force", &name];
    space.repository().git(&arguments)?.checked(&arguments)?;
    Ok(())
}

/// Runs the hook that git runs after a checkout, as `git worktree add` does.
fn run_hook(worktree: &Worktree, head: Oid) -> Result<()> {
    let (new, old) = (head.to_string(), "0".repeat(head.to_string().len()));
    Ok(worktree.run_hook("post-checkout", &[&old, &new, "1"])?)
}

/// Brings a worktree to its agent's head. Uncommitted changes are carried over by a three-way
/// merge of contents.
///
/// # Errors
/// Fails when the changes conflict with the head; nothing is changed then.
pub fn sync(space: &Space, agent: &AgentName) -> Result<SyncOutcome> {
    let lock = WorktreeLock::take(space.repository(), space.worktree_of(agent)?)?;
    // Files that are missing because it could not follow must not count as removed.
    space.note_found(lock.finish_following(space.repository(), space.now())?);
    let worktree = lock.worktree();
    let head = space.head(agent)?;
    let base = worktree.base(head)?;
    let synced = SyncOutcome { path: worktree.path.clone(), from: base, to: head };
    if base == head {
        return Ok(synced);
    }
    let base_tree = space.read_commit(base)?.tree;
    let head_tree = space.read_commit(head)?.tree;
    let here = space.repository().at_worktree(worktree)?;
    // The index may stand anywhere; what counts is what the folder holds.
    let scratch = here.scratch();
    let Snapshot { tree: content, packed, .. } =
        scratch.snapshot(base_tree, SnapshotSource::Checkout)?;
    let packed = packed.map(|packed| here.place_blobs(packed)).transpose()?;
    let merged = scratch.merge_trees(base_tree, head_tree, content, ("head", "worktree"))?;
    if !merged.conflicts.is_empty() {
        let conflicts = merged.conflicts.into_iter().map(|conflict| conflict.path).collect();
        return Err(Error::Worktree(WorktreeError::SyncConflict { path: synced.path, conflicts }));
    }
    for tree in [content, merged.tree] {
        here.write_loose(&scratch.difference_beside(base_tree, tree, packed.as_ref())?)?;
    }
    lock.replace_content(content, merged.tree, head)?;
    Ok(synced)
}

/// Removes an agent's worktree; the branch stays. One whose folder is gone is forgotten.
///
/// # Errors
/// Fails when it has uncommitted work, unless that is to be thrown away.
pub fn remove(space: &Space, agent: &AgentName, work: UncommittedWork) -> Result<PathBuf> {
    let (path, lock) = match space.worktree_of(agent) {
        Ok(worktree) => {
            let lock = WorktreeLock::take(space.repository(), worktree)?;
            (lock.worktree().path.clone(), Some(lock))
        }
        Err(Error::Worktree(WorktreeError::Empty { path, .. })) => {
            if work == UncommittedWork::Kept {
                check_without_work(&path)?;
            }
            discard(space, &path)?;
            return Ok(path);
        }
        Err(Error::Worktree(WorktreeError::Gone { path, .. })) => (path, None),
        Err(error) => return Err(error),
    };
    if let Some(lock) = lock.as_ref().filter(|_| work == UncommittedWork::Kept) {
        lock.finish_following(space.repository(), space.now())?;
        if !lock.worktree().is_pristine()? {
            return Err(Error::Worktree(WorktreeError::UncommittedWork { path }));
        }
    }
    let name = path.to_string_lossy();
    let arguments = ["worktree", "remove", "--force", &name];
    space.repository().git(&arguments)?.checked(&arguments)?;
    Ok(path)
}

/// Lets plain `git log` show this agent's notes in this worktree, and lets amend and rebase carry
/// them along there: this agent's alone, since a pattern would have one agent's rebase rewrite the
/// notes of all whose commits it merged. Tells whether that can be said there.
fn name_notes_in(space: &Space, agent: &AgentName, worktree: &Worktree) -> Result<bool> {
    let repository = space.repository();
    let is_shared = repository.is_set("core.bare")? || repository.config("core.worktree").is_some();
    if is_shared && !repository.is_set("extensions.worktreeConfig")? {
        // With settings of their own, worktrees would all take these two for theirs.
        return Ok(false);
    }
    let enable = ["config", "extensions.worktreeConfig", "true"];
    repository.configure(&enable)?.checked(&enable)?;
    for key in ["notes.displayRef", REWRITE_REF] {
        let name = ["config", "--worktree", key, &agent.notes_ref()];
        worktree.configure(&name)?.checked(&name)?;
    }
    Ok(true)
}

/// Does the same in the worktrees of agents that were made when nobody did. Tells whether there was
/// one.
///
/// # Errors
/// Fails when worktrees or their configuration cannot be read or written.
pub(crate) fn name_notes_everywhere(space: &Space) -> Result<bool> {
    let mut is_changed = false;
    for AgentWorktree { agent, worktree, .. } in space.agent_worktrees()? {
        // What the main worktree says, all others would take for theirs.
        if worktree.git_dir == space.repository().common_dir() || !worktree.path.exists() {
            continue;
        }
        if !worktree.git(&["config", "--worktree", REWRITE_REF])?.success {
            is_changed |= name_notes_in(space, &agent, &worktree)?;
        }
    }
    Ok(is_changed)
}
