//! Sessions in the database of opencode. Tables and columns are those that all its versions have; what
//! a version lacks is left out.

use std::path::Path;
use std::time::Duration;

use agentic_model::Instant;
pub(super) use agentic_providers::database::PATIENCE;
use agentic_providers::database::{DatabaseCell, DatabaseFault, ForeignDatabase};

use super::{
    OpencodeRow, OpencodeSession, ROW_BYTES_MAX, RowContent, RowMark, RowsLook, SESSIONS_MAX,
    SessionHead, is_unfinished, missing,
};

/// The tables that are read.
const TABLES: [&str; 3] = ["session", "message", "part"];
const HAS_TABLE: &str = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1";
const HAS_COLUMN: &str = "SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2";
const SESSIONS: &str = "SELECT id FROM session ORDER BY id";
const HAS_SESSION: &str = "SELECT 1 FROM session WHERE id = ?1";
const HAS_MESSAGE: &str =
    "SELECT 1 FROM message WHERE id = ?1 AND session_id = ?2 AND time_created = ?3";
const HAS_PART: &str = "SELECT 1 FROM part WHERE id = ?1 AND message_id = ?2";
const NEWEST_MESSAGE: &str =
    "SELECT count(*), max(time_updated), max(time_created) FROM message WHERE session_id = ?1";
const MESSAGES: &str = "SELECT count(*), max(time_updated), total(octet_length(data)) FROM message
    WHERE session_id = ?1";
const PARTS: &str = "SELECT count(*), max(time_updated), total(octet_length(data)) FROM part
    WHERE message_id IN (SELECT id FROM message WHERE session_id = ?1)";
const NEXT_MESSAGE: &str = "SELECT id, time_created, time_updated, octet_length(data) FROM message
    WHERE session_id = ?1 AND (time_created, id) > (?2, ?3) ORDER BY time_created, id LIMIT 1";
const MESSAGE: &str = "SELECT data FROM message WHERE id = ?1";
const NEXT_PART: &str = "SELECT id, octet_length(data) FROM part
    WHERE message_id = ?1 AND id > ?2 ORDER BY id LIMIT 1";
const PART: &str = "SELECT data FROM part WHERE id = ?1";

/// The rows of one session.
pub(super) struct DatabaseRows {
    database: ForeignDatabase,
    session: String,
    settled_before: Instant,
    at: RowPlace,
}

/// Which row comes next.
enum RowPlace {
    Session,
    /// The message after this one: when it came, and its id.
    MessageAfter(i64, String),
    /// The part of a message after this one.
    PartAfter {
        message: (i64, String),
        part: String,
    },
    End,
}

impl DatabaseRows {
    pub fn open(path: &Path, session: &OpencodeSession) -> std::io::Result<DatabaseRows> {
        let database = open_within(path, session.look.patience())?;
        let (session, settled_before) = (session.id.clone(), session.settled_before);
        Ok(DatabaseRows { database, session, settled_before, at: RowPlace::Session })
    }

    /// Steps behind a row, and tells whether that is there.
    pub fn step_behind(&mut self, mark: &RowMark) -> std::io::Result<bool> {
        let RowMark { created, message, part } = mark.clone();
        if message.is_empty() {
            self.at = RowPlace::MessageAfter(created, message);
            return Ok(true);
        }
        let values = [text(&message), text(&self.session), DatabaseCell::Integer(created)];
        let has_part = || -> [DatabaseCell; 2] { [text(&part), text(&message)] };
        if self.database.first(HAS_MESSAGE, &values).map_err(io)?.is_none()
            || (!part.is_empty()
                && self.database.first(HAS_PART, &has_part()).map_err(io)?.is_none())
        {
            return Ok(false);
        }
        self.at = RowPlace::PartAfter { message: (created, message), part };
        Ok(true)
    }

    /// Reads the next row, and marks it.
    pub fn next_line(&mut self) -> std::io::Result<Option<(String, RowMark)>> {
        let Some(line) = self.read_line()? else { return Ok(None) };
        let mark = match &self.at {
            RowPlace::PartAfter { message: (created, message), part } => {
                RowMark { created: *created, message: message.clone(), part: part.clone() }
            }
            RowPlace::Session | RowPlace::MessageAfter(..) | RowPlace::End => RowMark::of_session(),
        };
        Ok(Some((line, mark)))
    }

    fn read_line(&mut self) -> std::io::Result<Option<String>> {
        loop {
            match std::mem::replace(&mut self.at, RowPlace::End) {
                RowPlace::Session => {
                    self.at = RowPlace::MessageAfter(i64::MIN, String::new());
                    return self.session_line().map(Some);
                }
                RowPlace::MessageAfter(created, id) => return self.message_line(created, id),
                RowPlace::PartAfter { message, part } => match self.part_line(&message, &part)? {
                    Some(line) => return Ok(Some(line)),
                    None => self.at = RowPlace::MessageAfter(message.0, message.1),
                },
                RowPlace::End => return Ok(None),
            }
        }
    }

    fn session_line(&mut self) -> std::io::Result<String> {
        let mut said = |column: &str| -> std::io::Result<Option<String>> {
            if !has(&mut self.database, HAS_COLUMN, &["session", column])? {
                return Ok(None);
            }
            let question = format!("SELECT {column} FROM session WHERE id = ?1");
            let row = self.database.first(&question, &[text(&self.session)]).map_err(io)?;
            Ok(row.and_then(|row| row.into_iter().next()?.into_text()))
        };
        let head = SessionHead {
            parent: said("parent_id")?,
            directory: said("directory")?,
            title: said("title")?,
            version: said("version")?,
        };
        Ok(head.line(&self.session))
    }

    fn message_line(&mut self, created: i64, id: String) -> std::io::Result<Option<String>> {
        let values = [text(&self.session), DatabaseCell::Integer(created), text(&id)];
        let Some(row) = self.database.first(NEXT_MESSAGE, &values).map_err(io)? else {
            return Ok(None);
        };
        let Ok([id, created, updated, length]) = <[DatabaseCell; 4]>::try_from(row) else {
            return Ok(None);
        };
        let (Some(id), Some(created)) = (id.into_text(), created.as_integer()) else {
            return Err(std::io::Error::other("a message has no id or no time"));
        };
        let data = self.data(MESSAGE, &id, &length)?;
        let is_settled = updated.as_integer().unwrap_or(created) < self.settled_before.millis();
        if data.as_deref().is_some_and(is_unfinished) && !is_settled {
            return Ok(None);
        }
        let row = OpencodeRow {
            table: "message",
            id: &id,
            owner: ("session_id", &self.session),
            created: Some(created),
            content: content(data.as_deref(), &length),
        };
        let line = row.line();
        self.at = RowPlace::PartAfter { message: (created, id), part: String::new() };
        Ok(Some(line))
    }

    fn part_line(
        &mut self,
        message: &(i64, String),
        after: &str,
    ) -> std::io::Result<Option<String>> {
        let row = self.database.first(NEXT_PART, &[text(&message.1), text(after)]).map_err(io)?;
        let Some(row) = row else { return Ok(None) };
        let Ok([id, length]) = <[DatabaseCell; 2]>::try_from(row) else { return Ok(None) };
        let Some(id) = id.into_text() else {
            return Err(std::io::Error::other("a part has no id"));
        };
        let data = self.data(PART, &id, &length)?;
        let row = OpencodeRow {
            table: "part",
            id: &id,
            owner: ("message_id", &message.1),
            created: None,
            content: content(data.as_deref(), &length),
        };
        let line = row.line();
        self.at = RowPlace::PartAfter { message: message.clone(), part: id };
        Ok(Some(line))
    }

    /// Reads what a row says, unless that is too long.
    fn data(
        &mut self,
        question: &str,
        id: &str,
        length: &DatabaseCell,
    ) -> std::io::Result<Option<String>> {
        let n_bytes = length.as_integer().and_then(|it| u64::try_from(it).ok());
        if n_bytes.is_some_and(|n| n > ROW_BYTES_MAX) {
            return Ok(None);
        }
        let row = self.database.first(question, &[text(id)]).map_err(io)?;
        let data = row.and_then(|row| row.into_iter().next()?.into_text());
        Ok(Some(data.unwrap_or_else(|| "null".to_owned())))
    }
}

pub(super) fn sessions(path: &Path) -> std::io::Result<Vec<String>> {
    let mut found = Vec::new();
    let visit = &mut |row: Vec<DatabaseCell>| {
        found.extend(row.into_iter().filter_map(DatabaseCell::into_text));
        found.len() < SESSIONS_MAX
    };
    open(path)?.each(SESSIONS, &[], visit).map_err(io)?;
    Ok(found)
}

/// Checks that a database has a session.
pub(super) fn check_session(path: &Path, id: &str, look: RowsLook) -> std::io::Result<()> {
    let mut database = open_within(path, look.patience())?;
    let is_there = has(&mut database, HAS_SESSION, &[id])?;
    if is_there { Ok(()) } else { Err(missing("the database has no such session")) }
}

/// Says when a session was written into last.
pub(super) fn modified(path: &Path, id: &str) -> std::io::Result<Instant> {
    let mut database = open(path)?;
    if !has(&mut database, HAS_SESSION, &[id])? {
        return Err(missing("the database has no such session"));
    }
    let row = database.first(NEWEST_MESSAGE, &[text(id)]).map_err(io)?.unwrap_or_default();
    let newest = row.iter().skip(1).filter_map(DatabaseCell::as_integer).max();
    Ok(Instant::from_millis(newest.unwrap_or(0)))
}

pub(super) fn stamp(path: &Path, id: &str) -> std::io::Result<u64> {
    let mut database = open(path)?;
    let mut hasher = blake3::Hasher::new();
    for question in [MESSAGES, PARTS] {
        let row = database.first(question, &[text(id)]).map_err(io)?;
        hasher.update(format!("{row:?}\0").as_bytes());
    }
    Ok(super::files::number(&hasher))
}

fn open(path: &Path) -> std::io::Result<ForeignDatabase> {
    open_within(path, RowsLook::Whole.patience())
}

fn open_within(path: &Path, patience: Duration) -> std::io::Result<ForeignDatabase> {
    let mut database = ForeignDatabase::open_within(path, patience).map_err(io)?;
    for table in TABLES {
        if !has(&mut database, HAS_TABLE, &[table])? {
            return Err(missing("it is no database of opencode"));
        }
    }
    Ok(database)
}

fn has(database: &mut ForeignDatabase, question: &str, names: &[&str]) -> std::io::Result<bool> {
    let names: Vec<DatabaseCell> = names.iter().map(|name| text(name)).collect();
    Ok(database.first(question, &names).map_err(io)?.is_some())
}

fn content<'r>(data: Option<&'r str>, length: &DatabaseCell) -> RowContent<'r> {
    let n_bytes = || length.as_integer().and_then(|it| u64::try_from(it).ok()).unwrap_or(0);
    data.map_or_else(|| RowContent::TooLong(n_bytes()), RowContent::Whole)
}

fn text(text: &str) -> DatabaseCell {
    DatabaseCell::Text(text.to_owned())
}

fn io(fault: DatabaseFault) -> std::io::Error {
    match fault.is_busy() {
        true => std::io::Error::new(std::io::ErrorKind::ResourceBusy, fault),
        false => std::io::Error::other(fault),
    }
}
