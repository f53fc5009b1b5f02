//! What tables are of: the version of their form, and the repository.

use agentic_model::Value;

use crate::error::{IndexError, Result};
use crate::tables::{IndexTable, TableBatch, Tables};
use crate::value::{seal, unseal};

const IDENTITY: &[u8] = b"identity";

/// Whether tables were written before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableAge {
    Old,
    New,
}

/// Checks that tables have this form and are of this repository; new ones say so from here on.
///
/// # Errors
/// Fails when they are of something else or of another version, and when they are damaged.
pub(crate) fn identify(tables: &mut dyn Tables, format: i64, identity: &str) -> Result<TableAge> {
    let expected = Value::map([("format", Value::Int(format)), ("of", Value::text(identity))]);
    match tables.get(IndexTable::Meta, IDENTITY)? {
        Some(found) if unseal(&found)? == expected => Ok(TableAge::Old),
        Some(_) => Err(IndexError::Foreign),
        None => {
            let mut batch = TableBatch::default();
            batch.put(IndexTable::Meta, IDENTITY, seal(&expected));
            tables.apply(batch)?;
            Ok(TableAge::New)
        }
    }
}
