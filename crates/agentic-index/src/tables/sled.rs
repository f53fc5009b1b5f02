//! Tables on the disk, by sled.
//!
//! sled reports some damage, panics at other and never comes back from the rest: whoever calls this
//! does so on a thread that nobody waits for, and looks at how long it takes.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use sled::{Batch, Config, Db, Mode};

use super::{IndexTable, KeyVisitor, TableBatch, Tables};
use crate::error::{IndexError, Result};

/// How long a database that this process closed a moment ago is waited for: threads of sled give its
/// lock back only when they are done with what they had begun.
const LOCK_WAIT: Duration = Duration::from_secs(1);
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// Tables in a folder. A clone is the same tables once more.
#[derive(Clone)]
pub struct SledTables {
    database: Db,
}

impl SledTables {
    /// Opens the tables in a folder, or begins with empty ones; about so many bytes are kept in memory.
    ///
    /// # Errors
    /// Fails when another process has them for a second, and when they are damaged.
    pub fn open(folder: &Path, cache_bytes: u64) -> Result<SledTables> {
        let config = Config::new()
            .path(folder)
            .cache_capacity(cache_bytes)
            .mode(Mode::HighThroughput)
            // The thread that writes says when.
            .flush_every_ms(None);
        let begun = Instant::now();
        loop {
            match config.open() {
                Ok(database) => return Ok(SledTables { database }),
                Err(error) if !is_held(&error) => return Err(storage("open", &error)),
                Err(_) if begun.elapsed() >= LOCK_WAIT => {
                    return Err(IndexError::Held { path: folder.to_owned() });
                }
                Err(_) => thread::sleep(LOCK_PAUSE),
            }
        }
    }

    /// Writes some rows into other tables, from a whole key on; returns the key with which more begin.
    ///
    /// # Errors
    /// Fails when one of the databases does.
    pub fn copy_rows(
        &self,
        from: &[u8],
        most: usize,
        into: &mut SledTables,
    ) -> Result<Option<Vec<u8>>> {
        let mut batch = TableBatch::default();
        for row in self.database.range(from.to_vec()..).take(most) {
            let (key, value) = row.map_err(|error| storage("read", &error))?;
            batch.changes.push((key.to_vec(), Some(value.to_vec())));
        }
        let next = batch.changes.last().filter(|_| batch.changes.len() == most);
        // The least key behind it.
        let next = next.map(|(key, _)| [key.as_slice(), &[0]].concat());
        into.apply(batch)?;
        Ok(next)
    }
}

impl Tables for SledTables {
    fn get(&self, table: IndexTable, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let found = self.database.get(table.key(key)).map_err(|error| storage("read", &error))?;
        Ok(found.map(|value| value.to_vec()))
    }

    fn visit(&self, table: IndexTable, from: &[u8], visit: &mut KeyVisitor<'_>) -> Result<()> {
        for row in self.database.range(table.key(from)..vec![table.byte() + 1]) {
            let (key, value) = row.map_err(|error| storage("read", &error))?;
            if visit(&key[1..], &value).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn last_up_to(&self, table: IndexTable, key: &[u8]) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
        let mut rows = self.database.range(vec![table.byte()]..=table.key(key));
        let row = rows.next_back().transpose().map_err(|error| storage("read", &error))?;
        Ok(row.map(|(key, value)| (key[1..].to_vec(), value.to_vec())))
    }

    fn apply(&mut self, batch: TableBatch) -> Result<()> {
        let mut changes = Batch::default();
        for (key, value) in batch.changes {
            match value {
                Some(value) => changes.insert(key, value),
                None => changes.remove(key),
            }
        }
        self.database.apply_batch(changes).map_err(|error| storage("write", &error))
    }

    fn flush(&mut self) -> Result<()> {
        self.database.flush().map(drop).map_err(|error| storage("write", &error))
    }
}

/// Says whether another process has the lock of a database. sled says so in words alone.
fn is_held(error: &sled::Error) -> bool {
    matches!(error, sled::Error::Io(_)) && error.to_string().contains("lock")
}

fn storage(attempt: &'static str, error: &sled::Error) -> IndexError {
    IndexError::Storage { attempt, reason: error.to_string() }
}
