//! Histories of notes made again: with other leaves, and all else as it was.
//!
//! A purge takes a value out of every state that a notes ref ever had, so that the audit of what was
//! bound when survives without it. Commits that nothing concerns keep their ids; from the first that
//! something does, author, committer, dates and texts stay, and trees and parents are new ones. The
//! archives' commits are followed to the notes that they keep.

mod draft;

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::{Cid, Object, Oid};

use self::draft::HistoryDraft;
use super::OBJECTS;
use super::difference::{LeafChange, LeafName};
use crate::Repository;
use agentic_store::Result;

/// How many new objects are written at once.
const BATCH_OBJECTS: usize = 512;
/// How the messages of an archive's own commits begin.
const ARCHIVE_MESSAGES: [&str; 2] = ["agentic archive", "agentic agent "];

/// What the commits of a history keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistorySort {
    /// Notes and objects.
    Notes,
    /// Entries of agents, and as parents what they had.
    Archive,
}

/// A ref whose history is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryRoot {
    /// The full name of the ref.
    pub name: String,
    /// Where it is.
    pub tip: Oid,
    /// What its commits keep.
    pub sort: HistorySort,
}

/// A file that some state of a history has, and the first commit that brought it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryLeaf {
    /// The ref in whose history it was found first.
    pub reference: String,
    /// The commit.
    pub commit: Oid,
    /// What it is called, wherever its folder is.
    pub path: String,
    /// The typed object that it is, if it is one.
    pub object: Option<Cid>,
    /// Its blob.
    pub blob: Oid,
}

/// What leaves become.
#[derive(Debug, Clone, Default)]
pub struct LeafRewrites {
    /// Typed objects, by the ids that they had.
    pub objects: BTreeMap<Cid, Object>,
    /// Other leaves, by the blobs that they were.
    pub blobs: BTreeMap<Oid, Vec<u8>>,
    /// Commits of branches that became others: their notes go along, and archives keep the new ones.
    pub commits: BTreeMap<Oid, Oid>,
}

/// Histories, read as far as leaves change in them.
#[derive(Debug, Default)]
pub struct NotesHistory {
    /// All commits, each after its parents.
    steps: Vec<HistoryStep>,
    /// The refs, and how many steps there were when each had been read.
    names: Vec<(String, usize)>,
    seen: BTreeSet<Oid>,
}

/// One commit of a history.
#[derive(Debug)]
struct HistoryStep {
    commit: Oid,
    sort: HistorySort,
    /// The state that it follows on.
    base: Option<Oid>,
    parents: Vec<Oid>,
    changes: Vec<LeafChange>,
}

/// A commit that is still to be visited.
enum Visit {
    Enter(Oid, HistorySort),
    Leave(HistoryStep),
}

impl NotesHistory {
    /// Lists all leaves that any state has, each version once.
    pub fn leaves(&self) -> Vec<HistoryLeaf> {
        let mut seen = BTreeSet::new();
        let mut leaves = Vec::new();
        for (at, step) in self.steps.iter().enumerate() {
            let root = self.names.partition_point(|(_, end)| *end <= at);
            let reference = self.names.get(root).map_or("", |(name, _)| name.as_str());
            for change in &step.changes {
                let Some(blob) = change.new.filter(|blob| seen.insert((&change.name, *blob)))
                else {
                    continue;
                };
                let (path, object) = match &change.name {
                    LeafName::Note(commit) => (commit.to_string(), None),
                    LeafName::Object(kind, cid) => (format!("{OBJECTS}/{kind}/{cid}"), Some(*cid)),
                    LeafName::Other(path) => (path.to_string(), None),
                };
                let (reference, commit) = (reference.to_owned(), step.commit);
                leaves.push(HistoryLeaf { reference, commit, path, object, blob });
            }
        }
        leaves
    }
}

impl Repository {
    /// Lists where branches of agents are, or were, that the archives among some histories keep.
    ///
    /// # Errors
    /// Fails when an entry of an archive cannot be read.
    pub fn archived_heads(&self, history: &NotesHistory) -> Result<BTreeSet<Oid>> {
        let archives = history.steps.iter().filter(|step| step.sort == HistorySort::Archive);
        let mut heads = BTreeSet::new();
        for blob in archives.flat_map(|step| &step.changes).filter_map(|change| change.new) {
            let named = entry_oids(&self.read_blob(blob)?).into_iter();
            heads.extend(named.filter(|(word, _)| *word == EntryWord::Head).map(|(_, oid)| oid));
        }
        Ok(heads)
    }

    /// Reads histories.
    ///
    /// # Errors
    /// Fails when a commit or a tree is damaged.
    pub fn notes_history(&self, roots: &[HistoryRoot]) -> Result<NotesHistory> {
        let mut history = NotesHistory::default();
        for root in roots {
            let mut stack = vec![Visit::Enter(root.tip, root.sort)];
            while let Some(visit) = stack.pop() {
                match visit {
                    Visit::Leave(step) => history.steps.push(step),
                    Visit::Enter(oid, _) if !history.seen.insert(oid) => {}
                    Visit::Enter(oid, sort) => {
                        let (step, parents) = self.history_step(oid, sort)?;
                        stack.push(Visit::Leave(step));
                        let parents = parents.into_iter();
                        stack.extend(parents.map(|(parent, sort)| Visit::Enter(parent, sort)));
                    }
                }
            }
            history.names.push((root.name.clone(), history.steps.len()));
        }
        Ok(history)
    }

    /// Makes histories again with other leaves, and writes what they need without syncing it. Returns
    /// which commits became which; those that are not named stayed. Of states of notes that have become
    /// others, archives keep these.
    ///
    /// # Errors
    /// Fails when an object cannot be read, and when the disk does.
    pub fn rewrite_history(
        &self,
        history: &NotesHistory,
        rewrites: &LeafRewrites,
        ends: BTreeMap<Oid, Oid>,
    ) -> Result<BTreeMap<Oid, Oid>> {
        let mut draft = HistoryDraft::new(self, rewrites, ends);
        for step in &history.steps {
            draft.take(step)?;
            if draft.fresh.len() >= BATCH_OBJECTS {
                let _kept_by_their_youth = self.write_objects(&std::mem::take(&mut draft.fresh))?;
            }
        }
        let _kept_by_their_youth = self.write_objects(&draft.fresh)?;
        Ok(draft.commits)
    }

    /// Lists the commits that [`Repository::rewrite_history`] would make others of. Writes nothing.
    ///
    /// # Errors
    /// Fails when an entry of an archive cannot be read.
    pub fn concerned_commits(
        &self,
        history: &NotesHistory,
        rewrites: &LeafRewrites,
    ) -> Result<BTreeSet<Oid>> {
        let mut concerned = BTreeSet::new();
        for step in &history.steps {
            let is_moved =
                |oid: &Oid| step.sort == HistorySort::Archive && rewrites.commits.contains_key(oid);
            let mut is_concerned =
                step.parents.iter().any(|parent| concerned.contains(parent) || is_moved(parent));
            for change in &step.changes {
                let Some(blob) = change.new.filter(|_| !is_concerned) else { continue };
                is_concerned = rewrites.blobs.contains_key(&blob)
                    || match &change.name {
                        LeafName::Object(_, cid) => rewrites.objects.contains_key(cid),
                        LeafName::Note(commit) => rewrites.commits.contains_key(commit),
                        LeafName::Other(_) => false,
                    };
                if !is_concerned && step.sort == HistorySort::Archive {
                    let named = entry_oids(&self.read_blob(blob)?);
                    is_concerned =
                        named.iter().any(|(_, oid)| concerned.contains(oid) || is_moved(oid));
                }
            }
            if is_concerned {
                concerned.insert(step.commit);
            }
        }
        Ok(concerned)
    }

    /// Reads one commit, and which parents belong to a history too.
    fn history_step(
        &self,
        oid: Oid,
        sort: HistorySort,
    ) -> Result<(HistoryStep, Vec<(Oid, HistorySort)>)> {
        let commit = self.read_commit(oid)?;
        let first = commit.parents.first().copied();
        let base = match sort {
            HistorySort::Notes => first,
            HistorySort::Archive => {
                let mut own = None;
                if let Some(first) = first
                    && self.is_archive_commit(first)?
                {
                    own = Some(first);
                }
                own
            }
        };
        let before = base.map(|base| self.read_commit(base)).transpose()?;
        let changes = self.leaf_changes(before.map(|it| it.tree), Some(commit.tree))?;
        let parents = match sort {
            HistorySort::Notes => {
                commit.parents.iter().map(|parent| (*parent, HistorySort::Notes)).collect()
            }
            HistorySort::Archive => self.kept_by_archive(&commit.parents, &changes)?,
        };
        let step = HistoryStep { commit: oid, sort, base, parents: commit.parents, changes };
        Ok((step, parents))
    }

    /// Tells the parents of an archive's commit that are notes or archives from the branches.
    fn kept_by_archive(
        &self,
        parents: &[Oid],
        changes: &[LeafChange],
    ) -> Result<Vec<(Oid, HistorySort)>> {
        let (mut notes, mut own_heads) = (BTreeSet::new(), BTreeSet::new());
        for blob in changes.iter().filter_map(|change| change.new) {
            for (word, oid) in entry_oids(&self.read_blob(blob)?) {
                match word {
                    EntryWord::Notes => notes.insert(oid),
                    EntryWord::Head => own_heads.insert(oid),
                };
            }
        }
        let mut kept = Vec::new();
        for parent in parents {
            if notes.contains(parent) {
                kept.push((*parent, HistorySort::Notes));
            } else if !own_heads.contains(parent) && self.is_archive_commit(*parent)? {
                kept.push((*parent, HistorySort::Archive));
            }
        }
        Ok(kept)
    }

    fn is_archive_commit(&self, oid: Oid) -> Result<bool> {
        let commit = self.read_commit(oid)?;
        if !ARCHIVE_MESSAGES.iter().any(|begin| commit.message.starts_with(begin)) {
            return Ok(false);
        }
        let root = self.load_tree(commit.tree)?;
        Ok(root.entries.iter().all(|entry| entry.filename == "agents" && entry.mode.is_tree()))
    }
}

/// What a line of an archive's entry names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntryWord {
    Head,
    Notes,
}

fn entry_oids(entry: &[u8]) -> Vec<(EntryWord, Oid)> {
    let text = String::from_utf8_lossy(entry);
    let line = |line: &str| {
        let (word, oid) = line.split_once(' ')?;
        let word = match word {
            "head" => EntryWord::Head,
            "notes" => EntryWord::Notes,
            _ => return None,
        };
        Some((word, Oid::parse(oid).ok()?))
    };
    text.lines().filter_map(line).collect()
}
