//! Worktrees that follow their branch after a crash.

use std::path::Path;

use crate::Result;
use crate::git::{Repository, Worktree};
use crate::journal::{Follow, Transaction};

/// Finds the worktree that a transaction names, if it still has the branch checked out.
pub fn worktree_of(repository: &Repository, transaction: &Transaction) -> Result<Option<Worktree>> {
    let (Some(branch), Some(follow)) = (&transaction.branch, &transaction.follow) else {
        return Ok(None);
    };
    let (Follow::Index(path) | Follow::Files(path)) = follow;
    let found = repository.worktree_of(&branch.name)?;
    Ok(found.filter(|worktree| worktree.path == Path::new(path)))
}

/// Lets a worktree follow, as far as it has not.
pub fn again(worktree: &Worktree, transaction: &Transaction) -> Result<()> {
    let Some(branch) = &transaction.branch else { return Ok(()) };
    match (&transaction.follow, branch.expect) {
        (Some(Follow::Index(_)), _) => {
            worktree.reset_index()?;
            worktree.set_base(branch.new)
        }
        (Some(Follow::Files(_)), Some(from)) => worktree.bring_along(from, branch.new),
        (Some(Follow::Files(_)) | None, _) => Ok(()),
    }
}
