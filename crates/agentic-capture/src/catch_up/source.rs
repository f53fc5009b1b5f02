//! Finding the transcript that an event is about.

use std::path::PathBuf;

use agentic_model::Instant;

use crate::event::{HookEvent, HookMoment, TranscriptPath};
use crate::import::find::rows_of;
use crate::{ConversationId, HookEnvironment, Source, VendorFile, VendorFileRefusal, VendorRoots};

/// Where the words of an event's conversation are kept.
#[derive(Debug)]
pub enum TranscriptSource {
    /// In this file.
    File(VendorFile),
    /// There is a place for it, and nothing to read there.
    Unreadable(VendorFileRefusal),
    /// Nowhere, as the event says.
    Nowhere,
}

impl TranscriptSource {
    /// Finds the transcript that an event is about: of a subagent its own.
    pub fn find(
        event: &HookEvent,
        roots: &VendorRoots,
        environment: &HookEnvironment,
        now: Instant,
    ) -> TranscriptSource {
        let said = match &event.subagent {
            Some(subagent) if event.moment == HookMoment::SubagentEnds => &subagent.transcript,
            Some(_) | None => &event.transcript,
        };
        let path = match said {
            TranscriptPath::At(path) => Some(path.clone()),
            TranscriptPath::None => None,
            TranscriptPath::Unsaid if event.source == Source::Opencode => {
                let rows = |id| TranscriptSource::of_rows(id, roots, environment, now);
                return event.conversation.as_ref().map_or(TranscriptSource::Nowhere, rows);
            }
            TranscriptPath::Unsaid => own_place(event, environment),
        };
        match path.map(|path| roots.open(&path)) {
            Some(Ok(file)) => TranscriptSource::File(file),
            Some(Err(refusal)) => TranscriptSource::Unreadable(refusal),
            None => TranscriptSource::Nowhere,
        }
    }

    /// Finds the rows of a conversation, in the first place that has any.
    fn of_rows(
        id: &ConversationId,
        roots: &VendorRoots,
        environment: &HookEnvironment,
        now: Instant,
    ) -> TranscriptSource {
        let mut found = TranscriptSource::Nowhere;
        for path in rows_of(id, environment) {
            match roots.open_live_rows(&path, id, now) {
                Ok(file) => return TranscriptSource::File(file),
                Err(VendorFileRefusal::Missing) => {}
                Err(refusal) => found = TranscriptSource::Unreadable(refusal),
            }
        }
        found
    }

    /// Returns the code of what is worth a line in the error log.
    pub fn refusal(&self) -> Option<&'static str> {
        match self {
            TranscriptSource::Unreadable(refusal) => refusal.code(),
            TranscriptSource::File(_) | TranscriptSource::Nowhere => None,
        }
    }

    /// Tells whether there is something to read.
    pub fn is_readable(&self) -> bool {
        matches!(self, TranscriptSource::File(_))
    }

    /// Tells whether the event says that there is none.
    pub fn is_none(&self) -> bool {
        matches!(self, TranscriptSource::Nowhere)
    }
}

/// Finds the transcript of a vendor that does not say where it is.
fn own_place(event: &HookEvent, environment: &HookEnvironment) -> Option<PathBuf> {
    let id = &event.conversation.as_ref()?.native;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if event.source != Source::Copilot || !id.chars().all(is_plain) {
        return None;
    }
    let home = environment.path("COPILOT_HOME");
    let home = home.or(environment.home().map(|home| home.join(".copilot")))?;
    Some(home.join("session-state").join(id).join("events.jsonl"))
}
