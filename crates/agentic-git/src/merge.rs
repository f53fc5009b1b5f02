//! Three-way merges, with conflicts as values.

use std::collections::BTreeMap;

use agentic_model::Oid;
use gix::merge::blob::builtin_driver::text::Labels;
use gix::merge::tree::TreatAsUnresolved;
use gix::merge::tree::apply_index_entries::RemovalMode;

use super::{Scratch, to_id, to_oid};
use agentic_store::{Error, Result};

/// The blobs of one conflicting path: 1 is the common ancestor's, 2 ours, 3 theirs.
pub type Stages = BTreeMap<u8, Oid>;

/// A path on which both sides disagree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The path; bytes that are not UTF-8 are replaced.
    pub path: String,
    /// What each side has there.
    pub stages: Stages,
}

/// What a merge gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeOutcome {
    /// The merged tree; with markers in it where there are conflicts.
    pub tree: Oid,
    /// Where both sides disagree; empty if the tree may be committed.
    pub conflicts: Vec<Conflict>,
}

/// What the two sides have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeBase {
    /// The best common ancestors of the two commits; the empty tree if there are none.
    OfCommits,
    /// This tree, whatever history says.
    Tree(Oid),
}

impl Scratch {
    /// Merges the commit `theirs` into the commit `ours`. Nothing is written outside of memory.
    ///
    /// # Errors
    /// Fails when history or trees cannot be read.
    pub fn merge_commits(
        &self,
        ours: Oid,
        theirs: Oid,
        names: (&str, &str),
    ) -> Result<MergeOutcome> {
        let failed = || Error::git::<gix::Error>("merge");
        let outcome = self.again(|| {
            let options = self.inner.tree_merge_options().map_err(failed())?;
            let options = gix::merge::commit::Options::from(plumbing(options))
                .with_allow_missing_merge_base(true);
            self.inner
                .merge_commits(to_id(ours), to_id(theirs), labels(names), options)
                .map_err(failed())
        })?;
        self.finish(outcome.tree_merge)
    }

    /// Merges the tree `theirs` into the tree `ours`, given what they have in common.
    ///
    /// # Errors
    /// Fails when trees cannot be read.
    pub fn merge_trees(
        &self,
        base: Oid,
        ours: Oid,
        theirs: Oid,
        names: (&str, &str),
    ) -> Result<MergeOutcome> {
        let failed = || Error::git::<gix::Error>("merge");
        let (base, ours, theirs) = (to_id(base), to_id(ours), to_id(theirs));
        let outcome = self.again(|| {
            let options = self.inner.tree_merge_options().map_err(failed())?;
            self.inner.merge_trees(base, ours, theirs, labels(names), options).map_err(failed())
        })?;
        self.finish(outcome)
    }

    fn finish(&self, mut outcome: gix::merge::tree::Outcome<'_>) -> Result<MergeOutcome> {
        let failed = || Error::git::<gix::Error>("write the merged tree");
        let tree = outcome.tree.write().map_err(failed())?.detach();
        let unresolved = TreatAsUnresolved::git();
        if !outcome.has_unresolved_conflicts(unresolved) {
            return Ok(MergeOutcome { tree: to_oid(&tree), conflicts: Vec::new() });
        }
        let mut index = self.inner.index_from_tree(&tree).map_err(failed())?;
        outcome.index_changed_after_applying_conflicts(&mut index, unresolved, RemovalMode::Prune);
        let mut stages = BTreeMap::<String, Stages>::new();
        for entry in index.entries().iter().filter(|entry| entry.stage_raw() != 0) {
            let path = entry.path(&index).to_string();
            stages.entry(path).or_default().insert(entry.stage_raw() as u8, to_oid(&entry.id));
        }
        let conflicts =
            stages.into_iter().map(|(path, stages)| Conflict { path, stages }).collect();
        Ok(MergeOutcome { tree: to_oid(&tree), conflicts })
    }
}

fn labels<'a>((ours, theirs): (&'a str, &'a str)) -> Labels<'a> {
    Labels {
        ancestor: Some("common ancestor".into()),
        current: Some(ours.into()),
        other: Some(theirs.into()),
    }
}

fn plumbing(options: gix::merge::tree::Options) -> gix::merge::plumbing::tree::Options {
    options.into()
}
