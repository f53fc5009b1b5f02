//! Rows about branches of people, and what of the work of agents they have.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use agentic_git::RefName;
use agentic_model::{AgentName, Oid};
use agentic_query::FactCell;

use super::SpaceFacts;
use super::cache::CacheEntry;
use super::rows::FactRows;
use crate::Result;

/// Which column has the branch.
const BRANCH: usize = 0;
/// Which column of `branch_has` has the commit.
const COMMIT: usize = 1;
/// Where branches are.
pub(super) const BRANCHES: &str = "refs/heads/";

/// Which branches of people have commits of agents.
#[derive(Debug, Default)]
pub(super) struct ReachedCommits {
    /// The branches of each commit that one has.
    pub branches: BTreeMap<Oid, Vec<String>>,
    /// What could not be read.
    pub left_out: Vec<String>,
}

/// All commits that a branch leads to, in order, one id after the other.
struct BranchCommits {
    ids: Arc<[u8]>,
    id_bytes: usize,
}

impl SpaceFacts<'_> {
    /// `branch`.
    pub(super) fn branch_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        for branch in self.branches(rows)? {
            let head = branch.target.to_string();
            if rows.row(&[FactCell::Text(short(&branch)), FactCell::Text(&head)]).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// `branch_has`.
    pub(super) fn branch_has_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        let wanted = rows.commits(COMMIT);
        let agents = self.agents_of(wanted.as_ref())?;
        let mut commits = Vec::new();
        let mut seen = HashSet::new();
        self.each_commit(rows, &agents, &mut |_, own| {
            let oid = own.commit.oid;
            if wanted.as_ref().is_none_or(|wanted| wanted.contains(&oid)) && seen.insert(oid) {
                commits.push(oid);
            }
            ControlFlow::Continue(())
        })?;
        for branch in self.branches(rows)? {
            let what = format!("the history of branch `{}`", short(&branch));
            let found = self.commits_of(&branch).map_err(|error| error.to_string());
            let Some(found) = rows.noted(&what, found) else { continue };
            for commit in commits.iter().filter(|commit| found.has(**commit)) {
                let commit = commit.to_string();
                if rows.row(&[FactCell::Text(short(&branch)), FactCell::Text(&commit)]).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Finds which branches of people have some commits; what cannot be read is told, and left out.
    pub(super) fn reached(&self, commits: &BTreeSet<Oid>) -> Result<ReachedCommits> {
        let (mut found, mut left_out) = (BTreeMap::<Oid, Vec<String>>::new(), Vec::new());
        let refs = self.sound_refs(BRANCHES)?;
        for branch in refs.iter().filter(|it| !it.name.starts_with(AgentName::BRANCHES)) {
            match self.commits_of(branch) {
                Ok(known) => {
                    for commit in commits.iter().filter(|commit| known.has(**commit)) {
                        found.entry(*commit).or_default().push(short(branch).to_owned());
                    }
                }
                Err(error) => {
                    left_out.push(format!("the history of branch `{}`: {error}", short(branch)));
                }
            }
        }
        Ok(ReachedCommits { branches: found, left_out })
    }

    /// Lists the branches of people that are wanted.
    fn branches(&self, rows: &FactRows<'_, '_>) -> Result<Vec<RefName>> {
        let wanted = rows.bound(BRANCH);
        let is_wanted = |branch: &RefName| {
            !branch.name.starts_with(AgentName::BRANCHES)
                && wanted.as_ref().is_none_or(|wanted| wanted.contains(short(branch)))
        };
        let mut known = self.branches.borrow_mut();
        if known.is_none() {
            *known = Some(self.sound_refs(BRANCHES)?);
        }
        Ok(known.iter().flatten().filter(|branch| is_wanted(branch)).cloned().collect())
    }

    /// Lists everything that a branch leads to. One that only went on since the last time costs what
    /// is new.
    fn commits_of(&self, branch: &RefName) -> Result<BranchCommits> {
        let (head, repository) = (branch.target, self.space.repository());
        let (key, id_bytes) = (head.to_string(), head.as_bytes().len());
        let cached = self.caches.branches.find(&branch.name);
        if let Some(entry) = cached.as_ref().filter(|entry| entry.key == key) {
            self.caches.branches.count(entry.content.len() / id_bytes, 0);
            return Ok(BranchCommits { ids: Arc::clone(&entry.content), id_bytes });
        }
        let mut known = HashSet::new();
        if let Some(entry) = cached
            && let Ok(old) = Oid::parse(&entry.key)
            && repository.is_ancestor(old, head).unwrap_or(false)
        {
            let ids = entry.content.chunks_exact(id_bytes);
            known.extend(ids.filter_map(|id| Oid::from_bytes(id).ok()));
        }
        let new = repository.ancestors(head, &known)?;
        self.caches.branches.count(known.len() + new.len(), new.len());
        let mut all: Vec<Oid> = known.into_iter().chain(new).collect();
        all.sort_unstable();
        let ids: Vec<u8> = all.iter().flat_map(|oid| oid.as_bytes().to_vec()).collect();
        let content: Arc<[u8]> = Arc::from(ids);
        let entry = CacheEntry { key, content: Arc::clone(&content) };
        self.caches.branches.keep(&branch.name, entry);
        Ok(BranchCommits { ids: content, id_bytes })
    }
}

impl BranchCommits {
    fn has(&self, commit: Oid) -> bool {
        let id = |at: usize| &self.ids[at * self.id_bytes..(at + 1) * self.id_bytes];
        let (mut low, mut high) = (0, self.ids.len() / self.id_bytes);
        while low < high {
            let middle = low + (high - low) / 2;
            if id(middle) < commit.as_bytes() {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low < self.ids.len() / self.id_bytes && id(low) == commit.as_bytes()
    }
}

/// Returns the name that people know a branch by.
pub(super) fn short(branch: &RefName) -> &str {
    branch.name.strip_prefix(BRANCHES).unwrap_or(&branch.name)
}
