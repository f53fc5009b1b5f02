//! The trees that an index remembers, so that git and we see at once that nothing is staged.
//!
//! Every node is a folder of the index with the id of its tree and the number of its files. When a
//! commit is made from an index that was just like its parent, the nodes on the way to what
//! changed get the ids of the new trees; all others stay.

use std::collections::BTreeMap;

use agentic_model::Oid;
use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::index::State;
use gix::index::extension::Tree;
use gix::objs::tree::EntryKind;

use super::{Repository, to_id};
use crate::{Error, Result};

/// How many files each path of the index gained: 1 for a new one, -1 for one that is gone.
pub(super) type Gains = BTreeMap<BString, i64>;

/// Tells whether an index is known to hold a tree and nothing else.
pub(super) fn is_just_like(index: &State, tree: Oid) -> bool {
    let n_entries = u32::try_from(index.entries().len()).ok();
    index.tree().is_some_and(|root| root.id == to_id(tree) && root.num_entries == n_entries)
}

impl Repository {
    /// Makes a node that was right for another tree right for the tree `id`, from which it differs
    /// at the paths of `gains` alone. Paths are relative to the node.
    pub(super) fn follow_tree(
        &self,
        node: &mut Tree,
        id: gix::ObjectId,
        gains: &Gains,
    ) -> Result<()> {
        let tree = self.inner.find_tree(id).map_err(Error::git(format!("read the tree {id}")))?;
        node.id = id;
        node.num_entries = count(node.num_entries, gains);
        for (folder, gains) in by_folder(gains) {
            let place = node.children.binary_search_by(|child| order(&child.name, folder));
            let entry = tree
                .find_entry(BString::from(folder))
                .filter(|entry| entry.mode().kind() == EntryKind::Tree);
            match (place, entry) {
                (Ok(place), Some(entry)) => {
                    self.follow_tree(&mut node.children[place], entry.object_id(), &gains)?;
                }
                (Err(place), Some(entry)) => {
                    let mut child = Tree {
                        name: folder.as_bytes().into(),
                        id,
                        num_entries: Some(0),
                        children: Vec::new(),
                    };
                    self.follow_tree(&mut child, entry.object_id(), &gains)?;
                    node.children.insert(place, child);
                }
                (Ok(place), None) => drop(node.children.remove(place)),
                (Err(_), None) => {}
            }
        }
        Ok(())
    }
}

/// The order in which git keeps the folders of a node: short names first.
fn order(one: &[u8], other: &BStr) -> std::cmp::Ordering {
    (one.len(), one).cmp(&(other.len(), other.as_bytes()))
}

/// Sorts paths by the folder that they begin with, and takes it away; files are left out.
fn by_folder(gains: &Gains) -> BTreeMap<&BStr, Gains> {
    let mut folders: BTreeMap<&BStr, Gains> = BTreeMap::new();
    for (path, gain) in gains {
        if let Some((folder, rest)) = path.split_once_str(b"/") {
            folders.entry(folder.as_bstr()).or_default().insert(rest.into(), *gain);
        }
    }
    folders
}

fn count(before: Option<u32>, gains: &Gains) -> Option<u32> {
    u32::try_from(i64::from(before?) + gains.values().sum::<i64>()).ok()
}
