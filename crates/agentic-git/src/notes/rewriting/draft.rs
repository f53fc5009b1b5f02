//! One history on its way to its new form, commit by commit.

use std::collections::BTreeMap;
use std::rc::Rc;

use agentic_model::Oid;
use gix::objs::Tree;
use gix::objs::tree::EntryKind;

use super::{HistorySort, HistoryStep, LeafRewrites, entry_oids};
use crate::notes::difference::LeafName;
use crate::notes::edit::{NotesDraft, set_entry};
use crate::notes::{Leaf, LeafStyle, OBJECTS, find_entry, key_of};
use crate::{Repository, to_oid};
use agentic_store::Result;
use agentic_store::journal::{Content, GitKind, GitObject, KeptObject};

/// The leaves of one state that become others, and their blobs.
type ConcernedLeaves = BTreeMap<LeafName, Oid>;

/// A history on its way to its new form.
pub(super) struct HistoryDraft<'r> {
    repository: &'r Repository,
    rewrites: &'r LeafRewrites,
    /// What states of notes have become to archives, where that is more than their history made again.
    ends: BTreeMap<Oid, Oid>,
    /// Which commits became which.
    pub commits: BTreeMap<Oid, Oid>,
    /// The leaves of each state that become others.
    concerned: BTreeMap<Oid, Rc<ConcernedLeaves>>,
    /// What is to be written.
    pub fresh: Vec<GitObject>,
}

impl<'r> HistoryDraft<'r> {
    /// Begins; to archives some states of notes have become others already.
    pub fn new(
        repository: &'r Repository,
        rewrites: &'r LeafRewrites,
        ends: BTreeMap<Oid, Oid>,
    ) -> HistoryDraft<'r> {
        let (commits, concerned) = (BTreeMap::new(), BTreeMap::new());
        HistoryDraft { repository, rewrites, ends, commits, concerned, fresh: Vec::new() }
    }

    /// Returns what a commit has become, to one of such a sort.
    fn new_of(&self, sort: HistorySort, oid: Oid) -> Option<Oid> {
        let end = self.ends.get(&oid).or_else(|| self.rewrites.commits.get(&oid));
        let end = end.filter(|_| sort == HistorySort::Archive);
        end.or_else(|| self.commits.get(&oid)).copied()
    }

    /// Makes one commit again, if it or something before it concerns the rewriting.
    pub fn take(&mut self, step: &HistoryStep) -> Result<()> {
        let mut concerned = match step.base {
            Some(base) => self.concerned.get(&base).cloned().unwrap_or_default(),
            None => Rc::default(),
        };
        for change in &step.changes {
            if concerned.contains_key(&change.name) {
                Rc::make_mut(&mut concerned).remove(&change.name);
            }
            if let Some(blob) = change.new
                && self.concerns(step.sort, &change.name, blob)?
            {
                Rc::make_mut(&mut concerned).insert(change.name.clone(), blob);
            }
        }
        let object = self.repository.verify_object(step.commit)?;
        let commit = self.repository.read_commit(step.commit)?;
        let tree = match concerned.is_empty() {
            true => commit.tree,
            false => self.new_tree(step, &concerned)?,
        };
        self.concerned.insert(step.commit, concerned);
        if tree != commit.tree
            || commit.parents.iter().any(|it| self.new_of(step.sort, *it).is_some())
        {
            let bytes = self.renamed(step.sort, &object.bytes, tree);
            let object = GitObject { kind: GitKind::Commit, bytes };
            self.commits.insert(step.commit, self.repository.name_object(&object));
            self.fresh.push(object);
        }
        Ok(())
    }

    /// Tells whether a leaf becomes another one.
    fn concerns(&self, sort: HistorySort, name: &LeafName, blob: Oid) -> Result<bool> {
        if self.rewrites.blobs.contains_key(&blob) {
            return Ok(true);
        }
        Ok(match (sort, name) {
            (_, LeafName::Object(_, cid)) => self.rewrites.objects.contains_key(cid),
            (HistorySort::Archive, _) => {
                let oids = entry_oids(&self.repository.read_blob(blob)?);
                oids.iter().any(|(_, oid)| self.new_of(sort, *oid).is_some())
            }
            (HistorySort::Notes, LeafName::Note(commit)) => {
                self.rewrites.commits.contains_key(commit)
            }
            (HistorySort::Notes, LeafName::Other(_)) => false,
        })
    }

    fn new_tree(&mut self, step: &HistoryStep, concerned: &ConcernedLeaves) -> Result<Oid> {
        let state = self.repository.notes_at(Some(step.commit))?;
        let mut draft = NotesDraft::of(&state)?;
        for (name, blob) in concerned {
            let content = self.content(step.sort, *blob)?;
            let root = std::mem::replace(&mut draft.root, Tree::empty());
            draft.root = match name {
                LeafName::Object(_, cid) => match self.rewrites.objects.get(cid) {
                    Some(object) => {
                        let root = draft.without_object(root, name)?;
                        draft.insert_object(root, &KeptObject::from(object))?
                    }
                    None => draft.with_object_bytes(root, name, content)?,
                },
                LeafName::Note(commit) => {
                    let key = commit.to_string();
                    let leaf = Leaf { key: &key, style: LeafStyle::Note };
                    let root = draft.remove(root, &leaf, 0)?;
                    let commit = self.rewrites.commits.get(commit).unwrap_or(commit);
                    draft.insert_note_bytes(root, *commit, content)?
                }
                LeafName::Other(path) => {
                    let parts: Vec<String> =
                        path.to_string().split('/').map(str::to_owned).collect();
                    draft.put_path(root, &parts, content)?
                }
            };
        }
        let finished = draft.finish()?;
        let tree = self.repository.read_commit(step.commit)?.tree;
        let Some(finished) = finished else { return Ok(tree) };
        self.fresh.extend(finished.objects);
        Ok(finished.tree)
    }

    /// Returns what a leaf holds from now on.
    fn content(&self, sort: HistorySort, blob: Oid) -> Result<Vec<u8>> {
        let mut content = match self.rewrites.blobs.get(&blob) {
            Some(content) => content.clone(),
            None => self.repository.read_blob(blob)?,
        };
        if sort == HistorySort::Archive {
            let mut text = String::from_utf8_lossy(&content).into_owned();
            for (_, oid) in entry_oids(&content) {
                if let Some(new) = self.new_of(sort, oid) {
                    text = text.replace(&oid.to_string(), &new.to_string());
                }
            }
            content = text.into_bytes();
        }
        Ok(content)
    }

    /// Writes a commit with other trees and parents, and everything else as it was.
    fn renamed(&self, sort: HistorySort, bytes: &[u8], tree: Oid) -> Vec<u8> {
        let head =
            bytes.windows(2).position(|pair| pair == b"\n\n").map_or(bytes.len(), |at| at + 1);
        let (headers, rest) = bytes.split_at(head);
        let mut out = Vec::with_capacity(bytes.len());
        for line in headers.split_inclusive(|byte| *byte == b'\n') {
            let parent = line.strip_prefix(b"parent ").map(<[u8]>::trim_ascii_end);
            let parent = parent.and_then(|oid| Oid::parse(std::str::from_utf8(oid).ok()?).ok());
            if line.starts_with(b"tree ") {
                out.extend_from_slice(format!("tree {tree}\n").as_bytes());
            } else if let Some(new) = parent.and_then(|parent| self.new_of(sort, parent)) {
                out.extend_from_slice(format!("parent {new}\n").as_bytes());
            } else {
                out.extend_from_slice(line);
            }
        }
        out.extend_from_slice(rest);
        out
    }
}

impl NotesDraft<'_> {
    /// Takes a leaf away, wherever some writer's fan-out has it.
    fn remove(&mut self, mut tree: Tree, leaf: &Leaf<'_>, depth: usize) -> Result<Tree> {
        if 2 * depth >= leaf.key.len() {
            return Ok(tree);
        }
        let name = leaf.name(depth);
        tree.entries.retain(|entry| entry.mode.is_tree() || entry.filename != name);
        let shard = leaf.shard(depth);
        let inner = find_entry(&tree, shard).filter(|entry| entry.mode.is_tree());
        if let Some(inner) = inner.map(|entry| to_oid(&entry.oid)) {
            let inner = self.load(inner)?;
            let inner = self.remove(inner, leaf, depth + 1)?;
            tree = self.with_folder(tree, shard, inner)?;
        }
        Ok(tree)
    }

    fn without_object(&mut self, root: Tree, name: &LeafName) -> Result<Tree> {
        let LeafName::Object(kind, cid) = name else { return Ok(root) };
        let (key, text) = (key_of(*cid), cid.to_string());
        let leaf = Leaf { key: &key, style: LeafStyle::Object(&text) };
        let objects = self.subtree(&root, OBJECTS)?;
        let folder = self.subtree(&objects, kind.as_str())?;
        let folder = self.remove(folder, &leaf, 0)?;
        let objects = self.with_folder(objects, kind.as_str(), folder)?;
        self.with_folder(root, OBJECTS, objects)
    }

    /// Gives a leaf that is called like an object, and is none, other bytes.
    fn with_object_bytes(&mut self, root: Tree, name: &LeafName, bytes: Vec<u8>) -> Result<Tree> {
        let LeafName::Object(kind, cid) = name else { return Ok(root) };
        let root = self.without_object(root, name)?;
        let content = Content::Inline(bytes);
        self.insert_object(root, &KeptObject { kind: kind.clone(), cid: *cid, content })
    }

    /// Puts a file that is nobody's note at its path.
    fn put_path(&mut self, mut tree: Tree, parts: &[String], bytes: Vec<u8>) -> Result<Tree> {
        let Some((first, rest)) = parts.split_first() else { return Ok(tree) };
        if rest.is_empty() {
            let blob = self.store(GitKind::Blob, bytes);
            set_entry(&mut tree, first, EntryKind::Blob, blob);
            return Ok(tree);
        }
        let inner = self.subtree(&tree, first)?;
        let inner = self.put_path(inner, rest, bytes)?;
        self.with_folder(tree, first, inner)
    }

    /// Puts a folder in the place of one; git keeps no empty ones.
    fn with_folder(&mut self, mut tree: Tree, name: &str, folder: Tree) -> Result<Tree> {
        match folder.entries.is_empty() {
            true => tree.entries.retain(|entry| entry.filename != name),
            false => {
                let folder = self.store_tree(folder)?;
                set_entry(&mut tree, name, EntryKind::Tree, folder);
            }
        }
        Ok(tree)
    }
}
