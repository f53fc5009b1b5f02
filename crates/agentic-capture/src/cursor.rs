//! How far a transcript was read, and what its mapping holds.
//!
//! A cache: a small file each, below `cursor/` of the folder of captures. Without it a transcript is
//! read from its beginning, and its entries are known by their ids. Ids become file names only by
//! hash.
//!
//! A session that is kept as rows is told again by the last row that was read.

use std::path::{Path, PathBuf};

use agentic_model::{Map, Value, canonical};
use agentic_store::file::{self, Persistence};

use crate::catch_up::RecentEntries;
use crate::opencode_store::{OpencodeSession, RowMark};
use crate::plain_text::PlainText;
use crate::transcript::{PlacedFile, TranscriptPlace};
use crate::vendor_file::{FileStamp, TranscriptForm};
use crate::{ConversationId, Source, VendorFile};

/// How many bytes at the beginning, and before the place, tell a file again.
const WINDOW_BYTES: u64 = 4 << 10;
/// The longest cursor that is read, in bytes: what mappings hold is bounded.
const CURSOR_BYTES_MAX: u64 = 16 << 20;
/// How many bytes of a hash tell one key from another.
const KEY_MARK_BYTES: usize = 8;
/// The form of the files.
const VERSION: i64 = 1;

/// The key with which bytes of transcripts are hashed.
pub type CaptureKey = [u8; 32];

/// Whose transcript a cursor is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CursorOwner<'c> {
    /// The conversation.
    pub conversation: &'c ConversationId,
    /// The subagent, if it is one's transcript.
    pub subagent: Option<&'c str>,
}

/// How far a transcript was read.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptCursor {
    /// The file, below the folder of its vendor.
    pub file: String,
    /// Where reading stands, in bytes of the plain text.
    pub place: TranscriptPlace,
    /// What the mapping holds.
    pub state: Value,
    /// Whether reading came to the end of the file.
    pub reach: CursorReach,
    /// How far the file was ever read. What comes before that may be known, whatever the file is now.
    pub once: u64,
    /// The entries that were made last.
    pub recent: RecentEntries,
    /// The last row that was read, of what is kept as rows: it tells a session again.
    row: Option<RowMark>,
    stamp: FileStamp,
    /// What tells the key from others with which the rest was hashed; nothing in cursors of before.
    key: Option<[u8; KEY_MARK_BYTES]>,
    /// Keyed hashes of the first bytes, and of the last before the place.
    first: [u8; 32],
    last: [u8; 32],
}

/// How much of the file was read that was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CursorReach {
    /// All whole lines.
    End,
    /// Not all, or nobody knows.
    Part,
}

/// What a file is to a cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CursorMatch {
    /// The same, and maybe longer: reading goes on.
    GoesOn,
    /// Another, or written anew: it is read from its beginning.
    Anew,
}

/// A transcript that is open, at a place.
pub struct OpenTranscript {
    /// Its plain text, from the place on.
    pub input: PlainText<PlacedFile>,
    /// The place.
    pub place: TranscriptPlace,
    /// What the file is to the cursor.
    pub found: CursorMatch,
}

impl CursorOwner<'_> {
    fn path(&self, captures: &Path) -> PathBuf {
        let ConversationId { source, native } = self.conversation;
        let name = format!("{native}\0{}", self.subagent.unwrap_or_default());
        let name = agentic_store::hash_hex(name.as_bytes())[..40].to_owned();
        captures.join("cursor").join(source.as_str()).join(&name[..2]).join(&name[2..])
    }

    fn is_of(&self, value: &Value) -> bool {
        let text = |name: &str| value.get(name).and_then(Value::as_text);
        text("source").and_then(|name| Source::parse(name).ok()) == Some(self.conversation.source)
            && text("conversation") == Some(&self.conversation.native)
            && text("subagent") == self.subagent
    }
}

impl TranscriptCursor {
    /// Tells whether there is a cursor, sound or damaged.
    pub fn exists(captures: &Path, owner: CursorOwner<'_>) -> bool {
        owner.path(captures).exists()
    }

    /// Reads the cursor of a transcript; nothing if there is none, or if it is damaged.
    pub fn load(captures: &Path, owner: CursorOwner<'_>) -> Option<TranscriptCursor> {
        let bytes = file::read_small(&owner.path(captures), CURSOR_BYTES_MAX).ok()?;
        let value = canonical::decode(&bytes).ok()?;
        TranscriptCursor::from_value(&value).filter(|_| owner.is_of(&value))
    }

    /// Writes the cursor in the place of the one before.
    ///
    /// # Errors
    /// Fails when the folder cannot be written.
    pub fn save(&self, captures: &Path, owner: CursorOwner<'_>) -> std::io::Result<()> {
        let path = owner.path(captures);
        let bytes = canonical::encode(&self.to_value(owner)).map_err(std::io::Error::other)?;
        let replace = || file::replace(&path, &bytes, Persistence::Cache);
        // To make a folder that is there waits for all who change the one above.
        let written = match (replace(), path.parent()) {
            (Err(agentic_store::Error::File(error)), Some(folder)) if error.is_missing() => {
                std::fs::create_dir_all(folder)?;
                replace()
            }
            (written, _) => written,
        };
        written.map_err(std::io::Error::other)
    }

    /// Makes the cursor of a file that was read up to a place.
    ///
    /// # Errors
    /// Fails when the file cannot be read.
    pub fn of(
        file: &VendorFile,
        place: TranscriptPlace,
        key: &CaptureKey,
    ) -> std::io::Result<TranscriptCursor> {
        let stamp = file.stamp()?;
        let windows = Windows::read(file, place.offset, key)?;
        Ok(TranscriptCursor {
            file: file.below.to_string_lossy().into_owned(),
            place,
            state: Value::Null,
            reach: CursorReach::Part,
            once: place.offset,
            recent: RecentEntries::default(),
            row: None,
            stamp,
            key: Some(mark_of_key(key)),
            first: windows.first,
            last: windows.last,
        })
    }

    /// Tells whether it was made with a key: with another one it does not tell a file again.
    pub fn is_keyed(&self, key: &CaptureKey) -> bool {
        self.key.is_none_or(|mark| mark == mark_of_key(key))
    }

    /// Adds what the mapping holds.
    pub fn with_state(mut self, state: Value) -> TranscriptCursor {
        self.state = state;
        self
    }

    /// Adds the entries that were made last.
    pub fn with_recent(mut self, recent: RecentEntries) -> TranscriptCursor {
        self.recent = recent;
        self
    }

    /// Adds the last row that was read.
    pub fn with_row(mut self, row: Option<RowMark>) -> TranscriptCursor {
        self.row = row;
        self
    }

    /// Says how far the file was read before.
    pub fn with_once(mut self, once: u64) -> TranscriptCursor {
        self.once = self.once.max(once);
        self
    }

    /// Says how much of the file was read.
    pub fn with_reach(mut self, reach: CursorReach) -> TranscriptCursor {
        self.reach = reach;
        self
    }

    /// Tells whether a file was read to its end and has not been touched since: the same, of the same
    /// length.
    pub fn is_at_rest(&self, found: FileStamp) -> bool {
        self.reach == CursorReach::End && self.stamp == found
    }

    fn to_value(&self, owner: CursorOwner<'_>) -> Value {
        let number = |number: u64| Value::Int(i64::try_from(number).unwrap_or(i64::MAX));
        let mut value = Map::from([
            ("v".to_owned(), Value::Int(VERSION)),
            ("source".to_owned(), Value::text(owner.conversation.source.as_str())),
            ("conversation".to_owned(), Value::text(&owner.conversation.native)),
            ("file".to_owned(), Value::text(&self.file)),
            ("offset".to_owned(), number(self.place.offset)),
            ("device".to_owned(), number(self.stamp.device)),
            ("inode".to_owned(), number(self.stamp.inode)),
            ("length".to_owned(), number(self.stamp.length)),
            ("first".to_owned(), Value::Bytes(self.first.to_vec())),
            ("last".to_owned(), Value::Bytes(self.last.to_vec())),
            ("state".to_owned(), self.state.clone()),
            ("recent".to_owned(), self.recent.to_value()),
        ]);
        let subagent = owner.subagent.map(|id| ("subagent".to_owned(), Value::text(id)));
        if self.once > self.place.offset {
            value.insert("once".to_owned(), number(self.once));
        }
        if self.reach == CursorReach::End {
            value.insert("end".to_owned(), Value::Bool(true));
        }
        if let Some(row) = &self.row {
            let row = Value::map([
                ("created", Value::Int(row.created)),
                ("message", Value::text(&row.message)),
                ("part", Value::text(&row.part)),
            ]);
            value.insert("row".to_owned(), row);
        }
        let long = self.place.too_long_from.map(|from| ("too_long_from".to_owned(), number(from)));
        let key = self.key.map(|mark| ("key".to_owned(), Value::Bytes(mark.to_vec())));
        value.extend(subagent.into_iter().chain(long).chain(key));
        Value::Map(value)
    }

    fn from_value(value: &Value) -> Option<TranscriptCursor> {
        let number = |name: &str| u64::try_from(value.get(name)?.as_int()?).ok();
        let hash = |name: &str| <[u8; 32]>::try_from(value.get(name)?.as_bytes()?).ok();
        if value.get("v")?.as_int()? != VERSION {
            return None;
        }
        Some(TranscriptCursor {
            file: value.get("file")?.as_text()?.to_owned(),
            place: TranscriptPlace {
                offset: number("offset")?,
                too_long_from: number("too_long_from"),
            },
            state: value.get("state")?.clone(),
            once: number("once").or_else(|| number("offset"))?,
            recent: value.get("recent").map(RecentEntries::from_value).unwrap_or_default(),
            row: value.get("row").and_then(row_of),
            reach: match value.get("end").and_then(Value::as_bool) {
                Some(true) => CursorReach::End,
                Some(false) | None => CursorReach::Part,
            },
            stamp: FileStamp {
                device: number("device")?,
                inode: number("inode")?,
                length: number("length")?,
            },
            key: value.get("key").and_then(|mark| mark.as_bytes()?.try_into().ok()),
            first: hash("first")?,
            last: hash("last")?,
        })
    }
}

fn mark_of_key(key: &CaptureKey) -> [u8; KEY_MARK_BYTES] {
    let hash = blake3::keyed_hash(key, b"the mark of a key");
    *hash.as_bytes().first_chunk().expect("a hash is longer")
}

fn row_of(value: &Value) -> Option<RowMark> {
    let text = |name: &str| value.get(name)?.as_text().map(str::to_owned);
    let created = value.get("created")?.as_int()?;
    Some(RowMark { created, message: text("message")?, part: text("part")? })
}

/// Opens a transcript where a cursor stands, or at its beginning where it is another file than the
/// cursor's: shorter, or with other bytes before the place. Moved, restored and compressed files go on.
///
/// # Errors
/// Fails when the file cannot be read.
pub fn open_at(
    file: &VendorFile,
    cursor: Option<&TranscriptCursor>,
    key: &CaptureKey,
) -> std::io::Result<OpenTranscript> {
    if let TranscriptForm::Rows(session) = &file.form {
        return open_rows(session, cursor);
    }
    let place = cursor.map(|cursor| cursor.place).unwrap_or_default();
    let matches = match cursor {
        Some(cursor) => {
            let found = Windows::read(file, place.offset, key)?;
            found.is_whole && (found.first, found.last) == (cursor.first, cursor.last)
        }
        None => false,
    };
    let found = if matches { CursorMatch::GoesOn } else { CursorMatch::Anew };
    let place = if matches { place } else { TranscriptPlace::default() };
    let input = file.text_at(place.offset)?;
    Ok(OpenTranscript { input, place, found })
}

/// Opens rows behind the one that was read last, or at their beginning where that is gone.
fn open_rows(
    session: &OpencodeSession,
    cursor: Option<&TranscriptCursor>,
) -> std::io::Result<OpenTranscript> {
    if let Some(cursor) = cursor
        && let Some(row) = &cursor.row
        && let Some(rows) = session.rows_after(row)?
    {
        let input = PlainText::Rows(Box::new(rows));
        return Ok(OpenTranscript { input, place: cursor.place, found: CursorMatch::GoesOn });
    }
    let input = PlainText::Rows(Box::new(session.rows()?));
    Ok(OpenTranscript { input, place: TranscriptPlace::default(), found: CursorMatch::Anew })
}

/// What tells a file again.
struct Windows {
    first: [u8; 32],
    last: [u8; 32],
    /// Whether the file reaches as far as was asked.
    is_whole: bool,
}

impl Windows {
    fn read(file: &VendorFile, offset: u64, key: &CaptureKey) -> std::io::Result<Windows> {
        // Rows are told again by the last that was read.
        let length = match &file.form {
            TranscriptForm::Rows(_) => 0,
            TranscriptForm::Lines | TranscriptForm::Messages => WINDOW_BYTES.min(offset),
        };
        let room = usize::try_from(length).unwrap_or(0);
        let part_at = |at: u64| if room == 0 { Ok(Vec::new()) } else { file.part_at(at, room) };
        let first = part_at(0)?;
        let last = if offset == length { first.clone() } else { part_at(offset - length)? };
        let is_whole = [&first, &last].iter().all(|bytes| bytes.len() as u64 == length);
        let hash = |bytes: &[u8]| *blake3::keyed_hash(key, bytes).as_bytes();
        Ok(Windows { first: hash(&first), last: hash(&last), is_whole })
    }
}

#[cfg(test)]
mod tests;
