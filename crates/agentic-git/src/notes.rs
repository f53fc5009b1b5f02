//! Notes trees: git's notes, and beside them the typed objects of an agent.
//!
//! `<commit oid>` → note text as git keeps it, and `objects/<type>/…/<cid>` → the object's bytes.
//! Stock git keeps the `objects/` entries when it edits notes, because they do not look like notes.
//! Readers accept any fan-out. The writer restores ours where it writes: a folder with more than
//! [`SHARD_ENTRIES_MAX`] leaves splits by two more hexadecimal digits.

mod changed;
mod difference;
mod edit;
mod library;
mod look;
mod rewriting;
mod upkeep;

pub use self::changed::{ChangedNote, KeptLeaf};
pub use self::library::{FoundPointer, LibraryEdit, LibraryTree, POINTERS_MAX, PointerEdit};
pub use self::rewriting::{HistoryLeaf, HistoryRoot, HistorySort, LeafRewrites, NotesHistory};

use std::collections::BTreeSet;

use agentic_model::{Cid, Kind, Oid};
use gix::bstr::ByteSlice as _;
use gix::objs::Tree;
use gix::objs::tree::Entry;

use super::{Repository, to_id, to_oid};
use agentic_store::{Error, Result};

/// How many leaves a folder of a notes tree holds before it splits.
pub const SHARD_ENTRIES_MAX: usize = 256;

/// How deep the folders of a notes tree nest; a digest has 32 bytes, and two folders stand above.
const DEPTH_MAX: usize = 40;

/// The folder of the typed objects.
const OBJECTS: &str = "objects";

/// One state of a notes ref.
pub struct NotesState<'a> {
    repository: &'a Repository,
    tip: Option<Oid>,
    tree: Option<Oid>,
}

/// A note as one notes commit has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteVersion {
    /// The text; nothing if the note was removed.
    pub text: Option<String>,
    /// The notes commit that brought it.
    pub note_commit: super::CommitInfo,
}

/// Where a leaf stands: its hexadecimal key, and its name once `depth` digits are used up.
struct Leaf<'a> {
    key: &'a str,
    style: LeafStyle<'a>,
}

enum LeafStyle<'a> {
    /// The rest of the key, as git names notes.
    Note,
    /// Always the same name, as objects are named.
    Object(&'a str),
}

impl Repository {
    /// Opens the current state of a notes ref, which may not exist yet.
    ///
    /// # Errors
    /// Fails when the ref or its commit is damaged.
    pub fn notes(&self, name: &str) -> Result<NotesState<'_>> {
        let tip = self.find_ref(name)?;
        self.notes_at(tip)
    }

    /// Opens the state of a notes ref that a notes commit describes.
    ///
    /// # Errors
    /// Fails when the commit is damaged.
    pub fn notes_at(&self, tip: Option<Oid>) -> Result<NotesState<'_>> {
        let read = |tip| {
            let damaged = |error| Error::corrupt(format!("the notes commit {tip}"), error);
            self.read_commit(tip).map_err(damaged)
        };
        let tree = tip.map(read).transpose()?.map(|commit| commit.tree);
        Ok(NotesState { repository: self, tip, tree })
    }

    pub(crate) fn load_tree(&self, oid: Oid) -> Result<Tree> {
        let doing = || format!("read notes tree {oid}");
        let find = || self.inner.find_tree(to_id(oid)).map_err(Error::git_with(doing));
        let tree = self.again(find)?;
        Ok(tree.decode().map_err(Error::git_with(doing))?.into())
    }
}

impl NotesState<'_> {
    /// Returns the notes commit, if there is one.
    pub fn tip(&self) -> Option<Oid> {
        self.tip
    }

    /// Reads the note of a commit.
    ///
    /// # Errors
    /// Fails when the notes tree is damaged.
    pub fn note(&self, commit: Oid) -> Result<Option<String>> {
        let key = commit.to_string();
        let blob = self.find(self.tree, &Leaf { key: &key, style: LeafStyle::Note }, 0)?;
        blob.map(|blob| self.text(blob)).transpose()
    }

    /// Lists all notes: the commit and the text.
    ///
    /// # Errors
    /// Fails when the notes tree is damaged.
    pub fn all_notes(&self) -> Result<Vec<(Oid, String)>> {
        let mut found = Vec::new();
        self.collect_notes(self.tree, "", &mut found)?;
        found.into_iter().map(|(commit, blob)| Ok((commit, self.text(blob)?))).collect()
    }

    /// Reads an object by its id and checks its bytes against it.
    ///
    /// # Errors
    /// Fails when the tree or the object is damaged.
    pub fn object(&self, cid: Cid) -> Result<Option<Vec<u8>>> {
        let (key, name) = (key_of(cid), cid.to_string());
        let leaf = Leaf { key: &key, style: LeafStyle::Object(&name) };
        for kind in self.type_folders()? {
            if let Some(blob) = self.find(Some(to_oid(&kind.oid)), &leaf, 0)? {
                return self.checked(cid, blob).map(Some);
            }
        }
        Ok(None)
    }

    /// Lists the ids of all objects of a type, in order; of all types without one.
    ///
    /// # Errors
    /// Fails when the notes tree is damaged.
    pub fn objects(&self, kind: Option<&Kind>) -> Result<Vec<Cid>> {
        let mut found: Vec<Cid> =
            self.object_blobs(kind)?.into_iter().map(|(cid, _)| cid).collect();
        found.sort();
        Ok(found)
    }

    /// Lists the ids of all objects with their types, as the folders say.
    ///
    /// # Errors
    /// Fails when the notes tree is damaged.
    pub fn typed_objects(&self) -> Result<Vec<(Kind, Cid)>> {
        let mut found = Vec::new();
        for folder in self.type_folders()? {
            let Ok(kind) = Kind::parse(&folder.filename.to_str_lossy()) else { continue };
            let mut objects = Vec::new();
            self.collect_objects(to_oid(&folder.oid), 0, &mut objects)?;
            found.extend(objects.into_iter().map(|(cid, _)| (kind.clone(), cid)));
        }
        Ok(found)
    }

    /// Reads all objects of a type; an object whose bytes do not match its id is an error.
    ///
    /// # Errors
    /// Fails when the tree or an object is damaged.
    pub fn read_objects(&self, kind: &Kind) -> Result<Vec<(Cid, Vec<u8>)>> {
        self.read_wanted_objects(kind, &|_| true)
    }

    /// Does the same with those that are wanted; of the others nothing is read but the name.
    ///
    /// # Errors
    /// Fails when the tree or an object that is wanted is damaged.
    pub fn read_wanted_objects(
        &self,
        kind: &Kind,
        is_wanted: &dyn Fn(&Cid) -> bool,
    ) -> Result<Vec<(Cid, Vec<u8>)>> {
        let mut blobs = self.object_blobs(Some(kind))?;
        blobs.retain(|(cid, _)| is_wanted(cid));
        blobs.into_iter().map(|(cid, blob)| Ok((cid, self.checked(cid, blob)?))).collect()
    }

    /// Tells whether this state and its whole history can be read, down to `known`, a state that is
    /// known to be durable.
    pub fn is_whole(&self, known: Option<Oid>) -> bool {
        let mut seen = BTreeSet::from_iter(known);
        let mut next: Vec<Oid> = self.tip.into_iter().collect();
        while let Some(oid) = next.pop() {
            if !seen.insert(oid) {
                continue;
            }
            // What is remembered says nothing about the disk.
            let on_disk = self.repository.verify_object(oid);
            let Ok(commit) = on_disk.and_then(|_| self.repository.read_commit(oid)) else {
                return false;
            };
            if !self.has_all(commit.tree, 0, &mut seen) {
                return false;
            }
            next.extend(commit.parents);
        }
        true
    }

    fn has_all(&self, tree: Oid, depth: usize, seen: &mut BTreeSet<Oid>) -> bool {
        if !seen.insert(tree) {
            return true;
        }
        let on_disk = self.repository.verify_object(tree);
        let Ok(tree) = on_disk.and_then(|object| edit::decode(tree, &object.bytes)) else {
            return false;
        };
        tree.entries.iter().all(|entry| {
            let oid = to_oid(&entry.oid);
            match entry.mode.is_tree() {
                true => depth < DEPTH_MAX && self.has_all(oid, depth + 1, seen),
                false => seen.contains(&oid) || self.repository.has_object(oid),
            }
        })
    }

    /// Lists the notes that a commit has had, newest first.
    ///
    /// # Errors
    /// Fails when the history of the notes ref is damaged.
    pub fn history(&self, commit: Oid) -> Result<Vec<NoteVersion>> {
        let Some(tip) = self.tip else { return Ok(Vec::new()) };
        let mut versions: Vec<NoteVersion> = Vec::new();
        for note_commit in self.repository.first_parents(tip) {
            let note_commit = note_commit?;
            let text = self.repository.notes_at(Some(note_commit.oid))?.note(commit)?;
            match versions.last_mut() {
                Some(newer) if newer.text == text => newer.note_commit = note_commit,
                _ => versions.push(NoteVersion { text, note_commit }),
            }
        }
        if versions.last().is_some_and(|first| first.text.is_none()) {
            versions.pop();
        }
        Ok(versions)
    }

    fn find(&self, tree: Option<Oid>, leaf: &Leaf<'_>, depth: usize) -> Result<Option<Oid>> {
        let Some(tree) = tree else { return Ok(None) };
        if 2 * depth >= leaf.key.len() {
            return Ok(None);
        }
        let tree = self.repository.load_tree(tree)?;
        let found = find_entry(&tree, leaf.name(depth)).filter(|entry| !entry.mode.is_tree());
        if let Some(entry) = found {
            return Ok(Some(to_oid(&entry.oid)));
        }
        match find_entry(&tree, leaf.shard(depth)).filter(|entry| entry.mode.is_tree()) {
            Some(entry) => self.find(Some(to_oid(&entry.oid)), leaf, depth + 1),
            None => Ok(None),
        }
    }

    fn type_folders(&self) -> Result<Vec<Entry>> {
        let Some(root) = self.tree else { return Ok(Vec::new()) };
        let root = self.repository.load_tree(root)?;
        let objects = self.subtree(&root, OBJECTS)?;
        Ok(objects.entries.into_iter().filter(|entry| entry.mode.is_tree()).collect())
    }

    fn object_blobs(&self, kind: Option<&Kind>) -> Result<Vec<(Cid, Oid)>> {
        let mut found = Vec::new();
        for folder in self.type_folders()? {
            if kind.is_none_or(|kind| folder.filename == kind.as_str()) {
                self.collect_objects(to_oid(&folder.oid), 0, &mut found)?;
            }
        }
        Ok(found)
    }

    fn collect_objects(&self, tree: Oid, depth: usize, found: &mut Vec<(Cid, Oid)>) -> Result<()> {
        // A digest has 32 bytes; deeper folders are nobody's fan-out.
        if depth > 32 {
            return Ok(());
        }
        for entry in self.repository.load_tree(tree)?.entries {
            if entry.mode.is_tree() {
                self.collect_objects(to_oid(&entry.oid), depth + 1, found)?;
            } else if let Ok(cid) = Cid::parse(&entry.filename.to_str_lossy()) {
                found.push((cid, to_oid(&entry.oid)));
            }
        }
        Ok(())
    }

    fn collect_notes(
        &self,
        tree: Option<Oid>,
        above: &str,
        found: &mut Vec<(Oid, Oid)>,
    ) -> Result<()> {
        let Some(tree) = tree.filter(|_| above.len() < 64) else { return Ok(()) };
        for entry in self.repository.load_tree(tree)?.entries {
            let name = format!("{above}{}", entry.filename);
            if entry.mode.is_tree() && entry.filename.len() == 2 && is_hex(&name) {
                self.collect_notes(Some(to_oid(&entry.oid)), &name, found)?;
            } else if let (true, Ok(commit)) = (is_note(&entry, &name), Oid::parse(&name)) {
                found.push((commit, to_oid(&entry.oid)));
            }
        }
        Ok(())
    }

    fn subtree(&self, tree: &Tree, name: &str) -> Result<Tree> {
        match find_entry(tree, name).filter(|entry| entry.mode.is_tree()) {
            Some(entry) => self.repository.load_tree(to_oid(&entry.oid)),
            None => Ok(Tree::empty()),
        }
    }

    fn checked(&self, cid: Cid, blob: Oid) -> Result<Vec<u8>> {
        let bytes = self.repository.read_blob(blob)?;
        if Cid::of(&bytes) != cid {
            return Err(Error::corrupt(format!("object {cid}"), "its bytes do not match its id"));
        }
        Ok(bytes)
    }

    fn text(&self, blob: Oid) -> Result<String> {
        Ok(String::from_utf8_lossy(&self.repository.read_blob(blob)?).into_owned())
    }
}

impl Leaf<'_> {
    /// The folder that holds this leaf if the one at `depth` has been split.
    fn shard(&self, depth: usize) -> &str {
        &self.key[2 * depth..2 * depth + 2]
    }

    /// The name of this leaf in a folder at `depth`.
    fn name(&self, depth: usize) -> &str {
        match self.style {
            LeafStyle::Note => &self.key[2 * depth..],
            LeafStyle::Object(name) => name,
        }
    }

    /// Tells whether an entry of the folder at `depth` is a leaf of the same style.
    fn is_like(&self, entry: &Entry, depth: usize) -> bool {
        let name = entry.filename.to_str_lossy();
        let is_leaf = match self.style {
            LeafStyle::Note => name.len() == self.key.len() - 2 * depth && is_hex(&name),
            LeafStyle::Object(_) => Cid::parse(&name).is_ok(),
        };
        !entry.mode.is_tree() && is_leaf
    }

    /// The whole key of another leaf in the folder at `depth`.
    fn key_of_sibling(&self, name: &str, depth: usize) -> String {
        match self.style {
            LeafStyle::Note => format!("{}{name}", &self.key[..2 * depth]),
            LeafStyle::Object(_) => key_of(Cid::parse(name).expect("only parsed ids are siblings")),
        }
    }
}

fn key_of(cid: Cid) -> String {
    cid.digest().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// Tells whether an entry may be a note of that name. Nobody writes ids in capitals, and who looks
/// for one note would not find it.
fn is_note(entry: &Entry, name: &str) -> bool {
    !entry.mode.is_tree() && is_hex(name)
}

fn find_entry<'a>(tree: &'a Tree, name: &str) -> Option<&'a Entry> {
    tree.entries.iter().find(|entry| entry.filename == name)
}

#[cfg(test)]
mod tests;
