//! What of a branch of people is young enough to have work that is looked for.

use std::collections::HashMap;

use agentic_model::{Instant, Oid};

use crate::commit_order::{OrderedCommit, newest_first};
use crate::{Result, Space};

/// How many commits of a branch are looked at, the newest ones.
const BRANCH_COMMITS_MAX: usize = 200_000;

/// A commit of a branch of people.
#[derive(Debug, Clone)]
pub(super) struct BranchCommit {
    pub oid: Oid,
    pub tree: Oid,
    pub parents: Vec<Oid>,
    pub at: Instant,
    pub message: String,
}

/// What of a branch is young enough to have work that is looked for.
#[derive(Debug, Default)]
pub(super) struct YoungBranch {
    /// Its commits, newest first.
    pub commits: Vec<BranchCommit>,
    /// Along its first parents.
    line: Vec<Oid>,
}

impl OrderedCommit for BranchCommit {
    fn at(&self) -> Instant {
        self.at
    }

    fn parents(&self) -> &[Oid] {
        &self.parents
    }
}

impl YoungBranch {
    /// Reads what a branch has since an instant.
    pub fn read(space: &Space, head: Oid, since: Instant) -> Result<YoungBranch> {
        let mut found: HashMap<Oid, BranchCommit> = HashMap::new();
        let mut todo = vec![head];
        while let Some(oid) = todo.pop() {
            if found.contains_key(&oid) || found.len() >= BRANCH_COMMITS_MAX {
                continue;
            }
            let info = space.read_commit(oid)?;
            // A commit keeps seconds alone.
            if info.at.plus_millis(999) < since {
                continue;
            }
            todo.extend(info.parents.iter().copied());
            let (tree, parents, at, message) = (info.tree, info.parents, info.at, info.message);
            found.insert(oid, BranchCommit { oid, tree, parents, at, message });
        }
        let mut line = Vec::new();
        let mut next = found.get(&head);
        while let Some(commit) = next {
            line.push(commit.oid);
            next = commit.parents.first().and_then(|parent| found.get(parent));
        }
        let order = newest_first(head, &found);
        let commits = order.iter().filter_map(|oid| found.remove(oid)).collect();
        Ok(YoungBranch { commits, line })
    }

    /// Finds by which commit of its line the branch came to reach each of its commits.
    pub fn arrivals(&self) -> HashMap<Oid, Oid> {
        let by_id: HashMap<Oid, &BranchCommit> =
            self.commits.iter().map(|commit| (commit.oid, commit)).collect();
        let mut arrived: HashMap<Oid, Oid> = HashMap::new();
        for at in self.line.iter().rev() {
            let mut todo = vec![*at];
            while let Some(oid) = todo.pop() {
                if arrived.contains_key(&oid) {
                    continue;
                }
                let Some(commit) = by_id.get(&oid) else { continue };
                arrived.insert(oid, *at);
                todo.extend(commit.parents.iter().copied());
            }
        }
        arrived
    }
}
