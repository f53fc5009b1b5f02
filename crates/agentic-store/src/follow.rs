//! Worktrees that follow their branch after a crash.

use std::path::Path;

use agentic_model::Oid;

use crate::git::{Repository, Worktree};
use crate::journal::{Follow, Transaction};
use crate::{Error, Result};

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
pub fn again(
    repository: &Repository,
    worktree: &Worktree,
    transaction: &Transaction,
) -> Result<()> {
    let Some(branch) = &transaction.branch else { return Ok(()) };
    match (&transaction.follow, branch.expect) {
        (Some(Follow::Index(_)), _) => {
            worktree.rebuild_index()?;
            worktree.set_base(branch.new)
        }
        (Some(Follow::Files(_)), Some(from)) => {
            worktree.rebuild_index()?;
            bring_files(repository, worktree, from, branch.new)?;
            worktree.set_base(branch.new)
        }
        (Some(Follow::Files(_)) | None, _) => Ok(()),
    }
}

/// Brings the files that still are as `from` has them to `to`, where the index stands already.
/// Nobody knows how far that was done, and a person may have changed files since: what is neither
/// the one nor the other is left alone and shows as uncommitted.
fn bring_files(repository: &Repository, worktree: &Worktree, from: Oid, to: Oid) -> Result<()> {
    let (from, into) = (from.to_string(), to.to_string());
    let arguments = ["diff-tree", "-r", "-z", "--no-renames", &from, &into];
    let listed = worktree.git(&arguments)?.checked(&arguments)?;
    let mut parts = listed.split('\0');
    while let (Some(change), Some(path)) = (parts.next(), parts.next()) {
        let [_, _, old, new, _] = change.split(' ').collect::<Vec<_>>()[..] else { continue };
        let on_disk = repository.name_file(worktree, path)?;
        let old = Oid::parse(old).ok().filter(|oid| !oid.is_null());
        let new = Oid::parse(new).ok().filter(|oid| !oid.is_null());
        if on_disk == new {
            continue;
        }
        let is_old = on_disk == old || on_disk.is_none();
        if !is_old && !is_part_of(repository, worktree, path, new)? {
            continue;
        }
        match new {
            Some(_) => {
                let arguments = ["checkout-index", "--force", "--quiet", "--", path];
                worktree.git(&arguments)?.checked(&arguments)?;
            }
            None => {
                let path = worktree.path.join(path);
                std::fs::remove_file(&path).map_err(Error::io("remove", &path))?;
            }
        }
    }
    // The index learns what the files look like on the disk.
    let _differences_are_an_answer = worktree.git(&["update-index", "-q", "--refresh"])?;
    Ok(())
}

/// Tells whether a file is the beginning of what git was about to write: git removes the old file
/// and writes the new one, and may have been killed in between.
fn is_part_of(
    repository: &Repository,
    worktree: &Worktree,
    path: &str,
    new: Option<Oid>,
) -> Result<bool> {
    let Some(new) = new else { return Ok(false) };
    let there = std::fs::read(worktree.path.join(path)).unwrap_or_default();
    Ok(repository.read_blob(new)?.starts_with(&there))
}
