//! A memory in a table of an SQLite file.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row, params};
use serde_json::value::RawValue;

use super::query::list;
use super::record::Envelope;
use super::{MemoryFault, Operation};
use crate::tool::workspace::{MissingFolders, Workspace};

/// How long another writer is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// The table. `seq` orders records as they were added.
const TABLE: &str = "
    CREATE TABLE IF NOT EXISTS agentic_memory (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        namespace TEXT NOT NULL,
        id TEXT NOT NULL,
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        record TEXT NOT NULL,
        UNIQUE (namespace, id)
    ) STRICT";
const FIND: &str = "SELECT id, created_at, updated_at, record FROM agentic_memory
    WHERE namespace = ?1 AND id = ?2";
const ADD: &str = "INSERT INTO agentic_memory (namespace, id, created_at, updated_at, record)
    VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (namespace, id) DO NOTHING";
const NEWEST_FIRST: &str = "SELECT id, created_at, updated_at, record FROM agentic_memory
    WHERE namespace = ?1 ORDER BY seq DESC";
const HAS_TABLE: &str =
    "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'agentic_memory'";

/// Performs a call.
pub(super) fn perform(
    folder: &Path,
    path: &str,
    namespace: &str,
    operation: Operation,
) -> Result<String, MemoryFault> {
    let failed =
        |error: rusqlite::Error| MemoryFault(format!("the database `{path}` failed: {error}"));
    match operation {
        Operation::Add(envelope) => {
            let connection = open(folder, path, MissingFolders::Made)?
                .ok_or_else(|| MemoryFault(format!("`{path}` cannot be made")))?;
            add(&connection, namespace, &envelope).map_err(failed)
        }
        Operation::Query(query) => {
            let Some(connection) = open(folder, path, MissingFolders::Refused)? else {
                return Ok("[]".to_owned());
            };
            let fits = |record: &RawValue| query.fits(record);
            newest(&connection, namespace, query.limit(), fits).map_err(failed)
        }
    }
}

/// Opens the file; nothing if it is only asked and not there.
fn open(
    folder: &Path,
    path: &str,
    missing: MissingFolders,
) -> Result<Option<Connection>, MemoryFault> {
    let workspace = Workspace::open(folder)?;
    let place = match missing {
        MissingFolders::Made => Some(workspace.locate(path, missing)?),
        MissingFolders::Refused => workspace.find(path)?,
    };
    let Some(place) = place else { return Ok(None) };
    if place.kind()?.is_none() && missing == MissingFolders::Refused {
        return Ok(None);
    }
    let failed = |error: &dyn std::fmt::Display| {
        MemoryFault(format!("the database `{path}` cannot be opened: {error}"))
    };
    // The place has no links, and none may take its place meanwhile.
    let whole = folder.canonicalize().map_err(|error| failed(&error))?.join(&place.path);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(whole, flags).map_err(|error| failed(&error))?;
    connection.busy_timeout(PATIENCE).map_err(|error| failed(&error))?;
    connection.pragma_update(None, "trusted_schema", false).map_err(|error| failed(&error))?;
    Ok(Some(connection))
}

fn add(connection: &Connection, namespace: &str, envelope: &Envelope) -> rusqlite::Result<String> {
    connection.execute(TABLE, [])?;
    let Envelope { id, created_at, updated_at, record } = envelope;
    connection.execute(ADD, params![namespace, id, created_at, updated_at, record.get()])?;
    // The one that is there, if this request has added it before.
    let found = connection.query_row(FIND, params![namespace, id], read);
    found.map(|envelope| envelope.to_json())
}

fn newest(
    connection: &Connection,
    namespace: &str,
    limit: usize,
    fits: impl Fn(&RawValue) -> bool,
) -> rusqlite::Result<String> {
    let has_table = connection.query_row(HAS_TABLE, [], |_| Ok(())).optional()?;
    if has_table.is_none() {
        return Ok("[]".to_owned());
    }
    let mut statement = connection.prepare(NEWEST_FIRST)?;
    let mut rows = statement.query(params![namespace])?;
    let mut found = Vec::new();
    while found.len() < limit
        && let Some(row) = rows.next()?
    {
        let envelope = read(row)?;
        if fits(&envelope.record) {
            found.push(envelope.to_json());
        }
    }
    Ok(list(found.into_iter()))
}

fn read(row: &Row<'_>) -> rusqlite::Result<Envelope> {
    let text: String = row.get(3)?;
    let record = RawValue::from_string(text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(3, rusqlite::types::Type::Text, error.into())
    })?;
    Ok(Envelope { id: row.get(0)?, created_at: row.get(1)?, updated_at: row.get(2)?, record })
}
