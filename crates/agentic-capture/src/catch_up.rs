//! Catching up: the new lines of a transcript become entries, from where the last event stopped.
//!
//! Nothing but what is new is read. A mark is made before entries are appended and goes after the
//! cursor has moved. Who finds it knows that a hook died in between, and looks the ids of entries up;
//! nobody else has to.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant as Moment};

use agentic_model::Entry;
use agentic_redact::SecretRedactor;
use agentic_space::capture::PendingWriter;
use agentic_store::Layout;

use crate::conversation::file_name_of;
use crate::cursor::{CursorMatch, CursorOwner, TranscriptCursor, open_at};
use crate::event::{HookEvent, HookMoment, TranscriptPath};
use crate::mapping::ConversationMapping;
use crate::transcript::{TranscriptLine, TranscriptPlace, TranscriptReader};
use crate::{
    CaptureError, ConversationId, HookEnvironment, Source, VendorFile, VendorFileRefusal,
    VendorRoots, spool,
};

/// How long lines are mapped in one event.
const MAPPING_TIME: Duration = Duration::from_millis(8);
/// How long at the end of a conversation.
const MAPPING_TIME_AT_END: Duration = Duration::from_secs(1);

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

/// What is caught up with.
pub struct CatchUpJob<'c> {
    /// Where cursors lie.
    pub layout: &'c Layout,
    /// Whose words these are: of a subagent of Claude Code those of its parent's conversation.
    pub conversation: &'c ConversationId,
    /// The subagent whose transcript it is.
    pub subagent: Option<&'c str>,
    /// Takes secrets out of what is written.
    pub redactor: &'c SecretRedactor,
    /// Tells whether there is time for another line.
    pub has_time: &'c mut dyn FnMut() -> bool,
}

/// New entries, with where the cursor stands once they are appended.
pub struct CaughtUp {
    /// What is to be appended.
    pub entries: Vec<Entry>,
    /// The conversation of which this one is a fork, as its lines say.
    pub forked_from: Option<String>,
    conversation: ConversationId,
    subagent: Option<String>,
    cursor: TranscriptCursor,
    mark: PathBuf,
}

/// Returns how long lines are mapped at an event.
pub fn mapping_time(moment: HookMoment) -> Duration {
    if moment == HookMoment::Ends { MAPPING_TIME_AT_END } else { MAPPING_TIME }
}

/// Makes what says whether there is time left, by the machine's clock.
pub fn within(time: Duration) -> impl FnMut() -> bool {
    let deadline = Moment::now() + time;
    move || Moment::now() < deadline
}

impl CatchUpJob<'_> {
    /// Maps what is new of a file. The caller appends it under the lock that `writer` has, and then
    /// calls [`CaughtUp::finish`].
    ///
    /// # Errors
    /// Fails when the transcript or the cursor cannot be read or written.
    pub fn catch_up(
        mut self,
        file: &VendorFile,
        writer: &PendingWriter<'_>,
    ) -> Result<CaughtUp, CaptureError> {
        let io = |source| CaptureError::Io { source };
        let captures = self.layout.capture();
        let owner = CursorOwner { conversation: self.conversation, subagent: self.subagent };
        let key = agentic_store::secret::key(&captures.join("key"))?;
        let mark = mark_of(&captures, &owner);
        let known = TranscriptCursor::load(&captures, owner);
        let opened =
            open_at(file.file.try_clone().map_err(io)?, known.as_ref(), &key).map_err(io)?;
        let restored = known.filter(|_| opened.found == CursorMatch::GoesOn).and_then(|known| {
            ConversationMapping::restore(self.conversation.clone(), &known.state)
        });
        let is_sound = restored.is_some() && !mark.exists();
        let (place, mut mapping) = match restored {
            Some(mapping) => (opened.place, mapping),
            None => (
                TranscriptPlace::default(),
                ConversationMapping::new(self.conversation.clone(), self.subagent),
            ),
        };
        let ids = match is_sound {
            true => None,
            // Somebody died here, or nothing is remembered: what is there already makes nothing.
            false => Some(spool::ids(&writer.pending_entries()?)),
        };
        let (entries, place) = self.map(opened.input, place, &mut mapping, ids.as_ref())?;
        let mut read = file.file.try_clone().map_err(io)?;
        let below = file.below.to_string_lossy();
        let cursor = TranscriptCursor::of(&mut read, &below, place, &key).map_err(io)?;
        if !entries.is_empty() {
            std::fs::create_dir_all(mark.parent().expect("in a folder")).map_err(io)?;
            std::fs::File::create(&mark).map_err(io)?;
        }
        Ok(CaughtUp {
            entries,
            forked_from: mapping.facts().forked_from().map(str::to_owned),
            conversation: self.conversation.clone(),
            subagent: self.subagent.map(str::to_owned),
            cursor: cursor.with_state(mapping.state()),
            mark,
        })
    }

    fn map(
        &mut self,
        input: impl std::io::Read,
        place: TranscriptPlace,
        mapping: &mut ConversationMapping,
        known: Option<&BTreeSet<String>>,
    ) -> Result<(Vec<Entry>, TranscriptPlace), CaptureError> {
        let redactor = self.redactor;
        let mut redact = |key: Option<&str>, text: &str| {
            let clean = match key {
                Some(key) => redactor.redact_beside(key, text),
                None => redactor.redact_text(text),
            };
            (!clean.findings.is_empty()).then(|| clean.text.into_owned())
        };
        let mut lines = TranscriptReader::new(input, place);
        let mut entries = Vec::new();
        while let Some(line) = lines.next_line().map_err(|source| CaptureError::Io { source })? {
            let mapped = match line {
                TranscriptLine::Whole { offset, bytes } => mapping.line(offset, bytes, &mut redact),
                TranscriptLine::TooLong { offset, length } => mapping.skipped(offset, length),
            };
            let is_new = |id: &str| known.is_none_or(|known| !known.contains(id));
            let mapped = mapped.iter().filter(|entry| is_new(entry.id()));
            entries.extend(mapped.flat_map(|entry| entry.to_entries()));
            // The next event goes on from here.
            if !(self.has_time)() {
                break;
            }
        }
        Ok((entries, lines.place()))
    }
}

impl CaughtUp {
    /// Moves the cursor, once the entries are in the journal.
    ///
    /// # Errors
    /// Fails when the cursor cannot be written; the next event then looks the ids up.
    pub fn finish(&self, layout: &Layout) -> Result<(), CaptureError> {
        let owner =
            CursorOwner { conversation: &self.conversation, subagent: self.subagent.as_deref() };
        let saved = self.cursor.save(&layout.capture(), owner);
        saved.map_err(|source| CaptureError::Io { source })?;
        agentic_store::fault::point("cursor-moved")?;
        Ok(agentic_store::file::remove(&self.mark)?)
    }
}

fn mark_of(captures: &Path, owner: &CursorOwner<'_>) -> PathBuf {
    let native = format!("{}\0{}", owner.conversation.native, owner.subagent.unwrap_or_default());
    let id = ConversationId { source: owner.conversation.source, native };
    captures.join("begun").join(file_name_of(&id))
}
