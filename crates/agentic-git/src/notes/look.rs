//! Looking whether a notes ref has what a log says, as the disk has it: every tree and blob on the way
//! is read from there and hashed. What is remembered says nothing about the disk.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::{Cid, Kind, Oid, trace};
use gix::objs::Tree;

use super::difference::LeafName;
use super::edit::decode;
use super::{Leaf, LeafStyle, OBJECTS, find_entry, key_of};
use crate::{Repository, to_oid};
use agentic_store::ground::NotesGap;
use agentic_store::journal::{Content, GitKind, KeptObject, LoggedEdits, LoggedNote};
use agentic_store::{Error, Result};

/// How many notes commits are looked at to find out who removed a note.
const HISTORY_MAX: usize = 10_000;

/// One state of a notes ref as the disk has it.
struct DiskNotes<'a> {
    repository: &'a Repository,
    root: Option<Oid>,
    trees: BTreeMap<Oid, Tree>,
}

impl Repository {
    /// Lists what a state of a notes ref lacks of logged edits, or has in a way that cannot be read.
    ///
    /// # Errors
    /// Fails when its commit or a tree cannot be read, and when it lacks what nothing here has.
    pub fn notes_gap(&self, name: &str, tip: Option<Oid>, edits: &LoggedEdits) -> Result<NotesGap> {
        let mut gap = NotesGap::none(name);
        let mut disk = DiskNotes::open(self, tip)?;
        let mut absent = BTreeSet::new();
        for (commit, note) in &edits.notes {
            match disk.note(*commit)? {
                FoundNote::Text(text) if self.is_kept(&text, note) => {}
                FoundNote::Absent => drop(absent.insert(*commit)),
                FoundNote::Text(_) | FoundNote::Unreadable => {
                    gap.edit.notes.push((*commit, note.text.clone()));
                }
            }
        }
        gap.removed = self.removed_by_themselves(tip, absent.clone(), None).into_iter().collect();
        for commit in absent.iter().filter(|commit| !gap.removed.contains(commit)) {
            gap.edit.notes.push((*commit, edits.notes[commit].text.clone()));
        }
        for object in edits.objects.values() {
            if disk.object(&object.kind, object.cid)? {
                continue;
            }
            gap.edit.objects.push(self.writable(object)?);
        }
        Ok(gap)
    }

    /// Tells whether a note has ours, or one that somebody elsewhere bound later: the state before
    /// ours does not know its trace.
    fn is_kept(&self, text: &str, note: &LoggedNote) -> bool {
        if trace::holds_note(text, &note.text) {
            return true;
        }
        let Some(theirs) = trace::cid_in_note(text) else { return false };
        let before = self.notes_at(note.before).and_then(|before| before.object(theirs));
        matches!(before, Ok(None))
    }

    /// Makes sure that an object can be put back.
    fn writable(&self, object: &KeptObject) -> Result<KeptObject> {
        if let Content::Stored(blob) = object.content {
            self.verify_object(blob)?;
        }
        Ok(object.clone())
    }

    /// Finds those notes that a person removed: the notes commit that lacks one changes nothing else.
    /// What cannot be read or is older than `until` tells nothing.
    pub(super) fn removed_by_themselves(
        &self,
        tip: Option<Oid>,
        mut absent: BTreeSet<Oid>,
        until: Option<Oid>,
    ) -> BTreeSet<Oid> {
        let mut removed = BTreeSet::new();
        let mut next = tip;
        for _ in 0..HISTORY_MAX {
            let Some(oid) = next.filter(|oid| !absent.is_empty() && Some(*oid) != until) else {
                break;
            };
            let Ok(commit) = self.read_commit(oid) else { break };
            let Some(parent) = commit.parents.first() else { break };
            let Ok(before) = self.read_commit(*parent) else { break };
            let Ok(changes) = self.leaf_changes(Some(before.tree), Some(commit.tree)) else {
                break;
            };
            for change in changes.iter().filter(|change| change.new.is_none()) {
                if let LeafName::Note(annotated) = change.name
                    && absent.remove(&annotated)
                    && changes.len() == 1
                {
                    removed.insert(annotated);
                }
            }
            next = Some(*parent);
        }
        removed
    }
}

/// What the disk has of a note.
enum FoundNote {
    Text(String),
    Absent,
    Unreadable,
}

impl<'a> DiskNotes<'a> {
    fn open(repository: &'a Repository, tip: Option<Oid>) -> Result<DiskNotes<'a>> {
        let root = tip.map(|tip| {
            repository.verify_object(tip)?;
            Ok::<Oid, Error>(repository.read_commit(tip)?.tree)
        });
        Ok(DiskNotes { repository, root: root.transpose()?, trees: BTreeMap::new() })
    }

    fn note(&mut self, commit: Oid) -> Result<FoundNote> {
        let key = commit.to_string();
        let leaf = Leaf { key: &key, style: LeafStyle::Note };
        let Some(blob) = self.find(self.root, &leaf, 0)? else { return Ok(FoundNote::Absent) };
        Ok(match self.repository.verify_object(blob) {
            Ok(object) => FoundNote::Text(String::from_utf8_lossy(&object.bytes).into_owned()),
            Err(_) => FoundNote::Unreadable,
        })
    }

    /// Tells whether an object is there and is the one that its name says.
    fn object(&mut self, kind: &Kind, cid: Cid) -> Result<bool> {
        let mut tree = self.root;
        for folder in [OBJECTS, kind.as_str()] {
            let Some(above) = tree else { return Ok(false) };
            let found = find_entry(self.tree(above)?, folder).filter(|it| it.mode.is_tree());
            tree = found.map(|entry| to_oid(&entry.oid));
        }
        let (key, name) = (key_of(cid), cid.to_string());
        let leaf = Leaf { key: &key, style: LeafStyle::Object(&name) };
        let Some(blob) = self.find(tree, &leaf, 0)? else { return Ok(false) };
        Ok(self.repository.verify_object(blob).is_ok_and(|object| Cid::of(&object.bytes) == cid))
    }

    fn find(&mut self, tree: Option<Oid>, leaf: &Leaf<'_>, depth: usize) -> Result<Option<Oid>> {
        let Some(oid) = tree.filter(|_| 2 * depth < leaf.key.len()) else { return Ok(None) };
        let tree = self.tree(oid)?;
        let found = find_entry(tree, leaf.name(depth)).filter(|entry| !entry.mode.is_tree());
        if let Some(entry) = found {
            return Ok(Some(to_oid(&entry.oid)));
        }
        let inner = find_entry(tree, leaf.shard(depth)).filter(|entry| entry.mode.is_tree());
        let inner = inner.map(|entry| to_oid(&entry.oid));
        self.find(inner, leaf, depth + 1)
    }

    fn tree(&mut self, oid: Oid) -> Result<&Tree> {
        if !self.trees.contains_key(&oid) {
            let object = self.repository.verify_object(oid)?;
            if object.kind != GitKind::Tree {
                return Err(Error::corrupt(format!("notes tree {oid}"), "it is no tree"));
            }
            self.trees.insert(oid, decode(oid, &object.bytes)?);
        }
        Ok(&self.trees[&oid])
    }
}
