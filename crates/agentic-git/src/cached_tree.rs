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
use agentic_store::{Error, Result};

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
        let doing = || format!("read the tree {id}");
        let tree = self.again(|| self.inner.find_tree(id).map_err(Error::git_with(doing)))?;
        node.id = id;
        node.num_entries = count(node.num_entries, gains);
        for (folder, gains) in by_folder(gains) {
            let place = node
                .children
                .binary_search_by(|child| child.name.as_slice().cmp(folder.as_bytes()));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_git;
    use std::path::Path;

    /// Makes git remember the trees of what the folder holds now.
    fn remembered(folder: &Path) -> (gix::ObjectId, Tree) {
        let git = |arguments: &[&str]| {
            let output = run_git(folder, arguments).and_then(|output| output.checked(arguments));
            output.expect("git works")
        };
        git(&["add", "-A"]);
        let tree = git(&["write-tree"]).trim().to_owned();
        git(&["read-tree", &tree]);
        let index = gix::open(folder).expect("a repository").open_index().expect("an index");
        let id = tree.parse().expect("an id");
        (id, index.tree().expect("git remembers trees").clone())
    }

    #[test]
    fn what_follows_is_what_git_would_remember() {
        let cases: [(&[&str], &[&str]); 7] = [
            (&["a", "f/b"], &["a", "f/b", "f/c"]),
            (&["a", "src/b", "zoo/c", "other/d"], &["a", "src/b", "src/new/er/e", "zoo/c"]),
            (&["f/b", "f/deep/c"], &["f"]),
            (&["f"], &["f/b", "f/deep/c"]),
            (&["f/deep/c", "g"], &["g"]),
            (&["b/x", "a-long/x", "c/x"], &["b/y", "a-long/x", "c/x", "aa/x"]),
            (&["a"], &["a"]),
        ];
        for (before, after) in cases {
            let folder = tempfile::tempdir().expect("a folder");
            run_git(folder.path(), &["init", "-q"]).expect("git works");
            let write = |paths: &[&str]| {
                for path in paths {
                    let path = folder.path().join(path);
                    std::fs::create_dir_all(path.parent().expect("below the folder"))
                        .expect("made");
                    std::fs::write(path, "x").expect("written");
                }
            };
            write(before);
            let (_, mut node) = remembered(folder.path());
            for path in before {
                let top = folder.path().join(path.split('/').next().expect("a part"));
                let _ = std::fs::remove_file(&top).or_else(|_| std::fs::remove_dir_all(&top));
            }
            write(after);
            let (id, expected) = remembered(folder.path());

            let mut gains = Gains::new();
            after.iter().for_each(|path| *gains.entry((*path).into()).or_default() += 1);
            before.iter().for_each(|path| *gains.entry((*path).into()).or_default() -= 1);
            let repository = Repository::open(folder.path()).expect("a repository");
            repository.follow_tree(&mut node, id, &gains).expect("the trees are there");
            assert_eq!(node, expected, "{before:?} -> {after:?}");
        }
    }
}
