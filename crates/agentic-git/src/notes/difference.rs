//! What two notes trees differ by, leaf by leaf: their fan-outs may differ, and git changes them all
//! when it edits a note.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::{Cid, Kind, Oid};
use gix::bstr::{BString, ByteSlice as _};
use gix::objs::tree::Entry;

use super::{DEPTH_MAX, OBJECTS};
use crate::{Repository, to_oid};
use agentic_store::Result;

/// What a leaf of a notes tree is called, in whichever folder it stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LeafName {
    /// The note of a commit.
    Note(Oid),
    /// An object.
    Object(Kind, Cid),
    /// A file that somebody else put there, by its path.
    Other(BString),
}

/// A leaf that two notes trees do not have alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LeafChange {
    pub name: LeafName,
    /// Its blob in the older tree.
    pub old: Option<Oid>,
    /// Its blob in the newer tree.
    pub new: Option<Oid>,
}

type Leaves = BTreeMap<LeafName, Oid>;

/// Two trees that are walked together.
struct Comparison<'a> {
    repository: &'a Repository,
    old: Leaves,
    new: Leaves,
}

impl Repository {
    /// Lists the leaves by which two notes trees differ. What both have alike is not read.
    pub(super) fn leaf_changes(
        &self,
        old: Option<Oid>,
        new: Option<Oid>,
    ) -> Result<Vec<LeafChange>> {
        if old == new {
            return Ok(Vec::new());
        }
        let mut comparison =
            Comparison { repository: self, old: Leaves::new(), new: Leaves::new() };
        comparison.walk(old, new, &BString::default(), 0)?;
        let Comparison { old, new, .. } = comparison;
        let names: BTreeSet<&LeafName> = old.keys().chain(new.keys()).collect();
        let change = |name: &LeafName| LeafChange {
            name: name.clone(),
            old: old.get(name).copied(),
            new: new.get(name).copied(),
        };
        Ok(names.into_iter().map(change).filter(|change| change.old != change.new).collect())
    }
}

impl Comparison<'_> {
    fn walk(
        &mut self,
        old: Option<Oid>,
        new: Option<Oid>,
        above: &BString,
        depth: usize,
    ) -> Result<()> {
        // Deeper folders are nobody's fan-out.
        if depth > DEPTH_MAX {
            return Ok(());
        }
        let (old, mut new) = (self.entries(old)?, self.entries(new)?);
        for (name, before) in old {
            let path = joined(above, &name);
            let after = new.remove(&name);
            if let Some(after) = &after
                && (after.oid == before.oid && after.mode == before.mode)
            {
                continue;
            }
            let folder = |entry: Option<&Entry>| {
                entry.filter(|entry| entry.mode.is_tree()).map(|entry| to_oid(&entry.oid))
            };
            // A leaf on the one side may stand in a folder of this name on the other.
            self.walk(folder(Some(&before)), folder(after.as_ref()), &path, depth + 1)?;
            put(&mut self.old, &path, &before);
            if let Some(after) = after {
                put(&mut self.new, &path, &after);
            }
        }
        for (name, after) in new {
            let path = joined(above, &name);
            if after.mode.is_tree() {
                self.walk(None, Some(to_oid(&after.oid)), &path, depth + 1)?;
            }
            put(&mut self.new, &path, &after);
        }
        Ok(())
    }

    fn entries(&self, tree: Option<Oid>) -> Result<BTreeMap<BString, Entry>> {
        let Some(tree) = tree else { return Ok(BTreeMap::new()) };
        let entries = self.repository.load_tree(tree)?.entries;
        Ok(entries.into_iter().map(|entry| (entry.filename.clone(), entry)).collect())
    }
}

fn put(leaves: &mut Leaves, path: &BString, entry: &Entry) {
    if !entry.mode.is_tree() {
        leaves.insert(leaf_name(path), to_oid(&entry.oid));
    }
}

fn joined(above: &BString, name: &BString) -> BString {
    match above.is_empty() {
        true => name.clone(),
        false => [above.as_bytes(), name.as_bytes()].join(&b'/').into(),
    }
}

fn leaf_name(path: &BString) -> LeafName {
    let other = || LeafName::Other(path.clone());
    let Ok(text) = path.to_str() else { return other() };
    let parts: Vec<&str> = text.split('/').collect();
    match parts.as_slice() {
        [OBJECTS, kind, .., name] => match (Kind::parse(kind), Cid::parse(name)) {
            (Ok(kind), Ok(cid)) => LeafName::Object(kind, cid),
            _ => other(),
        },
        parts => Oid::parse(&parts.concat()).map_or_else(|_| other(), LeafName::Note),
    }
}
