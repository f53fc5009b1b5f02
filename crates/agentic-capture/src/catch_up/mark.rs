//! Marks of a transcript, beside its cursor.
//!
//! One says that the cursor is not to be trusted alone: entries are being appended, or were given out that
//! it does not count. It takes its leave as the other, which stays: lines of the transcript were taken
//! before. Who misses the cursor then knows that it was lost, and looks the ids of entries up.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use agentic_store::file::{self, put_mark};

use super::io;
use crate::conversation::file_name_of;
use crate::cursor::CursorOwner;
use crate::{CaptureError, ConversationId};

/// The marks of a transcript.
pub(super) struct TranscriptMarks {
    unsure: PathBuf,
    taken: PathBuf,
}

impl TranscriptMarks {
    /// Names them. Few conversations share a folder: whoever makes a file waits for all who do so beside it.
    pub fn of(captures: &Path, owner: &CursorOwner<'_>) -> TranscriptMarks {
        let native =
            format!("{}\0{}", owner.conversation.native, owner.subagent.unwrap_or_default());
        let id = ConversationId { source: owner.conversation.source, native };
        let name = file_name_of(&id);
        let below = Path::new(&name[..2]).join(&name[2..]);
        TranscriptMarks {
            unsure: captures.join("begun").join(&below),
            taken: captures.join("taken").join(&below),
        }
    }

    /// Tells whether the cursor is not to be trusted alone.
    pub fn is_unsure(&self) -> bool {
        self.unsure.exists()
    }

    /// Tells whether lines of the transcript were taken before.
    pub fn is_taken(&self) -> bool {
        self.taken.exists()
    }

    /// Says that the cursor is not to be trusted alone.
    ///
    /// # Errors
    /// Fails when the folder cannot be written.
    pub fn put_unsure(&self) -> Result<(), CaptureError> {
        let made = match put_mark(&self.unsure) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                make_folder(&self.unsure).and_then(|()| put_mark(&self.unsure))
            }
            made => made,
        };
        made.map_err(io)
    }

    /// Says that the cursor may be trusted alone, as long as it is there.
    ///
    /// # Errors
    /// Fails when the folder cannot be written.
    pub fn put_sure(&self) -> Result<(), CaptureError> {
        if self.is_taken() || !self.is_unsure() {
            return Ok(file::remove(&self.unsure)?);
        }
        let put = || std::fs::rename(&self.unsure, &self.taken);
        let moved = match put() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                make_folder(&self.taken).and_then(|()| put())
            }
            moved => moved,
        };
        moved.map_err(io)
    }
}

fn make_folder(mark: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(mark.parent().expect("marks stand in a folder"))
}
