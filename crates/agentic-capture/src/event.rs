//! What a coding agent says when something happens: one JSON object from standard input.
//!
//! Vendors spell their fields differently, leave the event's name out, or speak another vendor's
//! dialect. All of that ends here: whoever has a [`HookEvent`] knows what happened, in which
//! conversation and where. Nothing is refused for being unknown.

mod claude;
mod codex;
mod copilot;
mod cursor;
mod fields;
mod gemini;
mod opencode;
mod payload;
mod scalars;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use agentic_model::{Instant, Map, Value};

use crate::{ConversationId, Source};

pub use self::payload::{PAYLOAD_BYTES_MAX, Payload, PayloadError, PayloadExtent};

/// The longest id of a conversation or subagent that is taken, in bytes.
pub const NATIVE_ID_BYTES_MAX: usize = 1024;

/// What happened, whoever's name it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookMoment {
    /// A conversation begins, or goes on.
    Begins,
    /// A person said something.
    Prompt,
    /// A tool is about to run.
    BeforeTool,
    /// Somebody asks whether a tool may run.
    Asked,
    /// A tool ran.
    AfterTool,
    /// A subagent begins.
    SubagentBegins,
    /// A subagent is done.
    SubagentEnds,
    /// A turn is over.
    TurnEnds,
    /// A turn is over because something failed.
    TurnFails,
    /// What was said is made shorter.
    Compaction,
    /// A conversation is over.
    Ends,
    /// A worktree is wanted.
    WorktreeWanted,
    /// A worktree is no longer wanted.
    WorktreeDone,
    /// A file was changed, of which there may be no other record.
    FileChanged,
    /// Several tools ran, each of which has an event of its own.
    ToolBatch,
    /// Something with a name of ours that means nothing to the store.
    Noted(&'static str),
    /// Something that is not known.
    Unknown,
}

/// How it is known what the event is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventNaming {
    /// The payload or the command line says so.
    Said,
    /// Its fields are those of this event, among others maybe.
    Guessed,
}

/// What a payload says of the conversation's transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TranscriptPath {
    /// Nothing.
    Unsaid,
    /// That there is none.
    None,
    /// Where it is.
    At(PathBuf),
}

/// The call of a tool that an event is about.
#[derive(Debug, Clone, PartialEq)]
pub struct EventCall {
    /// The vendor's id of it, where there is one.
    pub id: Option<String>,
    /// The name of the tool.
    pub tool: String,
    /// What the tool is given.
    pub input: Value,
    /// What it gave back, if it did.
    pub result: Option<Value>,
}

/// The subagent that an event is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventSubagent {
    /// The vendor's id.
    pub id: String,
    /// What sort it is; may be empty.
    pub sort: String,
    /// The subagent that began it, where that is said.
    pub parent: Option<String>,
    /// Its own transcript.
    pub transcript: TranscriptPath,
}

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub struct HookEvent {
    /// Whose it is, past any disguise.
    pub source: Source,
    /// The vendor's name of it.
    pub name: String,
    /// How that is known.
    pub naming: EventNaming,
    /// What it means.
    pub moment: HookMoment,
    /// The conversation; nothing where its id is none.
    pub conversation: Option<ConversationId>,
    /// The folder that it is in, as it says.
    pub folder: Option<PathBuf>,
    /// Its transcript.
    pub transcript: TranscriptPath,
    /// The subagent that it is about.
    pub subagent: Option<EventSubagent>,
    /// The call that it is about.
    pub call: Option<EventCall>,
    /// When it happened, where it says so.
    pub at: Option<Instant>,
    /// All of it.
    pub payload: Payload,
}

impl HookEvent {
    /// Reads what a hook of a source was given; `named` is the event's name where the command line says
    /// it.
    ///
    /// # Errors
    /// Fails on what is no JSON object, and on one of which nobody can tell what happened.
    pub fn read(
        asked: Source,
        payload: Payload,
        named: Option<&str>,
    ) -> Result<HookEvent, PayloadError> {
        let map = &payload.map;
        let source = past_disguise(asked, map);
        let (name, naming) = named_event(source, map, named).ok_or(PayloadError::NoEvent)?;
        let moment = moment_of(source, &name);
        let mut conversation = fields::conversation(source, map);
        let mut subagent = fields::subagent(moment, map);
        if source == Source::Opencode && moment == HookMoment::Begins {
            opencode::begin(map, &mut conversation, &mut subagent);
        }
        let moment = match (moment, &subagent) {
            // There a subagent begins as any conversation does.
            (HookMoment::Begins, Some(_)) if source == Source::Opencode => {
                HookMoment::SubagentBegins
            }
            (moment, _) => moment,
        };
        Ok(HookEvent {
            source,
            name,
            naming,
            moment,
            conversation,
            folder: fields::folder(map),
            transcript: fields::transcript(map),
            subagent,
            call: fields::call(map),
            at: fields::instant(map),
            payload,
        })
    }

    /// Returns a text of the payload by any of its spellings.
    pub fn text(&self, spellings: &[&str]) -> Option<&str> {
        fields::text(&self.payload.map, spellings)
    }

    /// Returns its fields that no table knows.
    pub fn unknown_fields(&self) -> impl Iterator<Item = (&String, &Value)> {
        let (own, _) = tables(self.source);
        let tables = [fields::FIELDS, own, claude::FIELDS];
        let is_known = move |key: &str| tables.iter().any(|table| table.contains(&key));
        let all = self.payload.map.iter();
        all.filter(move |(key, value)| **value != Value::Null && !is_known(key))
    }

    /// Tells whether it asks if a tool may run, so that a gate has to answer.
    pub fn asks_for_leave(&self) -> bool {
        matches!(self.moment, HookMoment::BeforeTool | HookMoment::Asked)
    }
}

/// Finds out whose event it is that was given to the hook of a source.
fn past_disguise(asked: Source, map: &Map) -> Source {
    if asked != Source::Claude {
        return asked;
    }
    let transcript = fields::transcript(map);
    let lies_in = |folder: &str| match &transcript {
        TranscriptPath::At(path) => has_part(path, folder),
        TranscriptPath::Unsaid | TranscriptPath::None => false,
    };
    let has = |key: &str| map.contains_key(key);
    if has("cursor_version") || lies_in(".cursor") {
        return Source::Cursor;
    }
    let has_no_transcript = transcript == TranscriptPath::Unsaid;
    if lies_in(".copilot") || (has("timestamp") && has("tool_result") && has_no_transcript) {
        return Source::Copilot;
    }
    Source::Claude
}

fn has_part(path: &Path, name: &str) -> bool {
    path.components().any(|part| part.as_os_str() == name)
}

fn named_event(source: Source, map: &Map, named: Option<&str>) -> Option<(String, EventNaming)> {
    let said = fields::text(map, &["hook_event_name", "hookEventName", "event"]).or(named);
    if let Some(said) = said.filter(|said| !said.is_empty()) {
        return Some((said.to_owned(), EventNaming::Said));
    }
    let guessed = match source {
        Source::Copilot => copilot::guess(map),
        Source::Codex => codex::of_notify(map),
        Source::Claude | Source::Cursor | Source::Gemini | Source::Opencode => None,
    };
    guessed.map(|name| (name.to_owned(), EventNaming::Guessed))
}

/// Returns the fields and the events of a source that are known; others may speak as Claude Code does,
/// too.
fn tables(source: Source) -> (&'static [&'static str], &'static [(&'static str, HookMoment)]) {
    match source {
        Source::Claude => (claude::FIELDS, claude::EVENTS),
        Source::Codex => (codex::FIELDS, codex::EVENTS),
        Source::Cursor => (cursor::FIELDS, cursor::EVENTS),
        Source::Gemini => (gemini::FIELDS, gemini::EVENTS),
        Source::Copilot => (copilot::FIELDS, copilot::EVENTS),
        Source::Opencode => (opencode::FIELDS, opencode::EVENTS),
    }
}

/// Looks a name up in the table of its source, then in that of Claude Code, whose names others speak.
fn moment_of(source: Source, name: &str) -> HookMoment {
    let (_, own) = tables(source);
    let found = own.iter().chain(claude::EVENTS).find(|(known, _)| *known == name);
    found.map_or(HookMoment::Unknown, |(_, moment)| *moment)
}
