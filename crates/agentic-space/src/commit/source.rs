//! Sources: where the tree of a commit comes from.

use std::collections::BTreeMap;
use std::path::Path;

use agentic_git::{
    FileMode, IndexUpdate, PackedBlobs, Scratch, Snapshot, SnapshotSource, TreeChange, TreeEdit,
    Worktree, check_path,
};
use agentic_model::{AgentName, Oid};
use agentic_store::journal::GitObject;

use super::draft::{Edit, TreeSource};
use crate::error::CommitError;
use crate::{Error, Result, Space};

/// What a source gives on top of a tree.
pub(crate) struct BuiltTree {
    /// The new tree.
    pub tree: Oid,
    /// What it needs that the old one had not.
    pub objects: Vec<GitObject>,
    /// The blobs that are too large to be among them.
    pub packed: Option<PackedBlobs>,
    /// What becomes of the index of the worktree, if it came from one.
    pub index: Vec<IndexUpdate>,
    /// The paths at which the trees differ.
    pub changed: Vec<Vec<u8>>,
    /// Git repositories in the folder that it came from, which no tree holds.
    pub left_out: Vec<String>,
}

/// Returns paths as people are shown them.
pub(crate) fn shown(paths: &[Vec<u8>]) -> Vec<String> {
    paths.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect()
}

impl TreeSource {
    /// Finds the worktree of the agent that the source is taken from, if it is taken from one.
    pub(super) fn own_worktree(
        &self,
        space: &Space,
        agent: &AgentName,
    ) -> Result<Option<Worktree>> {
        match self {
            TreeSource::Worktree(worktree) => Ok(Some(worktree.clone())),
            TreeSource::Paths { root, .. } => {
                let found = space.repository().worktree_of(&agent.branch_ref())?;
                Ok(found.filter(|worktree| worktree.path == *root))
            }
            TreeSource::Folder(_) | TreeSource::Edits(_) => Ok(None),
        }
    }

    /// Builds the tree that the source makes of `base`, and keeps it in memory.
    pub(super) fn build(&self, space: &Space, base: Oid) -> Result<BuiltTree> {
        let repository = space.repository();
        let (scratch, snapshot) = match self {
            TreeSource::Worktree(worktree) => {
                let scratch = repository.at_worktree(worktree)?.scratch();
                let snapshot = scratch.snapshot(base, SnapshotSource::Worktree)?;
                (scratch, snapshot)
            }
            TreeSource::Folder(folder) => {
                let scratch = repository.scratch_at(folder)?;
                let source = SnapshotSource::Folder { paths: &[] };
                let snapshot = scratch.snapshot(base, source)?;
                (scratch, Snapshot { index: Vec::new(), ..snapshot })
            }
            TreeSource::Paths { root, paths } => {
                for path in paths {
                    check_path(path)?;
                    check_exists(space, base, root, path)?;
                }
                let scratch = repository.scratch_at(root)?;
                let snapshot = scratch.snapshot(base, SnapshotSource::Folder { paths })?;
                (scratch, snapshot)
            }
            TreeSource::Edits(edits) => return apply(&repository.scratch(), base, edits),
        };
        let Snapshot { tree, index, left_out, packed } = snapshot;
        let objects =
            scratch.difference_beside(base, tree, packed.as_ref().map(PackedBlobs::names))?;
        let changed = scratch.changed_paths(base, tree)?;
        Ok(BuiltTree { tree, objects, packed, index, changed, left_out })
    }
}

/// Builds the tree that edits make of `base`, which may itself be in memory only.
pub(crate) fn apply(
    scratch: &Scratch,
    base: Oid,
    edits: &BTreeMap<String, Edit>,
) -> Result<BuiltTree> {
    let (edit, packed) = tree_edit(scratch, edits)?;
    let tree = scratch.edit_tree(base, &edit)?;
    let objects = scratch.difference_beside(base, tree, packed.as_ref().map(PackedBlobs::names))?;
    let changed = scratch.changed_paths(base, tree)?;
    Ok(BuiltTree { tree, objects, packed, index: Vec::new(), changed, left_out: Vec::new() })
}

fn tree_edit(
    scratch: &Scratch,
    edits: &BTreeMap<String, Edit>,
) -> Result<(TreeEdit, Option<PackedBlobs>)> {
    let mut blobs = scratch.blob_intake();
    let mut changes = TreeEdit::new();
    for (path, edit) in edits {
        let change = match edit {
            // What is looked into before it is committed stays at hand.
            Edit::Write { content, mode } if *mode == FileMode::Link || path == ".gitmodules" => {
                TreeChange::Set { mode: *mode, blob: scratch.write_blob(content)? }
            }
            Edit::Write { content, mode } => {
                TreeChange::Set { mode: *mode, blob: blobs.write(content)? }
            }
            Edit::WriteSpooled { content, mode }
                if *mode == FileMode::Link || path == ".gitmodules" =>
            {
                TreeChange::Set { mode: *mode, blob: scratch.write_blob(&content.read()?)? }
            }
            Edit::WriteSpooled { content, mode } => {
                TreeChange::Set { mode: *mode, blob: blobs.write_spooled(content)? }
            }
            Edit::Delete => TreeChange::Remove,
        };
        changes.insert(path.clone().into_bytes(), change);
    }
    Ok((changes, blobs.finish()?))
}

/// Checks that a path that was named is in the folder or in the tree.
fn check_exists(space: &Space, tree: Oid, root: &Path, path: &[u8]) -> Result<()> {
    use std::os::unix::ffi::OsStrExt as _;
    let on_disk = root.join(std::ffi::OsStr::from_bytes(path));
    let is_there = on_disk.symlink_metadata().is_ok();
    if is_there || space.repository().is_in_tree(tree, path)? {
        return Ok(());
    }
    Err(Error::Commit(CommitError::NoSuchPath { path: String::from_utf8_lossy(path).into_owned() }))
}
