//! Finding the transcript that an event is about.

use std::path::PathBuf;

use crate::event::{HookEvent, HookMoment, TranscriptPath};
use crate::{HookEnvironment, Source, VendorFile, VendorFileRefusal, VendorRoots};

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
    ) -> TranscriptSource {
        let said = match &event.subagent {
            Some(subagent) if event.moment == HookMoment::SubagentEnds => &subagent.transcript,
            Some(_) | None => &event.transcript,
        };
        let path = match said {
            TranscriptPath::At(path) => Some(path.clone()),
            TranscriptPath::None => None,
            TranscriptPath::Unsaid => own_place(event, environment),
        };
        match path.map(|path| roots.open(&path)) {
            Some(Ok(file)) => TranscriptSource::File(file),
            Some(Err(refusal)) => TranscriptSource::Unreadable(refusal),
            None => TranscriptSource::Nowhere,
        }
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
