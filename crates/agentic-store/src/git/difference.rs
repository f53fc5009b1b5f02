//! Which objects a tree needs that another one does not have.

use std::collections::BTreeSet;

use agentic_model::Oid;
use gix::objs::TreeRefIter;

use super::object::from_gix;
use super::{Scratch, to_id, to_oid};
use crate::journal::GitObject;
use crate::{Error, Result};

/// An entry of a tree: its name, whether it is a tree, a blob, or (nothing) a commit, and its id.
type Entry = (Vec<u8>, Option<bool>, Oid);

impl Scratch {
    /// Collects the trees and blobs of `new` that `old` does not hold at the same place, blobs
    /// before the trees that name them. Only folders that differ are looked into.
    ///
    /// # Errors
    /// Fails when an object cannot be read.
    pub fn difference(&self, old: Oid, new: Oid) -> Result<Vec<GitObject>> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        self.collect(Some(old), new, &mut seen, &mut found)?;
        Ok(found)
    }

    fn collect(
        &self,
        old: Option<Oid>,
        new: Oid,
        seen: &mut BTreeSet<Oid>,
        found: &mut Vec<GitObject>,
    ) -> Result<()> {
        if old == Some(new) || !seen.insert(new) {
            return Ok(());
        }
        let old_entries = old.map_or(Ok(Vec::new()), |old| self.entries(old))?;
        for (name, is_tree, oid) in self.entries(new)? {
            let at = old_entries.binary_search_by(|(other, _, _)| other.cmp(&name));
            let before = at.ok().map(|at| &old_entries[at]);
            if before.is_some_and(|(_, _, before)| *before == oid) {
                continue;
            }
            match is_tree {
                Some(true) => {
                    let before = before.filter(|(_, is_tree, _)| *is_tree == Some(true));
                    self.collect(before.map(|(_, _, oid)| *oid), oid, seen, found)?;
                }
                Some(false) if seen.insert(oid) => found.push(self.read(oid)?),
                Some(false) | None => {}
            }
        }
        found.push(self.read(new)?);
        Ok(())
    }

    /// Lists a tree sorted by name.
    fn entries(&self, tree: Oid) -> Result<Vec<Entry>> {
        let doing = || format!("read tree {tree}");
        let object = self.inner.find_tree(to_id(tree)).map_err(Error::git_with(doing))?;
        let mut entries = Vec::new();
        for entry in TreeRefIter::from_bytes(&object.data, self.inner.object_hash()) {
            let entry = entry.map_err(Error::git_with(doing))?;
            let is_tree = match entry.mode.kind() {
                gix::objs::tree::EntryKind::Tree => Some(true),
                gix::objs::tree::EntryKind::Commit => None,
                _ => Some(false),
            };
            entries.push((entry.filename.to_vec(), is_tree, to_oid(entry.oid)));
        }
        entries.sort();
        Ok(entries)
    }

    fn read(&self, oid: Oid) -> Result<GitObject> {
        let object = self
            .inner
            .find_object(to_id(oid))
            .map_err(Error::git_with(|| format!("read object {oid}")))?;
        Ok(GitObject { kind: from_gix(object.kind)?, bytes: object.data.clone() })
    }
}
