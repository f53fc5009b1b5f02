//! How two trees differ: at which paths, and which objects the one needs that the other lacks.

use std::collections::BTreeSet;

use agentic_model::Oid;
use gix::ObjectId;
use gix::diff::tree::recorder::Change;
use gix::diff::tree::{Recorder, State};
use gix::objs::TreeRefIter;
use gix::objs::tree::EntryMode;

use super::{Repository, Scratch, from_gix, to_id, to_oid};
use agentic_store::journal::GitObject;
use agentic_store::{Error, Result};

/// What became of a file from one tree to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileStatus {
    /// It is new.
    Added,
    /// It has other content, or may be executed now, or no more.
    Modified,
    /// It is gone.
    Deleted,
    /// It is another sort of file now, such as a link.
    TypeChanged,
}

/// A file by which two trees differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Its path.
    pub path: Vec<u8>,
    /// What became of it.
    pub status: FileStatus,
    /// Its content now; nothing if it is gone.
    pub blob: Option<Oid>,
}

impl FileStatus {
    /// Returns the letter that git has for it.
    pub fn letter(self) -> &'static str {
        match self {
            FileStatus::Added => "A",
            FileStatus::Modified => "M",
            FileStatus::Deleted => "D",
            FileStatus::TypeChanged => "T",
        }
    }
}

impl Repository {
    /// Lists the files by which two trees differ, by path. A file that moved is gone in one place and
    /// new in another.
    ///
    /// # Errors
    /// Fails when a tree cannot be read.
    pub fn file_changes(&self, old: Oid, new: Oid) -> Result<Vec<ChangedFile>> {
        if old == new {
            return Ok(Vec::new());
        }
        let view = Scratch { inner: self.inner.clone(), cache: self.cache.clone() };
        let changes = view.changes(old, new)?.into_iter().filter_map(file_change);
        let mut changes: Vec<ChangedFile> = changes.collect();
        changes.sort_by(|left, right| left.path.cmp(&right.path));
        Ok(changes)
    }
}

fn file_change(change: Change) -> Option<ChangedFile> {
    let (mode, path, status, blob) = match change {
        Change::Addition { entry_mode, path, oid, .. } => {
            (entry_mode, path, FileStatus::Added, Some(oid))
        }
        Change::Deletion { entry_mode, path, .. } => (entry_mode, path, FileStatus::Deleted, None),
        Change::Modification { previous_entry_mode, entry_mode, path, oid, .. } => {
            let sort = |mode: EntryMode| (mode.is_link(), mode.is_commit());
            let status = match sort(previous_entry_mode) == sort(entry_mode) {
                true => FileStatus::Modified,
                false => FileStatus::TypeChanged,
            };
            (entry_mode, path, status, Some(oid))
        }
    };
    let blob = blob.as_ref().map(|oid| to_oid(oid));
    (!mode.is_tree()).then(|| ChangedFile { path: path.into(), status, blob })
}

/// Returns the object that a change brings: nothing where only a mode changed, or something went.
fn brought(change: &Change) -> Option<(EntryMode, ObjectId)> {
    match change {
        Change::Addition { entry_mode, oid, .. } => Some((*entry_mode, *oid)),
        Change::Modification { previous_oid, entry_mode, oid, .. } => {
            (previous_oid != oid).then_some((*entry_mode, *oid))
        }
        Change::Deletion { .. } => None,
    }
}

impl Repository {
    /// Reads and hashes the trees and blobs of `new` that `old` does not hold at the same place.
    ///
    /// # Errors
    /// Fails at the first that is missing or damaged.
    pub fn verify_difference(&self, old: Oid, new: Oid) -> Result<()> {
        if old == new {
            return Ok(());
        }
        self.verify_object(new)?;
        for (mode, id) in self.scratch().changes(old, new)?.iter().filter_map(brought) {
            if !mode.is_commit() {
                self.verify_object(to_oid(&id))?;
            }
        }
        Ok(())
    }
}

impl Scratch {
    /// Collects the trees and blobs of `new` that `old` does not hold at the same place, blobs
    /// before the trees that name them. Only folders that differ are looked into.
    ///
    /// # Errors
    /// Fails when an object cannot be read.
    pub fn difference(&self, old: Oid, new: Oid) -> Result<Vec<GitObject>> {
        self.difference_beside(old, new, None)
    }

    /// Does the same, but for blobs that are packed, by name: these are not read into memory.
    ///
    /// # Errors
    /// Fails when an object cannot be read.
    pub fn difference_beside(
        &self,
        old: Oid,
        new: Oid,
        packed: Option<&BTreeSet<Oid>>,
    ) -> Result<Vec<GitObject>> {
        if old == new {
            return Ok(Vec::new());
        }
        let changes = self.changes(old, new)?;
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        // Folders come before what is in them.
        for (mode, id) in changes.iter().rev().filter_map(brought) {
            let oid = to_oid(&id);
            let is_packed = packed.is_some_and(|packed| packed.contains(&oid));
            if !mode.is_commit() && !is_packed && seen.insert(id) {
                found.push(self.find(oid)?);
            }
        }
        found.push(self.find(new)?);
        Ok(found)
    }

    /// Lists the paths at which two trees differ, in order.
    ///
    /// # Errors
    /// Fails when a tree cannot be read.
    pub fn changed_paths(&self, old: Oid, new: Oid) -> Result<Vec<Vec<u8>>> {
        let place = |change| match change {
            Change::Addition { entry_mode, path, .. }
            | Change::Deletion { entry_mode, path, .. }
            | Change::Modification { entry_mode, path, .. } => (entry_mode, path),
        };
        let changes = self.changes(old, new)?.into_iter().map(place);
        let mut paths: Vec<Vec<u8>> =
            changes.filter(|(mode, _)| !mode.is_tree()).map(|(_, path)| path.into()).collect();
        paths.sort();
        Ok(paths)
    }

    /// Compares two trees. Not by way of the repository: that reads the whole tree of the current
    /// branch for attributes which nobody asks for here.
    pub(super) fn changes(&self, old: Oid, new: Oid) -> Result<Vec<Change>> {
        let read = |oid| self.inner.find_tree(to_id(oid)).map_err(Error::git("compare trees"));
        let hash = self.inner.object_hash();
        self.again(|| {
            let (old, new, objects) = (read(old)?, read(new)?, &self.inner.objects);
            let entries = |data| TreeRefIter::from_bytes(data, hash);
            let (old, new) = (entries(&old.data), entries(&new.data));
            let mut found = Recorder::default();
            gix::diff::tree(old, new, State::default(), objects, &mut found)
                .map_err(Error::git("compare trees"))?;
            Ok(found.records)
        })
    }

    pub(super) fn find(&self, oid: Oid) -> Result<GitObject> {
        let doing = || format!("read object {oid}");
        let find = || self.inner.find_object(to_id(oid)).map_err(Error::git_with(doing));
        let object = self.again(find)?;
        Ok(GitObject { kind: from_gix(object.kind)?, bytes: object.data.clone() })
    }
}
