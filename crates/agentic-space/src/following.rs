//! Following: how the worktree that has a branch checked out comes along when the branch moves.
//!
//! Where only its index is behind, that is brought up to date at once. Files are written by git,
//! which runs programs of the user's for it: the branch's lock is given back first.

use agentic_git::{GitWriter, WorktreeLock, follow};
use agentic_git::{IndexUpdate, Worktree};
use agentic_model::Oid;
use agentic_store::journal::Follow;

use crate::branch::short;
use crate::error::WorktreeError;
use crate::{Error, Result, Space};

/// A worktree that must come along, and how.
#[derive(Debug)]
pub enum FollowingWorktree {
    /// It already holds what is committed; only its index is behind.
    Index(Worktree, Vec<IndexUpdate>),
    /// Its files have to change. Nobody else changes them meanwhile.
    Files(WorktreeLock),
}

/// Keeps the worktree that has a branch checked out from everybody else who would change its files:
/// nobody but its own agent moves the branch meanwhile. Waits for whoever is at it, and lets it
/// follow first if that process died. The caller holds no lock of a branch.
///
/// # Errors
/// Fails when it cannot follow.
pub(crate) fn reserve(space: &Space, branch: &str) -> Result<Option<WorktreeLock>> {
    let Some(worktree) = space.repository().worktree_of(branch)? else { return Ok(None) };
    take(space, worktree).map(Some)
}

/// Takes the lock of a worktree, and lets it follow first if whoever had it died.
fn take(space: &Space, worktree: Worktree) -> Result<WorktreeLock> {
    let lock = WorktreeLock::take(space.repository(), worktree)?;
    space.note_found(lock.finish_following(space.repository(), space.now())?);
    Ok(lock)
}

impl FollowingWorktree {
    /// Says how a worktree that was reserved comes along with a branch that moves on from `head`,
    /// where the `changed` paths differ.
    ///
    /// # Errors
    /// Fails when there is work in it that this would touch.
    pub(crate) fn of(
        reserved: Option<WorktreeLock>,
        branch: &str,
        head: Oid,
        changed: &[Vec<u8>],
    ) -> Result<Option<FollowingWorktree>> {
        let Some(lock) = reserved else { return Ok(None) };
        let worktree = lock.worktree();
        if changed.is_empty() {
            return FollowingWorktree::content(worktree.clone(), head);
        }
        if worktree.untracked_among(changed)? || !worktree.is_clean()? {
            let path = worktree.path.clone();
            return Err(Error::Worktree(WorktreeError::Busy { branch: short(branch), path }));
        }
        Ok(Some(FollowingWorktree::Files(lock)))
    }

    /// Says the same of a worktree whose branch moves on to a commit with the same content. One that
    /// is elsewhere stays where it is.
    ///
    /// # Errors
    /// Fails when it cannot be told where it is.
    pub fn content(worktree: Worktree, head: Oid) -> Result<Option<FollowingWorktree>> {
        let is_there = worktree.base(head)? == head;
        Ok(is_there.then(|| FollowingWorktree::Index(worktree, Vec::new())))
    }

    /// Makes sure that the worktree follows even if this process dies as soon as the branch has moved.
    ///
    /// # Errors
    /// Fails when that cannot be noted; nothing has happened then.
    pub(crate) fn announce(&self, branch: &str, way: (Oid, Oid)) -> agentic_store::Result<()> {
        match self {
            // The record of the write does.
            FollowingWorktree::Index(..) => Ok(()),
            FollowingWorktree::Files(lock) => lock.announce(branch, way),
        }
    }

    /// Takes that back: the branch did not move.
    pub(crate) fn retract(&self) {
        if let FollowingWorktree::Files(lock) = self {
            // Whoever finds it sees that the branch did not move.
            let _ = lock.retract();
        }
    }

    /// Brings the worktree from one commit to another, and gives the lock of the branch back.
    ///
    /// # Errors
    /// Fails when something is in the way; the next command tries once more.
    pub(crate) fn bring(
        self,
        space: &Space,
        mut writer: GitWriter<'_>,
        (from, to): (Oid, Oid),
    ) -> agentic_store::Result<()> {
        match self {
            FollowingWorktree::Index(worktree, updates) => {
                writer.follow(&worktree.git_dir, || {
                    let here = space.repository().at_worktree(&worktree)?;
                    let tree_of = |commit| here.read_commit(commit).map(|commit| commit.tree);
                    here.update_index(&updates, tree_of(from)?, tree_of(to)?)?;
                    worktree.set_base(to)
                })?;
                writer.settle(space.now());
                Ok(())
            }
            FollowingWorktree::Files(lock) => {
                drop(writer);
                lock.bring_along(from, to)
            }
        }
    }

    /// Returns what the record of the write says of it.
    pub(crate) fn record(&self) -> Follow {
        let name = |worktree: &Worktree| worktree.path.to_string_lossy().into_owned();
        match self {
            FollowingWorktree::Index(worktree, _) => Follow::Index(name(worktree)),
            FollowingWorktree::Files(lock) => Follow::Files(name(lock.worktree())),
        }
    }
}

/// Waits until a worktree has followed its branch, if it is on its way.
///
/// # Errors
/// Fails when whoever brought it died and it cannot be brought now.
pub(crate) fn wait_for(space: &Space, worktree: &Worktree) -> Result<WriteWait> {
    if !follow::is_on_its_way(space.repository().layout(), worktree) {
        return Ok(WriteWait::ForNobody);
    }
    drop(take(space, worktree.clone())?);
    Ok(WriteWait::ForAnother)
}

/// Whether somebody had to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteWait {
    /// No.
    ForNobody,
    /// Yes; what was seen before may be true no longer.
    ForAnother,
}
