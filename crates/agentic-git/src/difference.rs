//! How two trees differ: at which paths, and which objects the one needs that the other lacks.

use std::collections::BTreeSet;

use agentic_model::Oid;
use gix::diff::tree::recorder::Change;
use gix::diff::tree::{Recorder, State};
use gix::objs::TreeRefIter;

use super::{Scratch, from_gix, to_id, to_oid};
use agentic_store::journal::GitObject;
use agentic_store::{Error, Result};

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
        let fresh = |change: &Change| match change {
            Change::Addition { entry_mode, oid, .. } => Some((*entry_mode, *oid)),
            Change::Modification { previous_oid, entry_mode, oid, .. } => {
                (previous_oid != oid).then_some((*entry_mode, *oid))
            }
            Change::Deletion { .. } => None,
        };
        let changes = self.changes(old, new)?;
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        // Folders come before what is in them.
        for (mode, id) in changes.iter().rev().filter_map(fresh) {
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
    fn changes(&self, old: Oid, new: Oid) -> Result<Vec<Change>> {
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
