//! What opencode keeps of a session: rows of a database, or, in older versions, a file for each row.
//!
//! Both are read as the lines that [`crate::mapping`] knows, in the order in which they came: the
//! session, then each message with its parts. A message that is still being written ends the lines,
//! as a line without its break ends a transcript; one that nobody has touched for a day is taken as it
//! is. Reading holds one row at a time.

mod database;
mod files;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agentic_model::Instant;

use self::database::DatabaseRows;
use self::files::FileRows;
use crate::conversation::QUIET_MS;
use crate::line_json::LineJson;

use crate::transcript::LINE_BYTES_MAX;

/// How long a hook waits for who writes.
const GLANCE_PATIENCE: Duration = Duration::from_millis(20);
/// How many sessions one place has.
const SESSIONS_MAX: usize = 1 << 20;

/// A session that opencode keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpencodeSession {
    place: OpencodePlace,
    id: String,
    /// When somebody wrote into it last.
    pub modified: Instant,
    /// What has not been touched since then is taken as it is.
    settled_before: Instant,
    look: RowsLook,
}

/// How closely a session is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowsLook {
    /// All its rows are, to tell whether anything changed.
    Whole,
    /// Only what is new is.
    Glance,
}

impl RowsLook {
    /// Returns how long opencode is waited for that writes: a hook stands in its way.
    fn patience(self) -> Duration {
        match self {
            RowsLook::Whole => database::PATIENCE,
            RowsLook::Glance => GLANCE_PATIENCE,
        }
    }
}

/// The last row of a session that was read: its message, and the part of that, if it was one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowMark {
    /// When the message came.
    pub created: i64,
    /// Its id; empty where only the session's own row was read.
    pub message: String,
    /// The id of the part; empty where none was read.
    pub part: String,
}

/// Where a session is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
enum OpencodePlace {
    /// In this database.
    Database(PathBuf),
    /// In files below this folder.
    Files(PathBuf),
}

/// What is known of a session before its messages: every version says it.
#[derive(Debug, Default)]
struct SessionHead {
    parent: Option<String>,
    directory: Option<String>,
    title: Option<String>,
    version: Option<String>,
}

/// The rows of a session as lines of JSON.
pub struct OpencodeRows {
    rows: RowSource,
    mark: Option<RowMark>,
    line: Vec<u8>,
    at: usize,
}

enum RowSource {
    Database(DatabaseRows),
    Files(FileRows),
}

impl OpencodeSession {
    /// Finds a session in a file: a database, or that of the session among others. The path is real.
    ///
    /// # Errors
    /// Fails when the file cannot be read, or has no such session.
    pub fn find(path: &Path, id: &str, now: Instant) -> std::io::Result<OpencodeSession> {
        let (place, modified) = if is_database(path) {
            (OpencodePlace::Database(path.to_owned()), database::modified(path, id)?)
        } else {
            let root = path.ancestors().nth(3).filter(|_| files::is_session(path));
            let root = root.ok_or_else(|| missing("it is no session of opencode"))?.to_owned();
            let modified = files::modified(&root, path, id)?;
            (OpencodePlace::Files(root), modified)
        };
        let (id, settled_before) = (id.to_owned(), now.plus_millis(-QUIET_MS));
        Ok(OpencodeSession { place, id, modified, settled_before, look: RowsLook::Whole })
    }

    /// Does the same, and does not look at what is there already: it was written into now.
    ///
    /// # Errors
    /// Fails when the file cannot be read, or has no such session.
    pub fn glance(path: &Path, id: &str, now: Instant) -> std::io::Result<OpencodeSession> {
        if !is_database(path) {
            let session = OpencodeSession::find(path, id, now)?;
            return Ok(OpencodeSession { look: RowsLook::Glance, ..session });
        }
        database::check_session(path, id, RowsLook::Glance)?;
        Ok(OpencodeSession {
            place: OpencodePlace::Database(path.to_owned()),
            id: id.to_owned(),
            modified: now,
            settled_before: now.plus_millis(-QUIET_MS),
            look: RowsLook::Glance,
        })
    }

    /// Begins to read the session.
    ///
    /// # Errors
    /// Fails when it cannot be read any more.
    pub fn rows(&self) -> std::io::Result<OpencodeRows> {
        let rows = match &self.place {
            OpencodePlace::Database(path) => RowSource::Database(DatabaseRows::open(path, self)?),
            OpencodePlace::Files(root) => {
                RowSource::Files(FileRows::open(root, &self.id, self.settled_before)?)
            }
        };
        Ok(OpencodeRows { rows, mark: None, line: Vec::new(), at: 0 })
    }

    /// Begins to read behind a row; nothing if that is not there any more.
    ///
    /// # Errors
    /// Fails when the session cannot be read any more.
    pub fn rows_after(&self, mark: &RowMark) -> std::io::Result<Option<OpencodeRows>> {
        let mut read = self.rows()?;
        let is_there = match &mut read.rows {
            RowSource::Database(rows) => rows.step_behind(mark)?,
            RowSource::Files(rows) => rows.step_behind(mark),
        };
        read.mark = Some(mark.clone());
        Ok(is_there.then_some(read))
    }

    /// Returns a number that another state of the session does not have, as far as times tell; none is 0.
    /// Of one that is only glanced at it is 0.
    ///
    /// # Errors
    /// Fails when it cannot be read any more.
    pub fn stamp(&self) -> std::io::Result<u64> {
        if self.look == RowsLook::Glance {
            return Ok(0);
        }
        match &self.place {
            OpencodePlace::Database(path) => database::stamp(path, &self.id),
            OpencodePlace::Files(root) => files::stamp(root, &self.id),
        }
    }
}

impl OpencodeRows {
    /// Returns the last row that was begun. A reader that asks for no more bytes than one line has read
    /// it whole.
    pub fn mark(&self) -> Option<&RowMark> {
        self.mark.as_ref()
    }
}

impl Read for OpencodeRows {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        while self.at == self.line.len() {
            let line = match &mut self.rows {
                RowSource::Database(rows) => rows.next_line()?,
                RowSource::Files(rows) => rows.next_line()?,
            };
            let Some((line, mark)) = line else { return Ok(0) };
            (self.line, self.at, self.mark) = (line.into_bytes(), 0, Some(mark));
        }
        let count = into.len().min(self.line.len() - self.at);
        into[..count].copy_from_slice(&self.line[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// Tells by its name whether a file is a database of opencode.
pub fn is_database(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "db")
}

/// Tells by its place whether a file is that of a session.
pub fn is_session_file(path: &Path) -> bool {
    files::is_session(path)
}

/// Lists the sessions of a database.
///
/// # Errors
/// Fails when it cannot be read.
pub fn sessions_of(path: &Path) -> std::io::Result<Vec<String>> {
    database::sessions(path)
}

/// One row on its way to a line.
struct OpencodeRow<'r> {
    table: &'static str,
    id: &'r str,
    /// The row that it belongs to: what it is called, and which.
    owner: (&'static str, &'r str),
    created: Option<i64>,
    content: RowContent<'r>,
}

/// What a row says.
enum RowContent<'r> {
    /// This, as JSON.
    Whole(&'r str),
    /// More than a line may have: so many bytes.
    TooLong(u64),
}

impl OpencodeRow<'_> {
    fn line(&self) -> String {
        let (owner, id) = self.owner;
        let mut line = format!(
            "{{\"table\":\"{}\",\"id\":{},\"{owner}\":{}",
            self.table,
            quoted(self.id),
            quoted(id)
        );
        if let Some(created) = self.created {
            line.push_str(&format!(",\"time_created\":{created}"));
        }
        match self.content {
            RowContent::Whole(data) if data.trim().is_empty() => line.push_str(",\"data\":null"),
            // A break between its values would end the line.
            RowContent::Whole(data) => {
                line.push_str(",\"data\":");
                line.push_str(&data.replace(['\n', '\r'], " "));
            }
            RowContent::TooLong(bytes) => line.push_str(&format!(",\"too_long\":{bytes}")),
        }
        line.push_str("}\n");
        line
    }
}

impl RowMark {
    /// Marks the session's own row.
    fn of_session() -> RowMark {
        RowMark { created: i64::MIN, message: String::new(), part: String::new() }
    }
}

impl SessionHead {
    fn line(&self, id: &str) -> String {
        let data = serde_json::json!({
            "id": id,
            "parentID": self.parent,
            "directory": self.directory,
            "title": self.title,
            "version": self.version,
        });
        format!("{{\"table\":\"session\",\"id\":{},\"data\":{data}}}\n", quoted(id))
    }
}

/// Tells whether a message is still being written.
fn is_unfinished(data: &str) -> bool {
    let Ok(data) = LineJson::parse(data) else { return false };
    let is_over = data.get("error").is_some_and(LineJson::is_object)
        || data.get("time").is_some_and(|time| time.int("completed").is_some());
    data.text("role") == Some("assistant") && !is_over
}

/// The most that a row may say to fit into a line.
const ROW_BYTES_MAX: u64 = LINE_BYTES_MAX as u64 - (64 << 10);

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text has a JSON form")
}

fn missing(why: &'static str) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::NotFound, why)
}

#[cfg(test)]
mod tests;
