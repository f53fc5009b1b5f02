//! What the first lines of a transcript say: which conversation it is, where it took place, and of
//! which other it goes on.

use std::io::Read as _;

use agentic_model::{Instant, canonical};

use crate::cursor::open_at;
use crate::entry::EntryName;
use crate::line_json::LineJson;
use crate::mapping::ConversationMapping;
use crate::mapping::facts::ConversationFacts;
use crate::transcript::{TranscriptLine, TranscriptPlace, TranscriptReader};
use crate::{CaptureError, Source, VendorFile};

use super::find::FoundTranscript;

/// How many lines are looked at.
const LINES_MAX: usize = 64;
/// How many bytes of them.
const BYTES_MAX: u64 = 1 << 20;

/// How long facts are that are remembered, in bytes; longer ones are read again.
const KEPT_FACTS_BYTES_MAX: usize = 2 << 10;

/// What is remembered of a transcript until it is taken: there may be tens of thousands.
pub(super) struct KnownHead {
    pub found: FoundTranscript,
    /// The id of the first entry that its vendor has named.
    pub first: Option<String>,
    forked_from: Option<String>,
    parent: Option<String>,
    /// The facts in their canonical form, which takes a tenth of the room.
    facts: Option<Box<[u8]>>,
}

impl KnownHead {
    /// Remembers a head.
    pub fn of(head: TranscriptHead) -> KnownHead {
        let TranscriptHead { found, facts, first } = head;
        let (forked_from, parent) = (facts.forked_from(), facts.parent());
        let packed = canonical::encode(&facts.to_value()).ok();
        let packed = packed.filter(|bytes| bytes.len() <= KEPT_FACTS_BYTES_MAX);
        KnownHead {
            found,
            first,
            forked_from: forked_from.map(str::to_owned),
            parent: parent.map(str::to_owned),
            facts: packed.map(Vec::into_boxed_slice),
        }
    }

    /// The conversation of which it is a fork.
    pub fn forked_from(&self) -> Option<&str> {
        self.forked_from.as_deref()
    }

    /// The conversation that started this one.
    pub fn parent(&self) -> Option<&str> {
        self.parent.as_deref()
    }

    /// Returns the whole head again.
    pub fn whole(&self, file: &VendorFile) -> Result<TranscriptHead, CaptureError> {
        let kept = self.facts.as_ref().and_then(|bytes| canonical::decode(bytes).ok());
        match kept.and_then(|value| ConversationFacts::from_value(&value)) {
            Some(facts) => {
                let (found, first) = (self.found.clone(), self.first.clone());
                Ok(TranscriptHead { found, facts, first })
            }
            None => TranscriptHead::read(self.found.clone(), file),
        }
    }
}

/// What is known of a transcript before it is read.
pub(super) struct TranscriptHead {
    pub found: FoundTranscript,
    pub facts: ConversationFacts,
    /// The id of the first entry that its vendor has named: a copy begins with the same.
    pub first: Option<String>,
}

impl TranscriptHead {
    /// Reads the head of a file. Nothing of it is kept, so nothing is redacted.
    pub fn read(found: FoundTranscript, file: &VendorFile) -> Result<TranscriptHead, CaptureError> {
        let io = |source| CaptureError::Io { source };
        let opened = open_at(file, None, &[0; 32]).map_err(io)?;
        let place = TranscriptPlace::default();
        let mut lines = TranscriptReader::new(opened.input.take(BYTES_MAX), place);
        let mut found = found;
        let mut mapping = ConversationMapping::new(found.id.clone(), found.subagent.as_deref());
        let mut first = None;
        for _ in 0..LINES_MAX {
            let Some(line) = lines.next_line().map_err(io)? else { break };
            let TranscriptLine::Whole { offset, bytes } = line else { continue };
            if let Some(native) = named_by_line(&found, bytes) {
                found.id.native = native;
            }
            let entries = mapping.line(offset, bytes, &mut |_, _| None);
            let named = entries.iter().find(|entry| entry.named_by == EntryName::Vendor);
            first = first.or_else(|| named.map(|entry| entry.id().to_owned()));
        }
        Ok(TranscriptHead { found, facts: mapping.facts().clone(), first })
    }
}

/// Reads the id of the conversation from a line, where the name of the file does not have it, or may
/// be that of a copy.
fn named_by_line(found: &FoundTranscript, bytes: &[u8]) -> Option<String> {
    let is_named_elsewhere = match found.id.source {
        Source::Claude => found.id.native.is_empty() || found.is_elsewhere,
        Source::Codex | Source::Gemini => true,
        Source::Copilot => found.is_elsewhere,
        Source::Cursor | Source::Opencode => false,
    };
    if !is_named_elsewhere {
        return None;
    }
    let json = LineJson::parse(std::str::from_utf8(bytes).ok()?.trim_end()).ok()?;
    let said = match found.id.source {
        Source::Codex if json.text("type") == Some("session_meta") => {
            json.get("payload")?.text("id")
        }
        Source::Copilot if json.text("type") == Some("session.start") => {
            json.get("data")?.text("sessionId")
        }
        Source::Claude | Source::Gemini => json.text("sessionId"),
        Source::Codex | Source::Cursor | Source::Copilot | Source::Opencode => None,
    };
    said.filter(|said| !said.is_empty()).map(str::to_owned)
}

/// When a conversation began: when its first line was written, else when its file was.
pub(super) fn began(head: &TranscriptHead, file: &VendorFile) -> Instant {
    let modified = || file.modified().unwrap_or(Instant::from_millis(0));
    head.facts.first_at().unwrap_or_else(modified)
}
