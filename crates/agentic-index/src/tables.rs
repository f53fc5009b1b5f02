//! Sorted tables of bytes: on the disk by sled, or in memory.
//!
//! All tables of a database are one tree whose keys begin with the table: so what belongs together is
//! written together, or not at all.

mod memory;
mod sled;

#[cfg(test)]
pub(crate) mod failing;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

use crate::error::Result;

pub use self::memory::MemoryTables;
pub use self::sled::SledTables;

/// A table of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IndexTable {
    /// What the database is of.
    Meta,
    /// How far each agent and each session was read.
    Seen,
    /// Texts by number.
    Entry,
    /// The texts that have a term.
    Post,
    /// Agents by name.
    Agent,
    /// Events of edges by who keeps them.
    Edge,
    /// Sessions by id.
    Session,
    /// Who keeps an object, by its id.
    Cid,
    /// Open holds by session.
    Hold,
}

/// Changes that are made together.
#[derive(Debug, Clone, Default)]
pub struct TableBatch {
    /// Keys with their new values; nothing where the key goes away.
    pub changes: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

/// Takes a key, without its table, and its value; says whether more are wanted.
pub type KeyVisitor<'v> = dyn FnMut(&[u8], &[u8]) -> ControlFlow<()> + 'v;

/// Where tables are kept.
pub trait Tables: Send {
    /// Reads a value.
    ///
    /// # Errors
    /// Fails when the database does.
    fn get(&self, table: IndexTable, key: &[u8]) -> Result<Option<Vec<u8>>>;

    /// Visits rows in the order of their keys, from a key on.
    ///
    /// # Errors
    /// Fails when the database does.
    fn visit(&self, table: IndexTable, from: &[u8], visit: &mut KeyVisitor<'_>) -> Result<()>;

    /// Finds the row with the greatest key that is not greater than a key.
    ///
    /// # Errors
    /// Fails when the database does.
    fn last_up_to(&self, table: IndexTable, key: &[u8]) -> Result<Option<(Vec<u8>, Vec<u8>)>>;

    /// Makes changes, all or none.
    ///
    /// # Errors
    /// Fails when the database does.
    fn apply(&mut self, batch: TableBatch) -> Result<()>;

    /// Puts on the disk what was changed.
    ///
    /// # Errors
    /// Fails when the database does.
    fn flush(&mut self) -> Result<()>;
}

impl IndexTable {
    /// Makes the whole key.
    pub(crate) fn key(self, key: &[u8]) -> Vec<u8> {
        let mut whole = Vec::with_capacity(1 + key.len());
        whole.push(self.byte());
        whole.extend(key);
        whole
    }

    /// Returns what keys of the table begin with.
    pub(crate) const fn byte(self) -> u8 {
        match self {
            IndexTable::Meta => b'm',
            IndexTable::Seen => b's',
            IndexTable::Entry => b'e',
            IndexTable::Post => b'p',
            IndexTable::Agent => b'a',
            IndexTable::Edge => b'g',
            IndexTable::Session => b'n',
            IndexTable::Cid => b'c',
            IndexTable::Hold => b'h',
        }
    }
}

impl TableBatch {
    /// Sets a value.
    pub fn put(&mut self, table: IndexTable, key: &[u8], value: Vec<u8>) {
        self.changes.push((table.key(key), Some(value)));
    }

    /// Takes a key away.
    pub fn remove(&mut self, table: IndexTable, key: &[u8]) {
        self.changes.push((table.key(key), None));
    }
}
