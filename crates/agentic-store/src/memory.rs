//! A repository in memory: ground state in maps, for everything that needs no git.
//!
//! It keeps the promises of the traits and nothing else: there are no worktrees, no reflogs and no
//! other programs. Journals and locks are files here too, in a folder of the caller's; ground state
//! does not outlive the process.

mod notes;
mod objects;
mod packs;
mod refs;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agentic_model::{AgentName, Instant, Oid, Person};

use self::notes::MemoryNotes;
use crate::Result;
use crate::ground::GroundStore;
use crate::journal::{ArchivedAgent, GitObject, Transaction};
use crate::layout::{Layout, Stream};
use crate::report::StreamRecovery;
use crate::writer::WriterSlot;

/// A repository in memory, for one thread.
#[derive(Debug)]
pub struct MemoryRepository {
    common_dir: PathBuf,
    layout: Layout,
    slot: WriterSlot,
    refs: RefCell<BTreeMap<String, Oid>>,
    objects: RefCell<BTreeMap<Oid, GitObject>>,
    /// The states that notes refs have had.
    notes: RefCell<BTreeMap<Oid, MemoryNotes>>,
    /// What logs keep beside their records.
    packs: RefCell<BTreeMap<Stream, Vec<GitObject>>>,
}

impl MemoryRepository {
    /// Makes an empty one whose journals and locks are kept below `folder`.
    pub fn new(folder: &Path) -> MemoryRepository {
        MemoryRepository {
            common_dir: folder.to_owned(),
            layout: Layout::new(folder),
            slot: WriterSlot::default(),
            refs: RefCell::default(),
            objects: RefCell::default(),
            notes: RefCell::default(),
            packs: RefCell::default(),
        }
    }

    /// Changes the bytes of an object, as a power cut may that came before they were written.
    pub fn spoil_object(&self, oid: Oid) {
        if let Some(object) = self.objects.borrow_mut().get_mut(&oid) {
            object.bytes.clear();
            object.bytes.push(0);
        }
    }

    /// Takes an object away, as a collection by git may that found no ref to it.
    pub fn lose_object(&self, oid: Oid) {
        self.objects.borrow_mut().remove(&oid);
    }
}

impl GroundStore for MemoryRepository {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    fn slot(&self) -> &WriterSlot {
        &self.slot
    }

    /// What is read here does not depend on who holds which lock.
    fn hold(&self, _stream: &Stream) {}

    fn release(&self, _stream: &Stream) {}

    /// There is nothing here that a crash would leave behind.
    fn sync_filesystem(&self) -> Result<()> {
        Ok(())
    }

    /// There are no worktrees.
    fn check_unoccupied(&self, _branch: &str) -> Result<()> {
        Ok(())
    }

    fn note_trail(&self, _write: &Transaction) -> Result<()> {
        Ok(())
    }

    fn catch_up(&self, _now: Instant) -> Result<Vec<StreamRecovery>> {
        Ok(Vec::new())
    }

    fn keeps_logs(&self) -> bool {
        false
    }

    fn committer(&self) -> Result<Person> {
        Ok(Person::new("Memory", "memory@example.com"))
    }

    /// There is no archive.
    fn find_archived(&self, _agent: &AgentName) -> Result<Option<ArchivedAgent>> {
        Ok(None)
    }
}
