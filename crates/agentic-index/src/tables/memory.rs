//! Tables in memory.

use std::collections::BTreeMap;

use super::{IndexTable, KeyVisitor, TableBatch, Tables};
use crate::error::Result;

/// Tables that go away with the process.
#[derive(Debug, Clone, Default)]
pub struct MemoryTables {
    rows: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl Tables for MemoryTables {
    fn get(&self, table: IndexTable, key: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(self.rows.get(&table.key(key)).cloned())
    }

    fn visit(&self, table: IndexTable, from: &[u8], visit: &mut KeyVisitor<'_>) -> Result<()> {
        let rows = self.rows.range(table.key(from)..vec![table.byte() + 1]);
        for (key, value) in rows {
            if visit(&key[1..], value).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn last_up_to(&self, table: IndexTable, key: &[u8]) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
        let found = self.rows.range(vec![table.byte()]..=table.key(key)).next_back();
        Ok(found.map(|(key, value)| (key[1..].to_vec(), value.clone())))
    }

    fn apply(&mut self, batch: TableBatch) -> Result<()> {
        for (key, value) in batch.changes {
            match value {
                Some(value) => drop(self.rows.insert(key, value)),
                None => drop(self.rows.remove(&key)),
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}
