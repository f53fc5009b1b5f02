//! Catching up: the new lines of a transcript become entries, from where the last event stopped.
//!
//! Nothing but what is new is read. A mark is made before entries are appended and goes after the
//! cursor has moved. Who finds it knows that a hook died in between, and looks the ids of entries up;
//! nobody else has to.

use std::time::{Duration, Instant as Moment};

use agentic_model::{AgentName, Entry, Object, Value};
use agentic_redact::SecretRedactor;
use agentic_space::Space;
use agentic_space::capture::read_captured;

use crate::conversation::ConversationRecord;
use crate::cursor::{
    CaptureKey, CursorMatch, CursorOwner, CursorReach, OpenTranscript, TranscriptCursor, open_at,
};
use crate::entry::CapturedEntry;
use crate::event::HookMoment;
use crate::known::{self, KnownEntries, PlaceNames};
use crate::mapping::ConversationMapping;
use crate::mapping::facts::ConversationFacts;
use crate::picture::{PictureUse, name_pictures, retain_named};
use crate::plain_text::PlainText;
use crate::transcript::{PlacedFile, TranscriptLine, TranscriptPlace, TranscriptReader};
use crate::vendor_file::TranscriptForm;
use crate::{CaptureError, ConversationId, Source, VendorFile, bindings, redaction};

mod caught;
mod copied;
mod looked;
mod mark;
mod recent;
mod resumed;
mod source;

use self::caught::CursorSureness;
pub use self::caught::{CaughtUp, mark_unsure};
pub use self::copied::CopiedConversations;
use self::looked::LookedTime;
use self::mark::TranscriptMarks;
use self::recent::EntryNews;
pub use self::recent::RecentEntries;
pub use self::source::TranscriptSource;

/// How long lines are mapped in one event.
const MAPPING_TIME: Duration = Duration::from_millis(8);
/// How long at the end of a conversation.
const MAPPING_TIME_AT_END: Duration = Duration::from_secs(1);

/// Looks up which entries of an agent no commit has.
type PendingLookup<'c> = Box<dyn FnOnce() -> Result<Vec<Entry>, CaptureError> + 'c>;

/// What is caught up with.
pub struct CatchUpJob<'c> {
    /// Where cursors lie, and what is bound already.
    pub space: &'c Space,
    /// Whose agent it is, unless that is not made yet.
    pub agent: Option<&'c AgentName>,
    /// Whose words these are: of a subagent of Claude Code those of its parent's conversation.
    pub conversation: &'c ConversationId,
    /// The subagent whose transcript it is.
    pub subagent: Option<&'c str>,
    /// Who speaks.
    pub speaker: Speaker,
    /// What becomes of pictures.
    pub pictures: PictureUse,
    /// Takes secrets out of what is written.
    pub redactor: &'c SecretRedactor,
    /// Conversations of which this one may begin with copies, though its lines do not say so.
    pub copied: CopiedConversations<'c>,
    /// Finds the transcript of another conversation, for the copies with which a fork's begins.
    pub transcript_of: &'c dyn Fn(&ConversationId) -> Option<VendorFile>,
}

/// Who speaks in a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// Whoever has the conversation.
    Main,
    /// A subagent, whose words its parent's agent keeps.
    Side,
}

/// How much is read in one go.
pub struct CatchUpLimits<'l> {
    /// Tells whether there is time for another line.
    pub has_time: &'l mut dyn FnMut() -> bool,
    /// How long the texts of the entries may get, in bytes; the line that passes it is the last.
    pub bytes_max: usize,
}

/// A transcript that is being read on.
pub struct OpenCatchUp<'c> {
    job: CatchUpJob<'c>,
    file: &'c VendorFile,
    key: CaptureKey,
    lines: TranscriptReader<PlainText<PlacedFile>>,
    mapping: ConversationMapping,
    /// What is known already, if that has to be looked up.
    known: Option<KnownEntries>,
    /// What was made last, and what looks up the rest unless that was done.
    recent: RecentEntries,
    pending: Option<PendingLookup<'c>>,
    places: PlaceNames,
    /// The conversation whose entries were looked up since lines are copies of its.
    copies_of: Option<String>,
    /// Whether the text is made while it is read, of something packed or of rows.
    is_made: bool,
    /// How far the file was ever read.
    once: u64,
    /// How long it took to look up what is known.
    looked: LookedTime,
    n_entries: u64,
    n_known: u64,
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

impl<'c> CatchUpJob<'c> {
    /// Opens a transcript where the last event stopped. `pending` are the agent's entries that no
    /// commit has; they are asked for only if somebody died here, nothing is remembered, or a line is old.
    ///
    /// # Errors
    /// Fails when the transcript, the cursor or a trace cannot be read.
    pub fn open(
        self,
        file: &'c VendorFile,
        pending: impl FnOnce() -> Result<Vec<Entry>, CaptureError> + 'c,
    ) -> Result<OpenCatchUp<'c>, CaptureError> {
        let layout = self.space.repository().layout();
        let captures = layout.capture();
        let key = redaction::key(layout)?;
        let marks = TranscriptMarks::of(&captures, &self.owner());
        // Where the key is another one, nobody can tell whether the file is the same.
        let cursor = TranscriptCursor::load(&captures, self.owner()).filter(|it| it.is_keyed(&key));
        // Without a cursor a file may have been read all the same.
        let said = if cursor.is_none() { self.reached(file) } else { None };
        let is_new = said.is_none() && !marks.is_taken() && self.was_never_open();
        let opened = open_at(file, cursor.as_ref(), &key).map_err(io)?;
        let has_cursor = cursor.is_some();
        let once = cursor.as_ref().map_or(said.unwrap_or(0), |cursor| cursor.once);
        // Where the file was cut or written anew, other lines may stand in the places of known ones.
        let is_anew = opened.found == CursorMatch::Anew || opened.place.offset < once;
        let places = match cursor.is_some() && is_anew {
            true => PlaceNames::Moved,
            false => PlaceNames::Hold,
        };
        let restored = cursor.filter(|_| opened.found == CursorMatch::GoesOn);
        let restored = restored.and_then(|cursor| {
            let mapping = ConversationMapping::restore(self.conversation.clone(), &cursor.state);
            Some((mapping?, cursor.recent))
        });
        // A file that was cut may get the same lines again.
        let is_sound =
            (restored.is_some() || is_new) && opened.place.offset >= once && !marks.is_unsure();
        let (place, (mut mapping, recent), opened) = match restored {
            Some(restored) => (opened.place, restored, opened),
            None => {
                let mapping = ConversationMapping::new(self.conversation.clone(), self.subagent);
                let begun = (mapping, RecentEntries::default());
                (TranscriptPlace::default(), begun, open_at(file, None, &key).map_err(io)?)
            }
        };
        let copied = self.copied_by(file, place, &mut mapping);
        let n_left = length_of(file, &opened)?.saturating_sub(place.offset);
        let mut open = OpenCatchUp {
            file,
            key,
            is_made: !opened.input.is_the_file(),
            lines: TranscriptReader::of_about(opened.input, place, n_left),
            mapping,
            known: None,
            recent,
            pending: Some(Box::new(pending)),
            places,
            copies_of: None,
            once,
            looked: LookedTime::default(),
            n_entries: 0,
            n_known: 0,
            job: self,
        };
        if !is_sound {
            open.know_own()?;
            if !has_cursor && said.is_none() {
                open.once = open.reached_once()?;
            }
        }
        for conversation in &copied {
            open.know(conversation)?;
        }
        Ok(open)
    }

    /// Tells whether there was never a cursor, as far as what is remembered is whole.
    fn was_never_open(&self) -> bool {
        let layout = self.space.repository().layout();
        !TranscriptCursor::exists(&layout.capture(), self.owner()) && bindings::are_whole(layout)
    }

    fn owner(&self) -> CursorOwner<'c> {
        CursorOwner { conversation: self.conversation, subagent: self.subagent }
    }

    /// Returns how far a file was read, as was noted for the next trace of the agent.
    fn reached(&self, file: &VendorFile) -> Option<u64> {
        let below = file.below.to_string_lossy();
        let said = read_captured(self.space.repository().layout(), self.agent?);
        let said = said.iter().filter_map(|said| known::reached(said, self.conversation));
        said.filter(|(name, _)| *name == below).map(|(_, to)| to).max()
    }
}

impl OpenCatchUp<'_> {
    /// Maps what comes next. The caller appends it under the agent's lock, between
    /// [`CaughtUp::begin`] and [`CaughtUp::finish`].
    ///
    /// # Errors
    /// Fails when the transcript cannot be read.
    pub fn next(&mut self, limits: CatchUpLimits<'_>) -> Result<CaughtUp, CaptureError> {
        if self.job.conversation.source == Source::Cursor {
            self.mapping.saw_time(self.file.modified().map_err(io)?);
        }
        let redactor = self.job.redactor;
        let mut redact = |key: Option<&str>, text: &str| {
            let clean = match key {
                Some(key) => redactor.redact_beside(key, text),
                None => redactor.redact_text(text),
            };
            (!clean.findings.is_empty()).then(|| clean.text.into_owned())
        };
        let (mut entries, mut pictures, mut n_bytes) = (Vec::new(), Vec::new(), 0);
        let n_known = self.n_known;
        let start = self.looked.begin();
        let mut reach = CursorReach::End;
        loop {
            if self.mapping.expects_copies() {
                self.expect_copies(&mut redact)?;
            }
            let Some(line) = self.lines.next_line().map_err(io)? else { break };
            let mut named = Vec::new();
            let mapped = match line {
                TranscriptLine::Whole { offset, bytes } => {
                    let mut mapped = self.mapping.line(offset, bytes, &mut redact);
                    if self.job.pictures == PictureUse::Kept {
                        named = name_pictures(bytes, &mut mapped);
                    }
                    mapped
                }
                TranscriptLine::TooLong { offset, length } => self.mapping.skipped(offset, length),
                TranscriptLine::Stepped => Vec::new(),
            };
            self.know_copied()?;
            let new = self.new_of(mapped)?;
            retain_named(&mut named, &new);
            n_bytes += named.iter().map(|picture| picture.bytes().len()).sum::<usize>();
            pictures.append(&mut named);
            for entry in new {
                n_bytes += entry.text.len();
                entries.extend(entry.to_entries());
            }
            let has_time = (limits.has_time)() || self.looked.is_worth_more(start, Moment::now());
            // The next event goes on from here.
            if n_bytes > limits.bytes_max || !has_time {
                reach = CursorReach::Part;
                break;
            }
        }
        if self.n_known == n_known && !entries.is_empty() {
            // Whatever they began with, copies are over.
            self.mapping.copies_from(std::iter::empty());
        }
        let state = self.mapping.state();
        self.caught_up((entries, pictures), reach, state)
    }

    /// Adds what is still held, since nothing will follow. Should something follow nevertheless, the
    /// next who reads goes on from before this, and looks ids up.
    ///
    /// # Errors
    /// Fails when a trace cannot be read.
    pub fn end(&mut self, caught: &mut CaughtUp) -> Result<(), CaptureError> {
        let held = self.mapping.end();
        let held = self.new_of(held)?;
        if !held.is_empty() {
            caught.sureness = CursorSureness::Unsure;
        }
        caught.entries.extend(held.iter().flat_map(CapturedEntry::to_entries));
        Ok(())
    }

    /// What the lines said about the conversation so far.
    pub fn facts(&self) -> &ConversationFacts {
        self.mapping.facts()
    }

    /// Counts the entries of the lines that were read, known or new.
    pub fn n_entries(&self) -> u64 {
        self.n_entries
    }

    fn new_of(&mut self, mapped: Vec<CapturedEntry>) -> Result<Vec<CapturedEntry>, CaptureError> {
        self.n_entries += mapped.len() as u64;
        let mut new = Vec::new();
        for mut entry in mapped {
            if self.is_known(&entry)? {
                self.n_known += 1;
                continue;
            }
            if !self.has_rows() {
                self.recent.made(&entry);
            }
            if self.job.speaker == Speaker::Side {
                entry.put("side", Value::Bool(true));
            }
            new.push(entry);
        }
        Ok(new)
    }

    /// Tells whether the conversation is kept as rows: a database has none of them twice.
    fn has_rows(&self) -> bool {
        matches!(self.file.form, TranscriptForm::Rows(_))
    }

    /// Tells whether an entry was made before: by this line, by one before it in this file, or in another.
    fn is_known(&mut self, entry: &CapturedEntry) -> Result<bool, CaptureError> {
        let news = self.recent.news_of(entry);
        match news {
            EntryNews::Repeated => return Ok(true),
            EntryNews::Old => self.know_own()?,
            EntryNews::New => {}
        }
        let is_known = self.known.as_ref().is_some_and(|known| known.has(entry));
        if news == EntryNews::Old && !is_known {
            self.recent.is_new(entry);
        }
        Ok(is_known)
    }

    fn caught_up(
        &self,
        (entries, pictures): (Vec<Entry>, Vec<Object>),
        reach: CursorReach,
        state: Value,
    ) -> Result<CaughtUp, CaptureError> {
        let layout = self.job.space.repository().layout();
        let (place, below) = (self.lines.place(), self.file.below.to_string_lossy().into_owned());
        // To look at the bytes before a place, such a text is made from its beginning. So of that the
        // cursor is moved once; until then the mark says that ids have to be looked up.
        let input = self.lines.input();
        let cursor = match (input.goes_on(), reach) {
            (false, CursorReach::Part) => None,
            (false, CursorReach::End) | (true, CursorReach::Part | CursorReach::End) => {
                let cursor = TranscriptCursor::of(self.file, place, &self.key).map_err(io)?;
                let row = input.row_mark().cloned();
                let cursor = cursor.with_state(state).with_reach(reach).with_once(self.once);
                Some(cursor.with_recent(self.recent.kept()).with_row(row))
            }
        };
        Ok(CaughtUp {
            entries,
            pictures,
            forked_from: self.mapping.facts().forked_from().map(str::to_owned),
            reach,
            conversation: self.job.conversation.clone(),
            subagent: self.job.subagent.map(str::to_owned),
            cursor,
            sureness: CursorSureness::Sure,
            marks: TranscriptMarks::of(&layout.capture(), &self.job.owner()),
            file: below,
            to: place.offset,
        })
    }

    /// Looks up what this conversation has said already, unless that was done.
    fn know_own(&mut self) -> Result<(), CaptureError> {
        let Some(pending) = self.pending.take() else { return Ok(()) };
        let begun = Moment::now();
        let CatchUpJob { space, agent, conversation, .. } = self.job;
        let known = self.known.get_or_insert_with(|| KnownEntries::new(&self.key, self.places));
        known.add_pending(conversation, &pending()?);
        if let Some(agent) = agent {
            known.add_bound(space, agent, conversation)?;
        }
        self.looked.add_since(begun);
        Ok(())
    }

    /// Returns how far the file may have been read whose cursor is lost. What comes before that is
    /// looked up, however many events it takes to read it again.
    fn reached_once(&self) -> Result<u64, CaptureError> {
        // Of what is made while it is read the cursor is moved once.
        if self.is_made {
            return Ok(0);
        }
        let below = self.file.below.to_string_lossy();
        let reached = self.known.as_ref().and_then(|known| known.reached(&below));
        let most = self.file.stamp().map_err(io)?.length;
        Ok(reached.map_or(0, |reached| reached.min(most)))
    }

    /// Looks up what another conversation has said.
    fn know(&mut self, other: &ConversationId) -> Result<(), CaptureError> {
        let (begun, space) = (Moment::now(), self.job.space);
        let record = ConversationRecord::load(space.repository().layout(), other);
        let Some(agent) = record.and_then(|record| record.agent()) else { return Ok(()) };
        let known = self.known.get_or_insert_with(|| KnownEntries::new(&self.key, self.places));
        if space.head(&agent).is_ok() {
            known.add_pending(other, &space.pending_trace(&agent)?);
        }
        known.add_bound(space, &agent, other)?;
        self.looked.add_since(begun);
        Ok(())
    }
}

/// Returns how long a transcript is, in bytes; of one that is made while it is read nobody knows.
fn length_of(file: &VendorFile, opened: &OpenTranscript) -> Result<u64, CaptureError> {
    match opened.input.is_the_file() {
        true => Ok(file.stamp().map_err(io)?.length),
        false => Ok(u64::MAX),
    }
}

fn io(source: std::io::Error) -> CaptureError {
    CaptureError::Io { source }
}
