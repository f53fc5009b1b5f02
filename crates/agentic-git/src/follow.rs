//! Worktrees that have still to follow their branch because their process died.

use std::io::ErrorKind;
use std::path::Path;

use agentic_model::Instant;

use crate::trail::{FollowAttempt, Trail};
use crate::worktree_lock::WorktreeLock;
use crate::{Checkout, Repository};
use agentic_store::report::{RecoveryAct, StreamRecovery};
use agentic_store::{Error, Result, file};

pub use crate::trail::is_on_its_way;

/// Lets all worktrees follow whose processes died before they had.
///
/// # Errors
/// Fails when the notes cannot be listed; what goes wrong with one worktree is in the report.
pub fn catch_up(repository: &Repository, now: Instant) -> Result<Vec<StreamRecovery>> {
    let folder = repository.layout().trails();
    let notes = match std::fs::read_dir(&folder) {
        Ok(notes) => notes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("read", &folder)(error)),
    };
    let mut report = Vec::new();
    for note in notes {
        let note = note.map_err(Error::io("read", &folder))?.path();
        let Some(trail) = Trail::read(&note)? else { continue };
        if trail.attempt == FollowAttempt::Due
            && let Err(error) = follow(repository, &note, &trail, now, &mut report)
        {
            let mended = RecoveryAct::NotYet(error.to_string());
            report.push(StreamRecovery { stream: trail.stream(), mended });
        }
    }
    Ok(report)
}

/// Lets one worktree follow, unless somebody is at it.
fn follow(
    repository: &Repository,
    note: &Path,
    trail: &Trail,
    now: Instant,
    report: &mut Vec<StreamRecovery>,
) -> Result<()> {
    let layout = repository.layout();
    match repository.checkout_of(&trail.branch)? {
        Checkout::Here(worktree) if layout.trail(&worktree.key()) == note => {
            if let Some(lock) = WorktreeLock::try_take(repository, worktree)? {
                report.extend(lock.finish_following(repository, now)?);
            }
            Ok(())
        }
        // It waits for git, which is asked for nothing meanwhile.
        Checkout::Occupied(..) => Ok(()),
        // It is gone, or has something else checked out.
        Checkout::Here(_) | Checkout::Nowhere | Checkout::Gone(_) | Checkout::Unlinked(_) => {
            file::remove(note)
        }
    }
}
