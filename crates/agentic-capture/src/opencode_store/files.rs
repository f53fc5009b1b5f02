//! Sessions of older versions of opencode: `session/PROJECT/SESSION.json`, `message/SESSION/*.json`
//! and `part/MESSAGE/*.json` below `storage/`. Their names are the ids; they sort in time.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use agentic_model::Instant;

use super::{OpencodeRow, ROW_BYTES_MAX, RowContent, RowMark, SessionHead, is_unfinished, missing};
use crate::line_json::LineJson;

/// How many rows a session has, or a message.
const ROWS_MAX: usize = 1 << 20;

/// The files of one session.
pub(super) struct FileRows {
    root: PathBuf,
    session: String,
    settled_before: Instant,
    /// The session's own line, until it is told.
    head: Option<String>,
    /// The messages that come next, the last first.
    messages: Vec<String>,
    /// The message whose parts come next, and they, the last first.
    parts: (String, Vec<String>),
}

impl FileRows {
    pub fn open(root: &Path, id: &str, settled_before: Instant) -> std::io::Result<FileRows> {
        let file = session_file(root, id).ok_or_else(|| missing("the session is gone"))?;
        let data = read(root, &file)?.text()?;
        let json = LineJson::parse(&data).map_err(|_| std::io::Error::other("damaged"))?;
        let text = |key: &str| json.text(key).map(str::to_owned);
        let head = SessionHead {
            parent: text("parentID"),
            directory: text("directory"),
            title: text("title"),
            version: text("version"),
        };
        Ok(FileRows {
            root: root.to_owned(),
            session: id.to_owned(),
            settled_before,
            head: Some(head.line(id)),
            messages: names_in(&root.join("message").join(id)),
            parts: (String::new(), Vec::new()),
        })
    }

    /// Steps behind a row, and tells whether that is there. When its message came does not count here.
    pub fn step_behind(&mut self, mark: &RowMark) -> bool {
        self.head = None;
        if mark.message.is_empty() {
            return true;
        }
        let is_there = self.messages.contains(&mark.message);
        self.messages.retain(|message| *message > mark.message);
        self.parts = self.parts_of(&mark.message);
        let has_part = mark.part.is_empty() || self.parts.1.contains(&mark.part);
        self.parts.1.retain(|part| *part > mark.part);
        is_there && has_part
    }

    fn parts_of(&self, message: &str) -> (String, Vec<String>) {
        (message.to_owned(), names_in(&self.root.join("part").join(message)))
    }

    /// Reads the next row, and marks it.
    pub fn next_line(&mut self) -> std::io::Result<Option<(String, RowMark)>> {
        if let Some(head) = self.head.take() {
            return Ok(Some((head, RowMark::of_session())));
        }
        if let Some(part) = self.parts.1.pop() {
            let message = self.parts.0.clone();
            let file =
                read(&self.root, &self.root.join("part").join(&message).join(file_name(&part)))?;
            let row = OpencodeRow {
                table: "part",
                id: &part,
                owner: ("message_id", &message),
                created: None,
                content: file.content(),
            };
            let line = row.line();
            return Ok(Some((line, RowMark { created: 0, message, part })));
        }
        let Some(message) = self.messages.pop() else { return Ok(None) };
        let path = self.root.join("message").join(&self.session).join(file_name(&message));
        let file = read(&self.root, &path)?;
        let is_settled = file.modified < self.settled_before;
        let data = file.data.as_deref().unwrap_or_default();
        if is_unfinished(data) && !is_settled {
            self.messages.clear();
            return Ok(None);
        }
        let created = LineJson::parse(data).ok().and_then(|it| it.get("time")?.int("created"));
        let row = OpencodeRow {
            table: "message",
            id: &message,
            owner: ("session_id", &self.session),
            created,
            content: file.content(),
        };
        let line = row.line();
        self.parts = self.parts_of(&message);
        Ok(Some((line, RowMark { created: 0, message, part: String::new() })))
    }
}

/// A file that was read.
struct RowFile {
    /// What it says, unless that is too long.
    data: Option<String>,
    length: u64,
    modified: Instant,
}

impl RowFile {
    fn content(&self) -> RowContent<'_> {
        self.data.as_deref().map_or(RowContent::TooLong(self.length), RowContent::Whole)
    }

    fn text(self) -> std::io::Result<String> {
        self.data.ok_or_else(|| std::io::Error::other("the file is too long"))
    }
}

/// Tells by its place whether a file is that of a session.
pub(super) fn is_session(path: &Path) -> bool {
    let above = |n: usize| path.ancestors().nth(n).and_then(Path::file_name);
    path.extension().is_some_and(|ending| ending == "json")
        && above(2).is_some_and(|folder| folder == "session")
        && above(3).is_some_and(|folder| folder == "storage")
}

/// Says when a session was written into last.
pub(super) fn modified(root: &Path, path: &Path, id: &str) -> std::io::Result<Instant> {
    let mut newest = read(root, path)?.modified;
    for message in names_in(&root.join("message").join(id)) {
        let file = root.join("message").join(id).join(file_name(&message));
        newest = newest.max(modified_at(&std::fs::metadata(file)?));
    }
    Ok(newest)
}

pub(super) fn stamp(root: &Path, id: &str) -> std::io::Result<u64> {
    let mut hasher = blake3::Hasher::new();
    let mut add = |path: &Path| {
        let found = std::fs::metadata(path)?;
        let look = (path, found.len(), found.mtime(), found.mtime_nsec());
        hasher.update(format!("{look:?}\0").as_bytes());
        std::io::Result::Ok(())
    };
    for message in names_in(&root.join("message").join(id)) {
        add(&root.join("message").join(id).join(file_name(&message)))?;
        let parts = root.join("part").join(&message);
        for part in names_in(&parts) {
            add(&parts.join(file_name(&part)))?;
        }
    }
    Ok(number(&hasher))
}

/// Makes a number of a hash.
pub(super) fn number(hasher: &blake3::Hasher) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    // A cursor keeps it as a number with a sign.
    u64::from_le_bytes(first) >> 1
}

fn session_file(root: &Path, id: &str) -> Option<PathBuf> {
    let projects = std::fs::read_dir(root.join("session")).ok()?.flatten();
    let mut files: Vec<PathBuf> =
        projects.map(|it| it.path().join(file_name(id))).filter(|path| path.is_file()).collect();
    files.sort();
    files.into_iter().next()
}

/// Lists the names of the rows in a folder, the last first.
fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries
        .filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".json")?.to_owned()));
    let mut names: Vec<String> = names.take(ROWS_MAX).collect();
    names.sort_unstable_by(|left, right| right.cmp(left));
    names
}

fn file_name(id: &str) -> String {
    format!("{id}.json")
}

/// Reads a file that lies below a folder and is one of this user.
fn read(root: &Path, path: &Path) -> std::io::Result<RowFile> {
    if !path.canonicalize()?.starts_with(root.canonicalize()?) {
        return Err(missing("the file lies elsewhere"));
    }
    let file: File = agentic_store::os::open_unblocked(path)?;
    let found = file.metadata()?;
    if !found.is_file() || found.uid() != agentic_store::user_id() {
        return Err(missing("it is no file of this user"));
    }
    let mut data = None;
    if found.len() <= ROW_BYTES_MAX {
        let mut bytes = Vec::new();
        file.take(ROW_BYTES_MAX).read_to_end(&mut bytes)?;
        data = Some(String::from_utf8_lossy(&bytes).into_owned());
    }
    Ok(RowFile { data, length: found.len(), modified: modified_at(&found) })
}

fn modified_at(found: &std::fs::Metadata) -> Instant {
    Instant::from_millis(found.mtime().saturating_mul(1000) + found.mtime_nsec() / 1_000_000)
}
