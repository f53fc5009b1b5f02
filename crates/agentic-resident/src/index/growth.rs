//! A database that has grown too large is copied beside, while it answers, and the copy takes its place.
//!
//! sled keeps room that it does not use any more. What is written meanwhile is written to both.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agentic_index::{IndexError, Result, SledTables, TableBatch, Tables as _};

use super::place::IndexPlace;

/// How many rows are copied before somebody else has a turn.
const ROWS_AT_ONCE: usize = 1_000;

/// The second database, while there is one.
#[derive(Clone, Default)]
pub struct SecondTables(Arc<Mutex<Option<SledTables>>>);

/// A copy that is being made.
pub struct TableCopy {
    first: SledTables,
    second: SecondTables,
    next: Vec<u8>,
}

/// What became of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyStep {
    /// There is more to copy.
    More,
    /// The second database has everything, on the disk too.
    Whole,
    /// It is of no use.
    Failed,
}

impl SecondTables {
    /// Makes a change here too, if there is such a database.
    pub fn apply(&self, batch: &TableBatch) -> Result<()> {
        match &mut *self.tables() {
            Some(tables) => tables.apply(batch.clone()),
            None => Ok(()),
        }
    }

    /// Closes it.
    pub fn close(&self) {
        *self.tables() = None;
    }

    /// A change that panicked was made to no more than a copy, which is thrown away.
    fn tables(&self) -> MutexGuard<'_, Option<SledTables>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TableCopy {
    /// Begins to copy a database.
    pub fn begin(
        place: &IndexPlace,
        first: &SledTables,
        second: &SecondTables,
        cache_bytes: u64,
    ) -> Result<TableCopy> {
        let _ = std::fs::remove_dir_all(place.second());
        *second.tables() = Some(SledTables::open(&place.second(), cache_bytes)?);
        Ok(TableCopy { first: first.clone(), second: second.clone(), next: Vec::new() })
    }

    /// Copies some rows.
    pub fn step(&mut self) -> CopyStep {
        let copied = catch_unwind(AssertUnwindSafe(|| {
            let mut second = self.second.tables();
            // What closed it gives the copy up.
            let Some(second) = &mut *second else { return Err(IndexError::Foreign) };
            let next = self.first.copy_rows(&self.next, ROWS_AT_ONCE, second)?;
            if next.is_none() {
                second.flush()?;
            }
            Ok(next)
        }));
        match copied {
            Ok(Ok(Some(next))) => {
                self.next = next;
                CopyStep::More
            }
            Ok(Ok(None)) => CopyStep::Whole,
            Ok(Err(_)) | Err(_) => CopyStep::Failed,
        }
    }
}
