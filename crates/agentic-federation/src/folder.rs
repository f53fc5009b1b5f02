//! Trees of git, made and read byte by byte.
//!
//! What is signed names a tree, so that a tree is part of what is signed: there is one spelling of
//! each, files are plain files and folders are folders, and anything else is no tree here.

use std::collections::BTreeMap;

use agentic_model::Oid;
use agentic_store::ground::ObjectStore;
use agentic_store::journal::{GitKind, GitObject};

use crate::fields::MalformedInput;
use crate::{Error, Result};

/// The mode of a plain file.
const FILE: &[u8] = b"100644";
/// The mode of a folder.
const FOLDER: &[u8] = b"40000";

/// What stands in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TreeNode {
    /// A plain file.
    File(Oid),
    /// A folder.
    Folder(Oid),
}

/// A folder that is read: its entries by name.
pub type TreeFolder = BTreeMap<String, TreeNode>;

/// A folder that is made.
#[derive(Debug, Clone, Default)]
pub struct FolderDraft {
    entries: BTreeMap<String, DraftNode>,
}

#[derive(Debug, Clone)]
enum DraftNode {
    File(Vec<u8>),
    Folder(FolderDraft),
    There(TreeNode),
}

/// Objects that are made and not written yet.
#[derive(Debug, Default)]
pub struct Drafts {
    /// The objects.
    pub objects: Vec<GitObject>,
}

impl Drafts {
    /// Adds an object and names it.
    pub fn add(&mut self, store: &impl ObjectStore, kind: GitKind, bytes: Vec<u8>) -> Oid {
        let object = GitObject { kind, bytes };
        let oid = store.name_object(&object);
        self.objects.push(object);
        oid
    }

    /// Leaves out the trees and files that a store has already.
    pub fn retain_missing(&mut self, store: &impl ObjectStore) {
        self.objects.retain(|object| {
            object.kind == GitKind::Commit || !store.has_object(store.name_object(object))
        });
    }
}

impl FolderDraft {
    /// Puts a file at a path.
    pub fn put(&mut self, path: &str, bytes: Vec<u8>) {
        self.set(path, DraftNode::File(bytes));
    }

    /// Puts something at a path that is stored already.
    pub fn keep(&mut self, path: &str, node: TreeNode) {
        self.set(path, DraftNode::There(node));
    }

    /// Puts a folder into this one, unless there is nothing in it.
    pub fn put_folder(&mut self, name: &str, folder: FolderDraft) {
        if !folder.is_empty() {
            self.entries.insert(name.to_owned(), DraftNode::Folder(folder));
        }
    }

    /// Tells whether there is nothing in the folder.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn set(&mut self, path: &str, node: DraftNode) {
        let Some((first, rest)) = path.split_once('/') else {
            self.entries.insert(path.to_owned(), node);
            return;
        };
        let entry = self.entries.entry(first.to_owned());
        let entry = entry.or_insert_with(|| DraftNode::Folder(FolderDraft::default()));
        if let DraftNode::Folder(folder) = entry {
            folder.set(rest, node);
        }
    }

    /// Makes the trees and files of the folder.
    pub fn finish(self, store: &impl ObjectStore, drafts: &mut Drafts) -> Oid {
        let mut folder = TreeFolder::new();
        for (name, node) in self.entries {
            let node = match node {
                DraftNode::File(bytes) => TreeNode::File(drafts.add(store, GitKind::Blob, bytes)),
                DraftNode::Folder(folder) => TreeNode::Folder(folder.finish(store, drafts)),
                DraftNode::There(node) => node,
            };
            folder.insert(name, node);
        }
        drafts.add(store, GitKind::Tree, encode_folder(&folder))
    }
}

/// Writes the bytes of a tree.
pub fn encode_folder(folder: &TreeFolder) -> Vec<u8> {
    let mut lines: Vec<(Vec<u8>, &String, TreeNode)> =
        folder.iter().map(|(name, node)| (order(name, *node), name, *node)).collect();
    lines.sort();
    let mut bytes = Vec::new();
    for (_, name, node) in lines {
        let (mode, oid) = match node {
            TreeNode::File(oid) => (FILE, oid),
            TreeNode::Folder(oid) => (FOLDER, oid),
        };
        bytes.extend_from_slice(mode);
        bytes.push(b' ');
        bytes.extend_from_slice(name.as_bytes());
        bytes.push(0);
        bytes.extend_from_slice(oid.as_bytes());
    }
    bytes
}

/// Reads the bytes of a tree whose ids have that many bytes.
///
/// # Errors
/// Fails when they are not what [`encode_folder`] would make.
pub fn decode_folder(
    bytes: &[u8],
    oid_bytes: usize,
) -> std::result::Result<TreeFolder, MalformedInput> {
    let wrong = || MalformedInput::new("a tree is not as it would be made here");
    let mut folder = TreeFolder::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let at = rest.iter().position(|byte| *byte == 0).ok_or_else(wrong)?;
        let (head, tail) = (&rest[..at], &rest[at + 1..]);
        let oid = tail.get(..oid_bytes).ok_or_else(wrong)?;
        let oid = Oid::from_bytes(oid).map_err(|_| wrong())?;
        let space = head.iter().position(|byte| *byte == b' ').ok_or_else(wrong)?;
        let name = std::str::from_utf8(&head[space + 1..]).map_err(|_| wrong())?;
        let node = match &head[..space] {
            FILE => TreeNode::File(oid),
            FOLDER => TreeNode::Folder(oid),
            _ => return Err(wrong()),
        };
        folder.insert(name.to_owned(), node);
        rest = &tail[oid_bytes..];
    }
    match encode_folder(&folder) == bytes {
        true => Ok(folder),
        false => Err(wrong()),
    }
}

/// Lists the names that any tree has, as far as it can be read.
pub(crate) fn names_in_tree(bytes: &[u8], oid_bytes: usize) -> Vec<&[u8]> {
    let (mut names, mut rest) = (Vec::new(), bytes);
    while let Some(at) = rest.iter().position(|byte| *byte == 0) {
        let (head, tail) = (&rest[..at], &rest[at + 1..]);
        let mode = head.iter().position(|byte| *byte == b' ').map_or(0, |space| space + 1);
        names.push(&head[mode..]);
        rest = tail.get(oid_bytes..).unwrap_or_default();
    }
    names
}

/// Git orders folders as if their names ended in a slash.
fn order(name: &str, node: TreeNode) -> Vec<u8> {
    let end: &[u8] = match node {
        TreeNode::File(_) => b"",
        TreeNode::Folder(_) => b"/",
    };
    [name.as_bytes(), end].concat()
}

/// Reads a folder, and checks its bytes against its id.
///
/// # Errors
/// Fails when it cannot be read, and with [`Error::Malformed`] when it is no folder of ours.
pub fn read_folder(store: &impl ObjectStore, tree: Oid) -> Result<TreeFolder> {
    let object = store.verify_object(tree)?;
    match object.kind {
        GitKind::Tree => Ok(decode_folder(&object.bytes, tree.as_bytes().len())?),
        GitKind::Blob | GitKind::Commit => {
            Err(Error::Malformed(MalformedInput::new("something stands where a folder should")))
        }
    }
}

/// Reads a file of a folder up to a length; nothing where there is none.
///
/// # Errors
/// Fails when it cannot be read, is longer, or is a folder.
pub fn read_file(
    store: &impl ObjectStore,
    folder: &TreeFolder,
    name: &str,
    bytes_max: usize,
) -> Result<Option<Vec<u8>>> {
    let wrong = |what: &str| Error::Malformed(MalformedInput(format!("`{name}` {what}")));
    let blob = match folder.get(name) {
        None => return Ok(None),
        Some(TreeNode::Folder(_)) => return Err(wrong("is a folder")),
        Some(TreeNode::File(blob)) => *blob,
    };
    let object = store.verify_object(blob)?;
    match object.kind == GitKind::Blob && object.bytes.len() <= bytes_max {
        true => Ok(Some(object.bytes)),
        false => Err(wrong("is longer than it may be")),
    }
}

/// Reads a folder of a folder; an empty one where there is none.
///
/// # Errors
/// Fails when it cannot be read, or is a file.
pub fn read_subfolder(
    store: &impl ObjectStore,
    folder: &TreeFolder,
    name: &str,
) -> Result<TreeFolder> {
    match folder.get(name) {
        None => Ok(TreeFolder::new()),
        Some(TreeNode::Folder(tree)) => read_folder(store, *tree),
        Some(TreeNode::File(_)) => {
            Err(Error::Malformed(MalformedInput(format!("`{name}` is no folder"))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oid(digit: char) -> Oid {
        Oid::parse(&digit.to_string().repeat(40)).expect("an id")
    }

    #[test]
    fn trees_read_back_in_gits_order() {
        let folder = TreeFolder::from([
            ("a".to_owned(), TreeNode::Folder(oid('1'))),
            ("a.b".to_owned(), TreeNode::File(oid('2'))),
            ("b".to_owned(), TreeNode::File(oid('3'))),
        ]);
        let bytes = encode_folder(&folder);
        // `a.b` comes before the folder `a`, whose name counts as `a/`.
        assert!(bytes.starts_with(b"100644 a.b\0"));
        assert_eq!(decode_folder(&bytes, 20), Ok(folder));
    }

    #[test]
    fn any_tree_has_names() {
        let entry = |head: &[u8]| [head, b"\0", oid('1').as_bytes()].concat();
        let bytes = [entry(b"100755 run me"), entry(b"160000 \xff")].concat();
        assert_eq!(names_in_tree(&bytes, 20), [b"run me".as_slice(), b"\xff".as_slice()]);
        assert_eq!(names_in_tree(&bytes[..30], 20), [b"run me".as_slice()]);
        assert!(names_in_tree(b"", 20).is_empty());
    }

    #[test]
    fn any_other_spelling_is_no_tree() {
        let file = |mode: &str, name: &str| {
            [format!("{mode} {name}\0").as_bytes(), oid('1').as_bytes()].concat()
        };
        let sorted = [file("100644", "a"), file("100644", "b")].concat();
        assert!(decode_folder(&sorted, 20).is_ok());
        for bytes in [
            [file("100644", "b"), file("100644", "a")].concat(),
            [file("100644", "a"), file("100644", "a")].concat(),
            file("100755", "a"),
            file("120000", "a"),
            file("160000", "a"),
            file("040000", "a"),
            file("100644", "a")[..20].to_vec(),
            b"100644 a".to_vec(),
        ] {
            assert!(decode_folder(&bytes, 20).is_err(), "{bytes:?}");
        }
    }
}
