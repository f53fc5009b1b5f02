//! Following: how the worktree that has a branch checked out comes along when the branch moves.

use agentic_model::Oid;
use agentic_store::git::{IndexUpdate, Worktree};
use agentic_store::journal::{Follow, Transaction};
use agentic_store::{Durability, Writer};

use crate::space::Written;
use crate::{Error, Result, Space};

/// A worktree that must come along, and how.
#[derive(Debug)]
pub(crate) struct Following {
    worktree: Worktree,
    follow: Follow,
    index: Vec<IndexUpdate>,
}

impl Following {
    /// The worktree already holds what is committed; only its index is behind.
    pub(crate) fn index(worktree: Worktree, updates: Vec<IndexUpdate>) -> Following {
        let path = worktree.path.to_string_lossy().into_owned();
        Following { worktree, follow: Follow::Index(path), index: updates }
    }

    /// Finds the worktree of a branch in which the `changed` paths must change as well.
    ///
    /// # Errors
    /// Fails when there is work in it that this would touch.
    pub(crate) fn files(
        space: &Space,
        branch: &str,
        changed: &[String],
    ) -> Result<Option<Following>> {
        let Some(worktree) = space.repository().worktree_of(branch)? else { return Ok(None) };
        if !changed.is_empty() && (worktree.untracked_among(changed)? || !worktree.is_clean()?) {
            return Err(Error::WorktreeBusy { branch: short(branch), path: worktree.path });
        }
        let path = worktree.path.to_string_lossy().into_owned();
        Ok(Some(Following { worktree, follow: Follow::Files(path), index: Vec::new() }))
    }

    /// Brings the worktree from one commit to another, under the lock of the branch.
    pub(crate) fn bring(
        &self,
        space: &Space,
        writer: &mut Writer<'_>,
        (from, to): (Oid, Oid),
    ) -> agentic_store::Result<()> {
        writer.follow(&self.worktree, || match &self.follow {
            Follow::Index(_) => {
                let here = space.repository().at_worktree(&self.worktree)?;
                let tree_of = |commit| here.read_commit(commit).map(|commit| commit.tree);
                here.update_index(&self.index, tree_of(from)?, tree_of(to)?)?;
                self.worktree.set_base(to)
            }
            Follow::Files(_) => self.worktree.bring_along(from, to),
        })
    }
}

/// What a write that moved a branch came to.
pub(crate) struct Moved {
    /// Where the branch is now.
    pub head: Oid,
    /// Whether everything is visible.
    pub written: Written,
    /// Why the worktree could not follow, if one could not.
    pub left_behind: Option<agentic_store::Error>,
}

/// Carries out a transaction that moves a branch on from `head`. Its record decides; the rest,
/// down to the worktree, follows.
pub(crate) fn carry_out(
    space: &Space,
    writer: &mut Writer<'_>,
    mut transaction: Transaction,
    (head, following): (Oid, Option<Following>),
    durability: Durability,
) -> Result<Moved> {
    transaction.follow = following.as_ref().map(|following| following.follow.clone());
    let step = transaction.branch.as_ref().map(|step| (short(&step.name), step.new));
    let (branch, new) = step.unwrap_or_else(|| (String::new(), head));

    let outcome = writer.carry_out(transaction, durability, space.now())?;
    let written = Written::from_outcome(outcome, &branch, Some(head))?;
    let left_behind = match following {
        Some(following) if written.deferred.is_none() => {
            let left_behind = following.bring(space, writer, (head, new)).err();
            if left_behind.is_none() {
                // Otherwise the next command tries once more.
                writer.settle(space.now());
            }
            left_behind
        }
        _ => None,
    };
    Ok(Moved { head: new, written, left_behind })
}

/// Returns the name that people know a branch by: that of its agent, or without `refs/heads/`.
fn short(branch: &str) -> String {
    let short = branch.strip_prefix("refs/heads/").unwrap_or(branch);
    short.strip_prefix("agents/").unwrap_or(short).to_owned()
}
