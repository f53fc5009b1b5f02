//! What commits changed, to be found again on a branch where they have other ids.

use std::cell::RefCell;
use std::collections::HashMap;

use agentic_model::Oid;

use super::landing::LandingWay;
use super::young_branch::YoungBranch;
use crate::{Result, Space};

/// How many patches are held against each other, at most: each takes a run of git.
const PATCHES_MAX: usize = 2_000;

/// What a commit did.
#[derive(Debug, Clone)]
pub(super) struct WorkPatch {
    pub commit: Oid,
    before: Oid,
    tree: Oid,
    files: Vec<PatchedFile>,
}

/// A commit, as far as it takes to say what it did.
#[derive(Debug, Clone, Copy)]
pub(super) struct PatchedCommit {
    pub commit: Oid,
    pub tree: Oid,
    /// Its only parent, if it has one.
    pub parent: Option<Oid>,
}

/// A file that a commit changed, with the content that it has since; nothing if it is gone.
type PatchedFile = (Vec<u8>, Option<Oid>);

/// What the commits of a branch changed.
#[derive(Debug, Default)]
pub(super) struct BranchPatches {
    patches: Vec<WorkPatch>,
    /// By file and content: the oldest commit that gave it that.
    contents: HashMap<PatchedFile, Oid>,
    /// By the names of the files: which patches change exactly these.
    by_names: HashMap<Vec<Vec<u8>>, Vec<usize>>,
    /// The ids that git gave patches.
    ids: RefCell<HashMap<Oid, Option<String>>>,
}

impl WorkPatch {
    /// Reads what a commit changed; nothing where that is nothing.
    pub fn of(space: &Space, work: PatchedCommit) -> Result<Option<WorkPatch>> {
        let PatchedCommit { commit, tree, parent } = work;
        let before = match parent {
            Some(parent) => space.repository().tree_of(parent)?,
            None => space.repository().empty_tree(),
        };
        let changed = space.repository().file_changes(before, tree)?;
        let files: Vec<PatchedFile> =
            changed.into_iter().map(|file| (file.path, file.blob)).collect();
        Ok((!files.is_empty()).then_some(WorkPatch { commit, before, tree, files }))
    }

    fn names(&self) -> Vec<Vec<u8>> {
        self.files.iter().map(|(path, _)| path.clone()).collect()
    }

    /// Returns the id that git gives the patch, whatever lines it is at.
    fn id(&self, space: &Space) -> Result<Option<String>> {
        let (before, tree) = (self.before.to_string(), self.tree.to_string());
        let arguments = ["diff-tree", "-p", "-r", "--no-ext-diff", "--no-textconv", &before, &tree];
        let patch = space.repository().git(&arguments)?;
        let arguments = ["patch-id", "--stable"];
        let told = space.repository().git_reading(&arguments, patch.stdout.as_bytes())?;
        Ok(told.stdout.split_whitespace().next().map(str::to_owned))
    }
}

impl BranchPatches {
    /// Reads those of a branch. What a merge brought its other parents have.
    pub fn of(space: &Space, young: &YoungBranch) -> Result<BranchPatches> {
        let mut found = BranchPatches::default();
        for commit in young.commits.iter().filter(|commit| commit.parents.len() < 2) {
            let (parent, tree) = (commit.parents.first().copied(), commit.tree);
            let of = PatchedCommit { commit: commit.oid, tree, parent };
            let Some(patch) = WorkPatch::of(space, of)? else { continue };
            for file in &patch.files {
                // The commits come newest first: the oldest one stays.
                found.contents.insert(file.clone(), commit.oid);
            }
            found.by_names.entry(patch.names()).or_default().push(found.patches.len());
            found.patches.push(patch);
        }
        Ok(found)
    }

    /// Finds the commit of the branch by which work came there under another id, and how.
    pub fn find(&self, space: &Space, work: &WorkPatch) -> Result<Option<(Oid, LandingWay)>> {
        for at in self.by_names.get(&work.names()).into_iter().flatten() {
            let other = &self.patches[*at];
            let is_same = match self.id_of(space, work)? {
                Some(id) => self.id_of(space, other)?.as_ref() == Some(&id),
                // Of what is no text the contents alone can tell.
                None => false,
            };
            if is_same {
                return Ok(Some((other.commit, LandingWay::SamePatch)));
            }
        }
        // A file that is gone is gone by many commits, and says nothing.
        let mut last = None;
        for file in work.files.iter().filter(|(_, blob)| blob.is_some()) {
            match self.contents.get(file) {
                Some(by) => last = Some(*by),
                None => return Ok(None),
            }
        }
        Ok(last.map(|by| (by, LandingWay::Blob)))
    }

    fn id_of(&self, space: &Space, patch: &WorkPatch) -> Result<Option<String>> {
        if let Some(known) = self.ids.borrow().get(&patch.commit) {
            return Ok(known.clone());
        }
        if self.ids.borrow().len() >= PATCHES_MAX {
            return Ok(None);
        }
        let id = patch.id(space)?;
        self.ids.borrow_mut().insert(patch.commit, id.clone());
        Ok(id)
    }
}
