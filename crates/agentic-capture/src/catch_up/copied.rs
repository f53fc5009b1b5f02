//! Copies of another conversation's lines, with which a transcript begins: of a fork, and of what was
//! resumed in a file of its own.

use super::resumed::resumed_from;
use super::{CatchUpJob, OpenCatchUp, io};
use crate::cursor::open_at;
use crate::line_json::TextRedactor;
use crate::mapping::{COPIED_ITEMS_MAX, ConversationMapping, CopiedItem};
use crate::transcript::{TranscriptLine, TranscriptPlace, TranscriptReader};
use crate::{CaptureError, ConversationId, VendorFile};

/// Conversations with whose lines another may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopiedConversations<'c> {
    /// These.
    These(&'c [ConversationId]),
    /// Those whose files lie beside and begin alike.
    Beside,
}

impl CatchUpJob<'_> {
    /// Finds the conversations with whose lines this one may begin, or still goes on.
    pub(super) fn copied_by(
        &self,
        file: &VendorFile,
        place: TranscriptPlace,
        mapping: &mut ConversationMapping,
    ) -> Vec<ConversationId> {
        match self.copied {
            CopiedConversations::These(copied) => copied.to_vec(),
            CopiedConversations::Beside if self.subagent.is_some() => Vec::new(),
            CopiedConversations::Beside if place.offset == 0 => {
                let found = resumed_from(file, self.conversation, self.space.now());
                mapping.copies_from(found.iter().map(|id| id.native.as_str()));
                found
            }
            CopiedConversations::Beside => {
                let source = self.conversation.source;
                let names = mapping.facts().copied_from();
                names.map(|name| ConversationId { source, native: name.to_owned() }).collect()
            }
        }
    }
}

impl OpenCatchUp<'_> {
    /// Looks up what the conversation has said of which the last line is a copy.
    pub(super) fn know_copied(&mut self) -> Result<(), CaptureError> {
        let Some(from) = self.mapping.facts().copies_of() else { return Ok(()) };
        if self.copies_of.as_deref() == Some(from) {
            return Ok(());
        }
        let source = self.job.conversation.source;
        let other = ConversationId { source, native: from.to_owned() };
        self.copies_of = Some(other.native.clone());
        self.know(&other)
    }

    /// Reads the items of the conversation of which this one is a fork, whose copies come next.
    pub(super) fn expect_copies(
        &mut self,
        redactor: &mut TextRedactor<'_>,
    ) -> Result<(), CaptureError> {
        let Some(from) = self.mapping.facts().forked_from() else { return Ok(()) };
        let source = self.job.conversation.source;
        let other = ConversationId { source, native: from.to_owned() };
        let Some(file) = (self.job.transcript_of)(&other) else { return Ok(()) };
        let opened = open_at(&file, None, &self.key).map_err(io)?;
        let mut lines = TranscriptReader::new(opened.input, TranscriptPlace::default());
        let mut items = Vec::new();
        while let Some(line) = lines.next_line().map_err(io)? {
            if let TranscriptLine::Whole { bytes, .. } = line {
                items.extend(CopiedItem::read(bytes, redactor));
            }
            if items.len() >= COPIED_ITEMS_MAX {
                break;
            }
        }
        self.mapping.expect_copies(items);
        Ok(())
    }
}
