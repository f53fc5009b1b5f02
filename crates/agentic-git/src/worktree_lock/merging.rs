//! Merging what was edited in a worktree while its branch moved on.
//!
//! All such files are merged or none: a base that stays old has to mean that none has its changes
//! twice. What a merge gives is noted before it replaces a file, so that whoever comes after a crash
//! sees which file has it already.

use std::fs;

use agentic_model::Oid;

use super::WorktreeLock;
use super::files::{Change, EXECUTABLE, LINK, ObjectKeeping, PLAIN, is_same};
use crate::trail::{FileEntry, NotedMerge, Trail};
use crate::{FileMode, Repository, Scratch, TreeChange, TreeEdit};
use agentic_store::journal::{GitKind, GitObject};
use agentic_store::{Error, Result, fault};

/// A file that was edited meanwhile.
pub(super) struct EditedFile {
    change: Change,
    /// What it is now; nothing if it is no file any more.
    found: Option<FileEntry>,
}

/// What a merge made of a file, and what the file held before.
struct MergedFile {
    noted: NotedMerge,
    before: Vec<u8>,
    /// The result, unless an earlier process wrote it. No ref names it, so a prune may take it away.
    blobs: Vec<GitObject>,
}

impl EditedFile {
    pub(super) fn of(change: Change, found: Option<FileEntry>) -> EditedFile {
        EditedFile { change, found }
    }
}

impl WorktreeLock {
    /// Merges files that were edited, all or none, if everything else `is_there`. Returns those that
    /// are as they were.
    pub(super) fn merge(
        &self,
        repository: &Repository,
        trail: &Trail,
        edited: Vec<EditedFile>,
        is_there: bool,
    ) -> Result<Vec<Vec<u8>>> {
        let paths = || edited.iter().map(|one| one.change.path.clone()).collect::<Vec<_>>();
        if edited.is_empty() {
            return Ok(Vec::new());
        }
        let mut merged = Vec::new();
        for one in &edited {
            match self.merge_one(repository, trail, one)? {
                Some(MergeExtent::Placed) => {}
                Some(MergeExtent::ToPlace(one)) if is_there => merged.push(one),
                Some(MergeExtent::ToPlace(_)) | None => return Ok(paths()),
            }
        }
        self.note_merges(trail, &merged)?;
        fault::point("merges-noted")?;
        let mut left = Vec::new();
        for one in merged {
            if !self.place_merged(repository, &one)? {
                left.push(one.noted.path);
            }
            fault::point("merge-placed")?;
        }
        Ok(left)
    }

    fn note_merges(&self, trail: &Trail, merged: &[MergedFile]) -> Result<()> {
        let mut trail = trail.clone();
        for MergedFile { noted, .. } in merged {
            trail.merges.retain(|known| known.path != noted.path);
            trail.merges.push(noted.clone());
        }
        trail.write(&self.note)
    }

    /// Merges one file; nothing if that cannot be done.
    fn merge_one(
        &self,
        repository: &Repository,
        trail: &Trail,
        one: &EditedFile,
    ) -> Result<Option<MergeExtent>> {
        let EditedFile { change: Change { path, old, new }, found: Some(found) } = one else {
            return Ok(None);
        };
        if let Some(noted) = trail.merge_of(path) {
            let is = |entry| is_same(repository, entry, *found);
            match (is(noted.result), is(noted.found)) {
                (true, _) => return Ok(Some(MergeExtent::Placed)),
                (false, true) if repository.has_object(noted.result.oid) => {
                    let (noted, before) = (noted.clone(), self.read_raw(path)?);
                    return Ok(Some(MergeExtent::ToPlace(MergedFile {
                        noted,
                        before,
                        blobs: Vec::new(),
                    })));
                }
                // A prune took the result away; the file is as it was, so it is made once more.
                (false, true) => {}
                // Nobody can tell whether it was edited before the result came or after.
                (false, false) => return Ok(None),
            }
        }
        let before = self.read_raw(path)?;
        let here = repository.at_worktree(&self.worktree)?;
        let ours = self.keep(&here, path, *found)?;
        let scratch = here.scratch();
        let empty = repository.empty_tree();
        let tree = |entry: Option<FileEntry>| tree_of(&scratch, empty, path, entry);
        let (Some(base), Some(theirs), Some(ours)) = (tree(*old)?, tree(*new)?, tree(Some(ours))?)
        else {
            return Ok(None);
        };
        let outcome = scratch.merge_trees(base, theirs, ours, ("branch", "worktree"))?;
        let result = scratch.entry_at(outcome.tree, path)?;
        let Some((mode, oid)) = result.filter(|_| outcome.conflicts.is_empty()) else {
            return Ok(None);
        };
        let objects = scratch.difference(empty, outcome.tree)?.into_iter();
        let blobs: Vec<GitObject> = objects.filter(|it| it.kind == GitKind::Blob).collect();
        here.write_loose(&blobs)?;
        let result = FileEntry { mode: mode_of(mode), oid };
        let noted = NotedMerge { path: path.clone(), found: *found, result };
        Ok(Some(MergeExtent::ToPlace(MergedFile { noted, before, blobs })))
    }

    /// Keeps the content of an edited file as an object, to be merged.
    fn keep(&self, here: &Repository, path: &[u8], found: FileEntry) -> Result<FileEntry> {
        let oid = match found.mode {
            LINK => {
                let target = GitObject { kind: GitKind::Blob, bytes: self.read_raw(path)? };
                here.write_loose(&[target])?.pop()
            }
            _ => self.hash(&[path], ObjectKeeping::Objects)?.pop(),
        };
        Ok(FileEntry { oid: oid.unwrap_or(found.oid), ..found })
    }

    /// Replaces a file by what the merge made of it, if it is what was merged; tells whether it was.
    fn place_merged(&self, repository: &Repository, merged: &MergedFile) -> Result<bool> {
        repository.write_loose(&merged.blobs)?;
        let NotedMerge { path, result, .. } = &merged.noted;
        let content = match result.mode {
            LINK => self.git_raw(&["cat-file", "blob"], &[result.oid.to_string().as_bytes()])?,
            _ => self.smudged(path, result.oid)?,
        };
        // A filter may have run for long.
        if self.is_blocked(path) || self.read_raw(path).ok().as_ref() != Some(&merged.before) {
            return Ok(false);
        }
        self.place(path, result.mode, &content)?;
        Ok(true)
    }

    /// Reads a file, or the target of a link.
    fn read_raw(&self, path: &[u8]) -> Result<Vec<u8>> {
        let full = self.full(path);
        let read = match full.is_symlink() {
            true => fs::read_link(&full).map(|it| it.into_os_string().into_encoded_bytes()),
            false => fs::read(&full),
        };
        read.map_err(Error::io("read", &full))
    }
}

/// How far the merge of a file is.
enum MergeExtent {
    /// The result is in its place.
    Placed,
    /// It has still to replace the file.
    ToPlace(MergedFile),
}

/// Makes a tree with one file, or none; nothing if it is something that cannot be merged.
fn tree_of(
    scratch: &Scratch,
    empty: Oid,
    path: &[u8],
    entry: Option<FileEntry>,
) -> Result<Option<Oid>> {
    let Some(FileEntry { mode, oid: blob }) = entry else { return Ok(Some(empty)) };
    let mode = match mode {
        PLAIN => FileMode::Plain,
        EXECUTABLE => FileMode::Executable,
        LINK => FileMode::Link,
        _ => return Ok(None),
    };
    let edit = TreeEdit::from([(path.to_vec(), TreeChange::Set { mode, blob })]);
    scratch.edit_tree(empty, &edit).map(Some)
}

fn mode_of(mode: FileMode) -> u32 {
    match mode {
        FileMode::Plain => PLAIN,
        FileMode::Executable => EXECUTABLE,
        FileMode::Link => LINK,
    }
}
