//! A repository in memory: ground state in maps, for everything that needs no git.
//!
//! It keeps the promises of the traits and nothing else: there are no worktrees, no reflogs and no
//! other programs. Nothing of it outlives the process.

mod objects;
mod refs;

use std::cell::RefCell;
use std::collections::BTreeMap;

use agentic_model::Oid;

use crate::journal::GitObject;

/// A repository in memory, for one thread.
#[derive(Debug, Default)]
pub struct MemoryRepository {
    refs: RefCell<BTreeMap<String, Oid>>,
    objects: RefCell<BTreeMap<Oid, GitObject>>,
}

impl MemoryRepository {
    /// Makes an empty one.
    pub fn new() -> MemoryRepository {
        MemoryRepository::default()
    }

    /// Takes an object away, as a collection by git may that found no ref to it.
    pub fn lose_object(&self, oid: Oid) {
        self.objects.borrow_mut().remove(&oid);
    }
}
