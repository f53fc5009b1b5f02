//! Tables that fail at a step, for tests.

use super::{IndexTable, KeyVisitor, TableBatch, Tables};
use crate::error::{IndexError, Result};

/// Tables of which one change fails, and all after it: what was written before stays.
pub struct FailingTables<T> {
    /// What is written to.
    pub inner: T,
    /// How many changes are made before.
    pub n_left: usize,
}

impl<T: Tables> Tables for FailingTables<T> {
    fn get(&self, table: IndexTable, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.inner.get(table, key)
    }

    fn visit(&self, table: IndexTable, from: &[u8], visit: &mut KeyVisitor<'_>) -> Result<()> {
        self.inner.visit(table, from, visit)
    }

    fn last_up_to(&self, table: IndexTable, key: &[u8]) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
        self.inner.last_up_to(table, key)
    }

    fn apply(&mut self, batch: TableBatch) -> Result<()> {
        if self.n_left == 0 {
            let reason = "it was asked to fail".to_owned();
            return Err(IndexError::Storage { attempt: "write", reason });
        }
        self.n_left -= 1;
        self.inner.apply(batch)
    }

    fn flush(&mut self) -> Result<()> {
        self.inner.flush()
    }
}
