//! Taking something out of what this space keeps beside branches: notes with their history, archives,
//! registry and libraries, and what was fetched of these.
//!
//! Who knows what is to go says what becomes of a leaf; everything that names a typed object by its id
//! is made again with the new one. `agentic-capture` finds values; fetch goes by tombstones. What somebody
//! signed is not made again: the chain of announcements begins anew, which `agentic-federation` does.

pub mod branches;
pub mod relink;
pub mod tombstone;

use std::collections::{BTreeMap, BTreeSet};

use agentic_git::{ARCHIVE_REF, HistoryLeaf, HistoryRoot, HistorySort, NotesHistory, PRIVATE_REF};
use agentic_model::commit::CommitData;
use agentic_model::{Object, Oid};
use agentic_store::journal::{GitKind, GitObject, KeptObject};

pub use self::relink::{PurgeRewrites, leaf_rewrites};
use crate::signatures::Signatures;
use crate::{Result, Space};

/// The refs that this space keeps for itself, beside branches.
const OWN_FOLDERS: [&str; 2] = ["refs/notes/agentic/", "refs/agentic/"];
/// What is signed, or names what is: made again it would be nothing.
const SIGNED: [&str; 9] = [
    ACCEPTED_REFS,
    "refs/agentic/adopted",
    "refs/agentic/announce/",
    "refs/agentic/caps",
    "refs/agentic/evidence/",
    "refs/agentic/identity",
    "refs/agentic/leaving",
    "refs/agentic/project",
    "refs/agentic/replies",
];
/// Where the records of what was accepted of peers are. Never pushed.
pub const ACCEPTED_REFS: &str = "refs/agentic/accepted/";
/// The tombstones that count here. Never pushed.
pub const TOMBSTONES_REF: &str = "refs/agentic/tombstones";
/// Commits of branches that branches do not have.
pub const RESCUED: &str = "refs/agentic/rescued/";

/// What a space keeps beside branches, whole.
pub struct PurgeHistory {
    /// The refs.
    pub roots: Vec<HistoryRoot>,
    /// Their histories.
    pub history: NotesHistory,
    /// Every version of every leaf.
    pub leaves: Vec<HistoryLeaf>,
}

/// Where a ref goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgedRef {
    /// Its full name.
    pub name: String,
    /// Where it was.
    pub old: Oid,
    /// Where it goes.
    pub new: Oid,
}

/// Tells what the commits of a ref keep; nothing of a ref that is no affair of this.
pub fn sort_of(name: &str) -> Option<HistorySort> {
    let is_archive = |name: &str| {
        let remote = name.strip_prefix("refs/agentic/remotes/").and_then(|it| it.split_once('/'));
        [ARCHIVE_REF, PRIVATE_REF].contains(&name)
            || remote.is_some_and(|(_, rest)| rest.starts_with("archive"))
    };
    match name {
        TOMBSTONES_REF => None,
        name if name.starts_with(RESCUED) => None,
        name if SIGNED.iter().any(|signed| name.starts_with(signed)) => None,
        name if is_archive(name) => Some(HistorySort::Archive),
        name if OWN_FOLDERS.iter().any(|folder| name.starts_with(folder)) => {
            Some(HistorySort::Notes)
        }
        _ => None,
    }
}

impl Space {
    /// Reads what this space keeps beside branches.
    ///
    /// # Errors
    /// Fails when it is damaged.
    pub fn purge_history(&self) -> Result<PurgeHistory> {
        let mut roots = Vec::new();
        for folder in OWN_FOLDERS {
            for found in self.repository().list_refs(folder)? {
                let sort = sort_of(&found.name);
                let root = |sort| HistoryRoot { name: found.name, tip: found.target, sort };
                roots.extend(sort.map(root));
            }
        }
        self.history_of(roots)
    }

    /// Reads the histories of some refs.
    ///
    /// # Errors
    /// Fails when they are damaged.
    pub fn history_of(&self, roots: Vec<HistoryRoot>) -> Result<PurgeHistory> {
        let history = self.repository().notes_history(&roots)?;
        let leaves = history.leaves();
        Ok(PurgeHistory { roots, history, leaves })
    }

    /// Makes histories again and writes them; no ref moves. `ends` are states of notes that have become
    /// others, which archives keep in their place.
    ///
    /// # Errors
    /// Fails when an object cannot be read, and when the disk does.
    pub fn rewrite_purged(
        &self,
        purged: &PurgeHistory,
        rewrites: &PurgeRewrites,
        ends: BTreeMap<Oid, Oid>,
    ) -> Result<BTreeMap<Oid, Oid>> {
        let commits = self.repository().rewrite_history(&purged.history, &rewrites.leaves, ends)?;
        Ok(commits)
    }

    /// Lists the states of notes among some histories that agents have or had: of refs, and of archives.
    ///
    /// # Errors
    /// Fails when an archive is damaged.
    pub fn notes_tips(&self, purged: &PurgeHistory) -> Result<BTreeSet<Oid>> {
        let notes = purged.roots.iter().filter(|root| root.sort == HistorySort::Notes);
        let mut tips: BTreeSet<Oid> = notes.map(|root| root.tip).collect();
        let archives = purged.roots.iter().filter(|root| root.sort == HistorySort::Archive);
        for archive in archives {
            let entries = self.repository().archive_entries(Some(archive.tip))?;
            tips.extend(entries.into_iter().filter_map(|entry| entry.archived.notes));
        }
        Ok(tips)
    }

    /// Writes a notes commit that adds objects to a state of notes.
    ///
    /// # Errors
    /// Fails when the state cannot be read, and when the disk does.
    pub fn add_to_state(
        &self,
        state: Option<Oid>,
        objects: &[Object],
        signatures: &Signatures,
    ) -> Result<Oid> {
        let repository = self.repository();
        let notes = repository.notes_at(state)?;
        let edit = agentic_git::LibraryEdit {
            objects: objects.iter().map(KeptObject::from).collect(),
            pointers: Vec::new(),
        };
        let (tree, mut fresh) = match repository.library_tree(&notes, &edit)? {
            Some(next) => (next.tree, next.objects),
            None => match state {
                Some(state) => return Ok(state),
                None => (repository.empty_tree(), Vec::new()),
            },
        };
        let commit = CommitData {
            tree,
            parents: state.into_iter().collect(),
            author: signatures.author.clone(),
            committer: signatures.committer.clone(),
            message: "agentic purge\n".to_owned(),
        };
        let commit = GitObject { kind: GitKind::Commit, bytes: commit.to_bytes() };
        let oid = repository.name_object(&commit);
        fresh.push(commit);
        repository.write_loose(&fresh)?;
        Ok(oid)
    }
}
