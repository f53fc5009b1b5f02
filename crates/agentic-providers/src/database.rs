//! SQLite databases of other programs: read, never written, and safe beside the program that has one
//! open.
//!
//! A database in whose folder no log lies is closed: it is read without a lock, and without the files
//! that SQLite would make for one. As soon as there is a log, or the file has changed, it is read like
//! any reader does, each statement for itself, so that nobody waits longer for us than one takes.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, Row, ToSql, params_from_iter};

/// How long a writer is waited for by who has the time.
pub const PATIENCE: Duration = Duration::from_secs(2);
/// What a path of an address cannot have as it is.
const RESERVED: &AsciiSet = &CONTROLS.add(b' ').add(b'?').add(b'#').add(b'%').add(b'"');
/// The logs of a database that is open, or was when its program died.
const LOGS: [&str; 2] = ["-wal", "-journal"];

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum DatabaseCell {
    /// Nothing.
    Null,
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
    /// A text; what is no text in it is replaced.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}

impl DatabaseCell {
    /// Returns the whole number, if it is one.
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            DatabaseCell::Integer(number) => Some(*number),
            DatabaseCell::Null
            | DatabaseCell::Real(_)
            | DatabaseCell::Text(_)
            | DatabaseCell::Blob(_) => None,
        }
    }

    /// Returns the text, if it is one.
    pub fn into_text(self) -> Option<String> {
        match self {
            DatabaseCell::Text(text) => Some(text),
            DatabaseCell::Null
            | DatabaseCell::Integer(_)
            | DatabaseCell::Real(_)
            | DatabaseCell::Blob(_) => None,
        }
    }
}

/// Why a database cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the database cannot be read")]
pub struct DatabaseFault {
    source: rusqlite::Error,
}

/// A database of another program.
#[derive(Debug)]
pub struct ForeignDatabase {
    path: PathBuf,
    connection: Connection,
    /// What the file was like when it was opened as one that nobody changes.
    closed: Option<FileLook>,
    patience: Duration,
}

/// What tells that a file has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FileLook {
    inode: u64,
    length: u64,
    modified: (i64, i64),
}

impl ForeignDatabase {
    /// Opens the database in a file. The path is real: links are not followed.
    ///
    /// # Errors
    /// Fails when the file cannot be opened.
    pub fn open(path: &Path) -> Result<ForeignDatabase, DatabaseFault> {
        ForeignDatabase::open_within(path, PATIENCE)
    }

    /// Does the same for somebody who waits for a writer no longer than this.
    ///
    /// # Errors
    /// Fails when the file cannot be opened.
    pub fn open_within(path: &Path, patience: Duration) -> Result<ForeignDatabase, DatabaseFault> {
        let closed = look_at_closed(path);
        let connection = connect(path, closed.as_ref(), patience)?;
        Ok(ForeignDatabase { path: path.to_owned(), connection, closed, patience })
    }

    /// Returns the first row that a question has for an answer.
    ///
    /// # Errors
    /// Fails when the database is damaged, or the question does not fit it.
    pub fn first(
        &mut self,
        question: &str,
        values: &[DatabaseCell],
    ) -> Result<Option<Vec<DatabaseCell>>, DatabaseFault> {
        let mut found = None;
        self.each(question, values, &mut |row| {
            found = Some(row);
            false
        })?;
        Ok(found)
    }

    /// Visits the rows that a question has for an answer, until `visit` has enough.
    ///
    /// # Errors
    /// Fails when the database is damaged, or the question does not fit it.
    pub fn each(
        &mut self,
        question: &str,
        values: &[DatabaseCell],
        visit: &mut dyn FnMut(Vec<DatabaseCell>) -> bool,
    ) -> Result<(), DatabaseFault> {
        if self.closed.is_some() && look_at_closed(&self.path) != self.closed {
            // Its program has it open now.
            (self.connection, self.closed) = (connect(&self.path, None, self.patience)?, None);
        }
        let mut statement = self.connection.prepare_cached(question)?;
        let n_columns = statement.column_count();
        let mut rows = statement.query(params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            if !visit(cells(row, n_columns)?) {
                break;
            }
        }
        Ok(())
    }
}

impl DatabaseFault {
    /// Tells whether somebody writes to the database, and no more is wrong.
    pub fn is_busy(&self) -> bool {
        let code = self.source.sqlite_error_code();
        matches!(code, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    }
}

impl From<rusqlite::Error> for DatabaseFault {
    fn from(source: rusqlite::Error) -> DatabaseFault {
        DatabaseFault { source }
    }
}

impl ToSql for DatabaseCell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            DatabaseCell::Null => ValueRef::Null,
            DatabaseCell::Integer(number) => ValueRef::Integer(*number),
            DatabaseCell::Real(number) => ValueRef::Real(*number),
            DatabaseCell::Text(text) => ValueRef::Text(text.as_bytes()),
            DatabaseCell::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

fn connect(
    path: &Path,
    closed: Option<&FileLook>,
    patience: Duration,
) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_URI;
    let text = path.to_string_lossy();
    let suffix = if closed.is_some() { "?immutable=1" } else { "" };
    let address = format!("file://{}{suffix}", utf8_percent_encode(&text, RESERVED));
    let connection = Connection::open_with_flags(address, flags)?;
    connection.busy_timeout(patience)?;
    // What stands in the file is somebody else's.
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "mmap_size", 0)?;
    Ok(connection)
}

fn look_at_closed(path: &Path) -> Option<FileLook> {
    let log = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        Path::new(&name).exists()
    };
    if LOGS.iter().any(|ending| log(ending)) {
        return None;
    }
    let found = std::fs::metadata(path).ok()?;
    Some(FileLook {
        inode: found.ino(),
        length: found.len(),
        modified: (found.mtime(), found.mtime_nsec()),
    })
}

fn cells(row: &Row<'_>, n_columns: usize) -> rusqlite::Result<Vec<DatabaseCell>> {
    let cell = |at: usize| {
        Ok(match row.get_ref(at)? {
            ValueRef::Null => DatabaseCell::Null,
            ValueRef::Integer(number) => DatabaseCell::Integer(number),
            ValueRef::Real(number) => DatabaseCell::Real(number),
            ValueRef::Text(text) => DatabaseCell::Text(String::from_utf8_lossy(text).into_owned()),
            ValueRef::Blob(bytes) => DatabaseCell::Blob(bytes.to_vec()),
        })
    };
    (0..n_columns).map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(database: &mut ForeignDatabase) -> Vec<String> {
        let mut names = Vec::new();
        let visit = &mut |row: Vec<DatabaseCell>| {
            names.extend(row.into_iter().filter_map(DatabaseCell::into_text));
            true
        };
        database.each("SELECT name FROM thing ORDER BY name", &[], visit).expect("readable");
        names
    }

    fn files(folder: &Path) -> Vec<String> {
        let found = std::fs::read_dir(folder).expect("there").flatten();
        let mut names: Vec<String> =
            found.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_in_the_log_of_a_program_that_runs_is_read_too() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().canonicalize().expect("there").join("odd ?#%.db");
        let writer = Connection::open(&path).expect("writable");
        writer.pragma_update(None, "journal_mode", "wal").expect("a pragma");
        writer.execute_batch("CREATE TABLE thing (name TEXT)").expect("a table");
        drop(writer);
        let before = files(folder.path());
        let bytes = std::fs::read(&path).expect("readable");
        let mut database = ForeignDatabase::open(&path).expect("readable");
        assert_eq!(names(&mut database), Vec::<String>::new());
        assert_eq!(files(folder.path()), before, "a closed database gets no files beside it");
        let writer = Connection::open(&path).expect("writable");
        writer.execute_batch("INSERT INTO thing VALUES ('a')").expect("a row");
        assert_eq!(std::fs::read(&path).expect("readable"), bytes, "the row is in the log alone");
        assert_eq!(names(&mut database), ["a"]);
        // A reader keeps no writer out between its statements.
        writer.execute_batch("INSERT INTO thing VALUES ('b')").expect("a row");
        assert_eq!(names(&mut database), ["a", "b"]);
        let write = database.each("INSERT INTO thing VALUES ('c')", &[], &mut |_| true);
        assert!(write.is_err(), "it is not ours to write");
    }

    #[test]
    fn what_is_no_database_is_an_error() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let folder = folder.path().canonicalize().expect("there");
        for (name, content) in
            [("empty", &b""[..]), ("text", b"no database"), ("zeros", &[0; 9000])]
        {
            let path = folder.join(name);
            std::fs::write(&path, content).expect("writable");
            let opened = ForeignDatabase::open(&path);
            let read = opened.and_then(|mut it| it.first("SELECT name FROM thing", &[]));
            assert!(read.is_err(), "{name}");
        }
        assert!(ForeignDatabase::open(&folder.join("gone")).is_err());
        std::os::unix::fs::symlink(folder.join("empty"), folder.join("link")).expect("writable");
        assert!(ForeignDatabase::open(&folder.join("link")).is_err());
    }
}
