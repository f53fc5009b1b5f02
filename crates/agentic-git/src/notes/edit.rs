//! Editing notes trees: the new trees are made in memory, written, and then named by the ref.

use std::collections::BTreeMap;

use agentic_model::{Kind, Oid, trace};
use gix::bstr::{BString, ByteSlice as _};
use gix::objs::tree::{Entry, EntryKind};
use gix::objs::{Tree, TreeRef, WriteTo as _};

use super::{Leaf, LeafStyle, NotesState, OBJECTS, SHARD_ENTRIES_MAX, find_entry, key_of};
use crate::{RefMove, Repository, to_id, to_oid};
use agentic_store::error::RefError;
use agentic_store::ground::{Upkeep, unite_lines};
use agentic_store::journal::{
    BranchMove, ComparedNotes, Content, GitKind, GitObject, KeptObject, NotesEdit, Transaction,
};
use agentic_store::{Error, Result, fault};

/// How often a writer applies its edit again because somebody else moved the notes ref.
const RACES_MAX: usize = 1000;

/// A notes tree on its way to its next state. Nothing is written before it is finished.
pub(super) struct NotesDraft<'a> {
    notes: &'a NotesState<'a>,
    pub(super) root: Tree,
    fresh: BTreeMap<Oid, GitObject>,
}

/// A notes tree that is ready to be written: its id, and every object that it may lack.
pub(super) struct FinishedNotes {
    pub(super) tree: Oid,
    pub(super) objects: Vec<GitObject>,
    /// What the objects are called, in their order.
    names: Vec<Oid>,
}

impl Repository {
    /// Applies a transaction's notes edit to whatever the notes ref holds, after what has vanished
    /// from it. Doing it again changes nothing. Returns the state that this very move left.
    ///
    /// # Errors
    /// Fails when the ref is locked or cannot be written, and when its state cannot be read.
    pub fn apply_notes(
        &self,
        edit: &NotesEdit,
        transaction: &Transaction,
        upkeep: &Upkeep<'_>,
    ) -> Result<ComparedNotes> {
        for _ in 0..RACES_MAX {
            let notes = self.notes(&edit.name)?;
            let gap = self.vanished(&edit.name, &notes, upkeep)?;
            let mut draft = NotesDraft::of(&notes)?;
            draft.apply(&gap.edit)?;
            draft.apply(edit)?;
            let removed = gap.removed;
            let Some(draft) = draft.finish()? else {
                return Ok(ComparedNotes { tip: notes.tip, removed });
            };
            fault::point("before-notes")?;
            let parents = notes.tip.into_iter().collect();
            match self.commit_notes(&edit.name, notes.tip, draft, parents, transaction)? {
                (RefMove::Moved, new) => return Ok(ComparedNotes { tip: Some(new), removed }),
                (RefMove::Lost { .. }, _) => {}
            }
        }
        Err(Error::Ref(RefError::Locked { name: edit.name.clone() }))
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
                    let mut draft = NotesDraft::of(&ours)?;
                    draft.unite(&edit)?;
                    let unchanged = || FinishedNotes {
                        tree: ours.tree.expect("a tip has a tree"),
                        objects: Vec::new(),
                        names: Vec::new(),
                    };
                    let draft = draft.finish()?.unwrap_or_else(unchanged);
                    self.commit_notes(name, ours.tip, draft, vec![tip, theirs], transaction)?.0
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
        Err(Error::Ref(RefError::Locked { name: name.to_owned() }))
    }

    fn commit_notes(
        &self,
        name: &str,
        expect: Option<Oid>,
        draft: FinishedNotes,
        parents: Vec<Oid>,
        transaction: &Transaction,
    ) -> Result<(RefMove, Oid)> {
        let commit = agentic_model::commit::CommitData {
            tree: draft.tree,
            parents,
            author: transaction.author.clone(),
            committer: transaction.committer.clone(),
            message: format!("agentic {}\n", transaction.verb),
        };
        let object = GitObject { kind: GitKind::Commit, bytes: commit.to_bytes() };
        let new = self.name_object(&object);
        let FinishedNotes { mut objects, mut names, .. } = draft;
        objects.push(object);
        names.push(new);
        let written = self.write_named(&objects, || names)?;
        fault::point("notes-written")?;
        let step = BranchMove { name: name.to_owned(), expect, new };
        let why = format!("agentic: {}", transaction.verb);
        let moved = self.move_ref(&step, &transaction.committer, &why)?;
        // A prune that ran before the move may have taken some away.
        self.confirm_objects(&objects, &written)?;
        Ok((moved, new))
    }
}

impl NotesState<'_> {
    /// Lists what `ours` lacks, as an edit of it. Note texts are united line by line.
    fn missing_from(&self, ours: &NotesState<'_>, name: &str) -> Result<NotesEdit> {
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
}

impl<'a> NotesDraft<'a> {
    pub(super) fn of(notes: &'a NotesState<'a>) -> Result<NotesDraft<'a>> {
        let root = match notes.tree {
            Some(tree) => notes.repository.load_tree(tree)?,
            None => Tree::empty(),
        };
        Ok(NotesDraft { notes, root, fresh: BTreeMap::new() })
    }

    /// Sets notes and adds objects. A note text that somebody changed is kept, and ours replaced in
    /// it or appended.
    fn apply(&mut self, edit: &NotesEdit) -> Result<()> {
        let mut root = std::mem::replace(&mut self.root, Tree::empty());
        for (commit, ours) in &edit.notes {
            let text = match self.text_of(*commit)? {
                Some(theirs) => trace::replace_in_note(&theirs, ours),
                None => ours.clone(),
            };
            root = self.insert_note(root, *commit, text)?;
        }
        self.root = self.insert_objects(root, edit)?;
        Ok(())
    }

    /// Sets notes whose texts have in them already what the ref has, and adds objects. To put them
    /// into the texts of the ref once more would repeat what people wrote there.
    fn unite(&mut self, edit: &NotesEdit) -> Result<()> {
        let mut root = std::mem::replace(&mut self.root, Tree::empty());
        for (commit, text) in &edit.notes {
            root = self.insert_note(root, *commit, text.clone())?;
        }
        self.root = self.insert_objects(root, edit)?;
        Ok(())
    }

    fn insert_note(&mut self, root: Tree, commit: Oid, text: String) -> Result<Tree> {
        self.insert_note_bytes(root, commit, text.into_bytes())
    }

    pub(super) fn insert_note_bytes(
        &mut self,
        root: Tree,
        commit: Oid,
        text: Vec<u8>,
    ) -> Result<Tree> {
        let blob = self.store(GitKind::Blob, text);
        let key = commit.to_string();
        self.insert(root, &Leaf { key: &key, style: LeafStyle::Note }, 0, blob)
    }

    fn insert_objects(&mut self, mut root: Tree, edit: &NotesEdit) -> Result<Tree> {
        for object in &edit.objects {
            root = self.insert_object(root, object)?;
        }
        Ok(root)
    }

    /// Reads a note as the ref has it. One that the disk lost says nothing any more.
    fn text_of(&self, commit: Oid) -> Result<Option<String>> {
        let key = commit.to_string();
        let leaf = Leaf { key: &key, style: LeafStyle::Note };
        let Some(blob) = self.notes.find(self.notes.tree, &leaf, 0)? else { return Ok(None) };
        match self.notes.text(blob) {
            Err(_) if self.notes.repository.verify_object(blob).is_err() => Ok(None),
            text => text.map(Some),
        }
    }

    /// Returns the new tree with the objects that it needs; nothing if nothing changed.
    pub(super) fn finish(mut self) -> Result<Option<FinishedNotes>> {
        let root = std::mem::replace(&mut self.root, Tree::empty());
        let tree = self.store_tree(root)?;
        if self.notes.tree == Some(tree) {
            return Ok(None);
        }
        let mut finished = FinishedNotes { tree, objects: Vec::new(), names: Vec::new() };
        self.take_reachable(tree, &mut finished)?;
        Ok(Some(finished))
    }

    /// Moves the fresh objects below a tree over, those that are named before those that name them.
    /// States in between, which several edits of one folder leave, stay behind.
    fn take_reachable(&mut self, oid: Oid, finished: &mut FinishedNotes) -> Result<()> {
        let Some(object) = self.fresh.remove(&oid) else { return Ok(()) };
        if object.kind == GitKind::Tree {
            for entry in decode(oid, &object.bytes)?.entries {
                self.take_reachable(to_oid(&entry.oid), finished)?;
            }
        }
        finished.objects.push(object);
        finished.names.push(oid);
        Ok(())
    }

    pub(super) fn insert_object(&mut self, mut root: Tree, object: &KeptObject) -> Result<Tree> {
        let blob = match &object.content {
            Content::Inline(bytes) => self.store(GitKind::Blob, bytes.clone()),
            Content::Stored(oid) => *oid,
        };
        let mut objects = self.subtree(&root, OBJECTS)?;
        let mut kind = self.subtree(&objects, object.kind.as_str())?;
        let (key, name) = (key_of(object.cid), object.cid.to_string());
        kind = self.insert(kind, &Leaf { key: &key, style: LeafStyle::Object(&name) }, 0, blob)?;
        let kind = self.store_tree(kind)?;
        set_entry(&mut objects, object.kind.as_str(), EntryKind::Tree, kind);
        let objects = self.store_tree(objects)?;
        set_entry(&mut root, OBJECTS, EntryKind::Tree, objects);
        Ok(root)
    }

    /// Puts a leaf where our fan-out wants it, and removes it from where another writer put it.
    fn insert(&mut self, mut tree: Tree, leaf: &Leaf<'_>, depth: usize, blob: Oid) -> Result<Tree> {
        let (shard, name) = (leaf.shard(depth), leaf.name(depth));
        if let Some(entry) = find_entry(&tree, shard).filter(|entry| entry.mode.is_tree()) {
            let inner = self.load(to_oid(&entry.oid))?;
            let inner = self.insert(inner, leaf, depth + 1, blob)?;
            let inner = self.store_tree(inner)?;
            tree.entries.retain(|entry| entry.filename != name);
            set_entry(&mut tree, shard, EntryKind::Tree, inner);
            return Ok(tree);
        }
        set_entry(&mut tree, name, EntryKind::Blob, blob);
        let leaves = tree.entries.iter().filter(|entry| leaf.is_like(entry, depth));
        // To look at every name takes longer than all else here, and mostly there are too few.
        if tree.entries.len() > SHARD_ENTRIES_MAX && leaves.count() > SHARD_ENTRIES_MAX {
            return self.split(tree, leaf, depth);
        }
        Ok(tree)
    }

    /// Moves all leaves of a folder one folder further in.
    fn split(&mut self, mut tree: Tree, like: &Leaf<'_>, depth: usize) -> Result<Tree> {
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
            let inner = self.store_tree(inner)?;
            set_entry(&mut tree, leaf.shard(depth), EntryKind::Tree, inner);
        }
        Ok(tree)
    }

    pub(super) fn subtree(&self, tree: &Tree, name: &str) -> Result<Tree> {
        match find_entry(tree, name).filter(|entry| entry.mode.is_tree()) {
            Some(entry) => self.load(to_oid(&entry.oid)),
            None => Ok(Tree::empty()),
        }
    }

    pub(super) fn load(&self, oid: Oid) -> Result<Tree> {
        match self.fresh.get(&oid) {
            Some(object) => decode(oid, &object.bytes),
            None => self.notes.repository.load_tree(oid),
        }
    }

    pub(super) fn store_tree(&mut self, mut tree: Tree) -> Result<Oid> {
        tree.entries.sort();
        let mut bytes = Vec::new();
        tree.write_to(&mut bytes).map_err(Error::git("write a notes tree"))?;
        Ok(self.store(GitKind::Tree, bytes))
    }

    pub(super) fn store(&mut self, kind: GitKind, bytes: Vec<u8>) -> Oid {
        let object = GitObject { kind, bytes };
        let oid = self.notes.repository.name_object(&object);
        self.fresh.insert(oid, object);
        oid
    }
}

pub(super) fn decode(oid: Oid, bytes: &[u8]) -> Result<Tree> {
    let tree = TreeRef::from_bytes(bytes, to_id(oid).kind());
    Ok(tree.map_err(Error::git_with(|| format!("read notes tree {oid}")))?.into())
}

pub(super) fn set_entry(tree: &mut Tree, name: &str, kind: EntryKind, oid: Oid) {
    tree.entries.retain(|entry| entry.filename != name);
    tree.entries.push(Entry { mode: kind.into(), filename: BString::from(name), oid: to_id(oid) });
}
