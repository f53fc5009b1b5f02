//! Marks of a transcript, beside its cursor.
//!
//! One says that the cursor is not to be trusted alone: entries are being appended, or were given out that
//! it does not count. It takes its leave as the other, which stays: lines of the transcript were taken
//! before. Who misses the cursor then knows that it was lost, and looks the ids of entries up.

use std::path::{Path, PathBuf};

use agentic_store::file::{self, in_folder, put_mark};

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
        in_folder(&self.unsure, || put_mark(&self.unsure)).map_err(io)
    }

    /// Says that the cursor may be trusted alone, as long as it is there.
    ///
    /// # Errors
    /// Fails when the folder cannot be written.
    pub fn put_sure(&self) -> Result<(), CaptureError> {
        if self.is_taken() || !self.is_unsure() {
            return Ok(file::remove(&self.unsure)?);
        }
        in_folder(&self.taken, || std::fs::rename(&self.unsure, &self.taken)).map_err(io)
    }
}
