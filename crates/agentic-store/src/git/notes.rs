//! Notes trees: git's notes, and beside them the typed objects of an agent.
//!
//! `<commit oid>` → note text as git keeps it, and `objects/<type>/…/<cid>` → the object's bytes.
//! Stock git keeps the `objects/` entries when it edits notes, because they do not look like notes.
//! Readers accept any fan-out. The writer restores ours where it writes: a folder with more than
//! [`SHARD_ENTRIES_MAX`] leaves splits by two more hexadecimal digits.

use agentic_model::{Cid, Kind, Oid, trace};
use gix::bstr::{BString, ByteSlice as _};
use gix::objs::tree::{Entry, EntryKind};
use gix::objs::{Tree, WriteTo as _};

use super::{RefMove, Repository, to_id, to_oid};
use crate::journal::{BranchMove, Content, GitKind, GitObject, KeptObject, NotesEdit, Transaction};
use crate::{Error, Result, fault};

/// How many leaves a folder of a notes tree holds before it splits.
pub const SHARD_ENTRIES_MAX: usize = 256;
/// How often a writer applies its edit again because somebody else moved the notes ref.
const RACES_MAX: usize = 1000;

/// One state of a notes ref.
pub struct Notes<'a> {
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
    pub fn notes(&self, name: &str) -> Result<Notes<'_>> {
        let tip = self.find_ref(name)?;
        self.notes_at(tip)
    }

    /// Opens the state of a notes ref that a notes commit describes.
    ///
    /// # Errors
    /// Fails when the commit is damaged.
    pub fn notes_at(&self, tip: Option<Oid>) -> Result<Notes<'_>> {
        let read = |tip| {
            let damaged = |error| Error::corrupt(format!("the notes commit {tip}"), error);
            self.read_commit(tip).map_err(damaged)
        };
        let tree = tip.map(read).transpose()?.map(|commit| commit.tree);
        Ok(Notes { repository: self, tip, tree })
    }

    /// Applies a transaction's notes edit to whatever the notes ref holds. Doing it again changes
    /// nothing.
    ///
    /// # Errors
    /// Fails when the ref is locked or cannot be written.
    pub fn apply_notes(&self, edit: &NotesEdit, transaction: &Transaction) -> Result<()> {
        for _ in 0..RACES_MAX {
            let notes = self.notes(&edit.name)?;
            let Some(tree) = notes.edited(edit)? else { return Ok(()) };
            fault::point("before-notes")?;
            let parents = notes.tip.into_iter().collect();
            match self.commit_notes(&edit.name, notes.tip, tree, parents, transaction)? {
                RefMove::Moved => return Ok(()),
                RefMove::Lost { .. } => {}
            }
        }
        Err(Error::RefLocked { name: edit.name.clone() })
    }

    /// Unites another state of a notes ref into ours, by a notes commit with two parents. Objects
    /// are united, note texts line by line. Returns whether anything changed.
    ///
    /// # Errors
    /// Fails when the ref is locked or cannot be written.
    pub fn unite_notes(&self, name: &str, theirs: Oid, transaction: &Transaction) -> Result<bool> {
        for _ in 0..RACES_MAX {
            let ours = self.notes(name)?;
            if ours.tip.is_some_and(|tip| tip == theirs) {
                return Ok(false);
            }
            let moved = match ours.tip {
                Some(tip) if self.is_ancestor(theirs, tip)? => return Ok(false),
                Some(tip) if !self.is_ancestor(tip, theirs)? => {
                    let edit = self.notes_at(Some(theirs))?.missing_from(&ours, name)?;
                    let tree = ours.edited(&edit)?.or(ours.tree).expect("ours has a tip");
                    self.commit_notes(name, ours.tip, tree, vec![tip, theirs], transaction)?
                }
                expect => {
                    let step = BranchMove { name: name.to_owned(), expect, new: theirs };
                    self.move_ref(&step, &transaction.committer, "agentic: fetch")?
                }
            };
            if moved == RefMove::Moved {
                return Ok(true);
            }
        }
        Err(Error::RefLocked { name: name.to_owned() })
    }

    fn commit_notes(
        &self,
        name: &str,
        expect: Option<Oid>,
        tree: Oid,
        parents: Vec<Oid>,
        transaction: &Transaction,
    ) -> Result<RefMove> {
        let commit = agentic_model::commit::CommitData {
            tree,
            parents,
            author: transaction.author.clone(),
            committer: transaction.committer.clone(),
            message: format!("agentic {}\n", transaction.verb),
        };
        let object = GitObject { kind: GitKind::Commit, bytes: commit.to_bytes() };
        let new = self.name_object(&object);
        self.write_objects(&[object])?;
        let step = BranchMove { name: name.to_owned(), expect, new };
        self.move_ref(&step, &transaction.committer, &format!("agentic: {}", transaction.verb))
    }

    fn load_tree(&self, oid: Oid) -> Result<Tree> {
        let failed = || Error::git::<gix::Error>(format!("read notes tree {oid}"));
        let tree = self.inner.find_tree(to_id(oid)).map_err(failed())?;
        let decoded = tree.decode();
        Ok(decoded.map_err(Error::git(format!("read notes tree {oid}")))?.into())
    }

    fn store_tree(&self, mut tree: Tree) -> Result<Oid> {
        tree.entries.sort();
        let mut bytes = Vec::new();
        tree.write_to(&mut bytes).map_err(Error::git("write a notes tree"))?;
        let object = GitObject { kind: GitKind::Tree, bytes };
        let oid = self.name_object(&object);
        self.write_objects(&[object])?;
        Ok(oid)
    }
}

impl Notes<'_> {
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

    /// Reads all objects of a type; an object whose bytes do not match its id is an error.
    ///
    /// # Errors
    /// Fails when the tree or an object is damaged.
    pub fn read_objects(&self, kind: &Kind) -> Result<Vec<(Cid, Vec<u8>)>> {
        let blobs = self.object_blobs(Some(kind))?;
        blobs.into_iter().map(|(cid, blob)| Ok((cid, self.checked(cid, blob)?))).collect()
    }

    /// Tells whether every folder, note and object of this state can be read.
    pub fn is_whole(&self) -> bool {
        let objects = || -> Result<()> {
            for (cid, blob) in self.object_blobs(None)? {
                self.checked(cid, blob)?;
            }
            Ok(())
        };
        self.all_notes().is_ok() && objects().is_ok()
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

    /// Returns the tree with an edit applied; nothing if the edit changes nothing.
    fn edited(&self, edit: &NotesEdit) -> Result<Option<Oid>> {
        let mut root = match self.tree {
            Some(tree) => self.repository.load_tree(tree)?,
            None => Tree::empty(),
        };
        for (commit, ours) in &edit.notes {
            let text = match self.note(*commit)? {
                Some(theirs) => trace::replace_in_note(&theirs, ours),
                None => ours.clone(),
            };
            let blob = self.store_blob(text.into_bytes())?;
            let key = commit.to_string();
            root = self.insert(root, &Leaf { key: &key, style: LeafStyle::Note }, 0, blob)?;
        }
        for object in &edit.objects {
            root = self.insert_object(root, object)?;
        }
        let tree = self.repository.store_tree(root)?;
        Ok((self.tree != Some(tree)).then_some(tree))
    }

    fn insert_object(&self, mut root: Tree, object: &KeptObject) -> Result<Tree> {
        let blob = match &object.content {
            Content::Inline(bytes) => self.store_blob(bytes.clone())?,
            Content::Stored(oid) => *oid,
        };
        let mut objects = self.subtree(&root, "objects")?;
        let mut kind = self.subtree(&objects, object.kind.as_str())?;
        let (key, name) = (key_of(object.cid), object.cid.to_string());
        kind = self.insert(kind, &Leaf { key: &key, style: LeafStyle::Object(&name) }, 0, blob)?;
        let kind = self.repository.store_tree(kind)?;
        set_entry(&mut objects, object.kind.as_str(), EntryKind::Tree, kind);
        let objects = self.repository.store_tree(objects)?;
        set_entry(&mut root, "objects", EntryKind::Tree, objects);
        Ok(root)
    }

    /// Puts a leaf where our fan-out wants it, and removes it from where another writer put it.
    fn insert(&self, mut tree: Tree, leaf: &Leaf<'_>, depth: usize, blob: Oid) -> Result<Tree> {
        let (shard, name) = (leaf.shard(depth), leaf.name(depth));
        if let Some(entry) = find_entry(&tree, shard).filter(|entry| entry.mode.is_tree()) {
            let inner = self.repository.load_tree(to_oid(&entry.oid))?;
            let inner = self.insert(inner, leaf, depth + 1, blob)?;
            let inner = self.repository.store_tree(inner)?;
            tree.entries.retain(|entry| entry.filename != name);
            set_entry(&mut tree, shard, EntryKind::Tree, inner);
            return Ok(tree);
        }
        set_entry(&mut tree, name, EntryKind::Blob, blob);
        let n_leaves = tree.entries.iter().filter(|entry| leaf.is_like(entry, depth)).count();
        if n_leaves > SHARD_ENTRIES_MAX {
            return self.split(tree, leaf, depth);
        }
        Ok(tree)
    }

    /// Moves all leaves of a folder one folder further in.
    fn split(&self, mut tree: Tree, like: &Leaf<'_>, depth: usize) -> Result<Tree> {
        let (leaves, rest): (Vec<Entry>, Vec<Entry>) =
            tree.entries.into_iter().partition(|entry| like.is_like(entry, depth));
        tree.entries = rest;
        for entry in leaves {
            let name = entry.filename.to_str_lossy().into_owned();
            let key = like.key_of_sibling(&name, depth);
            let style = match like.style {
                LeafStyle::Note => LeafStyle::Note,
                LeafStyle::Object(_) => LeafStyle::Object(&name),
            };
            let leaf = Leaf { key: &key, style };
            let mut inner = self.subtree(&tree, leaf.shard(depth))?;
            set_entry(&mut inner, leaf.name(depth + 1), EntryKind::Blob, to_oid(&entry.oid));
            let inner = self.repository.store_tree(inner)?;
            set_entry(&mut tree, leaf.shard(depth), EntryKind::Tree, inner);
        }
        Ok(tree)
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
        let objects = self.subtree(&root, "objects")?;
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
            } else if let (false, Ok(commit)) = (entry.mode.is_tree(), Oid::parse(&name)) {
                found.push((commit, to_oid(&entry.oid)));
            }
        }
        Ok(())
    }

    /// Lists what `ours` lacks, as an edit of it. Note texts are united line by line.
    fn missing_from(&self, ours: &Notes<'_>, name: &str) -> Result<NotesEdit> {
        let mut edit = NotesEdit { name: name.to_owned(), notes: Vec::new(), objects: Vec::new() };
        for (commit, text) in self.all_notes()? {
            let before = ours.note(commit)?.unwrap_or_default();
            if before != text {
                edit.notes.push((commit, unite_lines(&before, &text)));
            }
        }
        for folder in self.type_folders()? {
            let Ok(kind) = Kind::parse(&folder.filename.to_str_lossy()) else { continue };
            let known = ours.objects(Some(&kind))?;
            for (cid, bytes) in self.read_objects(&kind)? {
                if known.binary_search(&cid).is_err() {
                    let content = Content::Inline(bytes);
                    edit.objects.push(KeptObject { kind: kind.clone(), cid, content });
                }
            }
        }
        Ok(edit)
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

    fn store_blob(&self, bytes: Vec<u8>) -> Result<Oid> {
        let object = GitObject { kind: GitKind::Blob, bytes };
        let oid = self.repository.name_object(&object);
        self.repository.write_objects(&[object])?;
        Ok(oid)
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

fn find_entry<'a>(tree: &'a Tree, name: &str) -> Option<&'a Entry> {
    tree.entries.iter().find(|entry| entry.filename == name)
}

fn set_entry(tree: &mut Tree, name: &str, kind: EntryKind, oid: Oid) {
    tree.entries.retain(|entry| entry.filename != name);
    tree.entries.push(Entry { mode: kind.into(), filename: BString::from(name), oid: to_id(oid) });
}

/// Keeps the lines of `ours`, and appends those of `theirs` that it lacks.
fn unite_lines(ours: &str, theirs: &str) -> String {
    let mut lines: Vec<&str> = ours.lines().collect();
    for line in theirs.lines() {
        if line.is_empty() || !lines.contains(&line) {
            lines.push(line);
        }
    }
    let mut text = lines.join("\n");
    text.push('\n');
    text
}
