//! What was read of a transcript: on its way into the journal, and how far the cursor moves with it.

use agentic_model::{Entry, Map, Object, Value};
use agentic_store::Layout;

use super::io;
use super::mark::TranscriptMarks;
use crate::conversation::BindReason;
use crate::cursor::{CursorOwner, CursorReach, TranscriptCursor};
use crate::{CaptureError, ConversationId};

/// New entries, with where the cursor stands once they are appended.
pub struct CaughtUp {
    /// What is to be appended.
    pub entries: Vec<Entry>,
    /// What they name, and is to be kept before.
    pub pictures: Vec<Object>,
    /// The conversation of which this one is a fork, as its lines say.
    pub forked_from: Option<String>,
    /// How much of the file was read.
    pub reach: CursorReach,
    pub(super) conversation: ConversationId,
    pub(super) subagent: Option<String>,
    pub(super) cursor: Option<TranscriptCursor>,
    pub(super) sureness: CursorSureness,
    pub(super) marks: TranscriptMarks,
    pub(super) file: String,
    pub(super) to: u64,
}

/// Whether the next who reads on may trust the cursor alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CursorSureness {
    /// They may.
    Sure,
    /// They look ids up: what was held has been given out already.
    Unsure,
}

/// Says of a transcript that its cursor is not to be trusted alone: the next who reads looks ids up.
///
/// # Errors
/// Fails when the folder cannot be written.
pub fn mark_unsure(layout: &Layout, owner: &CursorOwner<'_>) -> Result<(), CaptureError> {
    TranscriptMarks::of(&layout.capture(), owner).put_unsure()
}

impl CaughtUp {
    /// Notes that entries are about to be appended, so that whoever dies in between is found out, and
    /// how far the file will be read then, for the trace that they will be bound in.
    ///
    /// # Errors
    /// Fails when the folder cannot be written.
    pub fn begin(&self) -> Result<(), CaptureError> {
        if self.entries.is_empty() { Ok(()) } else { self.marks.put_unsure() }
    }

    /// Says what a trace with these entries says of the conversation.
    pub fn captured(&self, reason: BindReason) -> Map {
        let to = Value::Int(i64::try_from(self.to).unwrap_or(i64::MAX));
        let mut said = Map::from([
            ("source".to_owned(), Value::text(self.conversation.source.as_str())),
            ("conversation".to_owned(), Value::text(&self.conversation.native)),
            ("reason".to_owned(), Value::text(reason.as_str())),
            ("file".to_owned(), Value::text(&self.file)),
            ("to".to_owned(), to),
        ]);
        let subagent = self.subagent.as_ref().map(|id| ("subagent".to_owned(), Value::text(id)));
        said.extend(subagent);
        said
    }

    /// Reads the cursor as it is now: who moved it was faster.
    pub fn seen(&self, layout: &Layout) -> Option<TranscriptCursor> {
        let owner =
            CursorOwner { conversation: &self.conversation, subagent: self.subagent.as_deref() };
        TranscriptCursor::load(&layout.capture(), owner)
    }

    /// Moves the cursor, once the entries are in the journal or bound.
    ///
    /// # Errors
    /// Fails when the cursor cannot be written; the next event then looks the ids up.
    pub fn finish(&self, layout: &Layout) -> Result<(), CaptureError> {
        let owner =
            CursorOwner { conversation: &self.conversation, subagent: self.subagent.as_deref() };
        let Some(cursor) = &self.cursor else { return Ok(()) };
        cursor.save(&layout.capture(), owner).map_err(io)?;
        agentic_store::fault::point("cursor-moved")?;
        match self.sureness {
            CursorSureness::Sure => self.marks.put_sure(),
            CursorSureness::Unsure => self.marks.put_unsure(),
        }
    }
}
