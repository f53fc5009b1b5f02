//! Keeping an event: what is new in its transcript, and what the hook alone knows, in one append.

use agentic_model::{Entry, Value};
use agentic_redact::SecretRedactor;
use agentic_space::capture::{PendingWriter, note_captured};

use super::capture::BoundEvent;
use super::end;
use super::gate::gated_call;
use super::own::{OwnEntries, SpeechRecord};
use super::weight::is_too_long;
use crate::catch_up::{
    CatchUpJob, CatchUpLimits, CaughtUp, CopiedConversations, Speaker, TranscriptSource,
    mapping_time, mark_unsure, within,
};
use crate::cursor::CursorOwner;
use crate::event::{HookEvent, HookMoment};
use crate::gate::{GateError, note_passed_by};
use crate::picture::PictureUse;
use crate::spool::{self, SpoolOwner};
use crate::tally::RedactionTally;
use crate::{CaptureError, Source, left, redaction};

/// How much is taken from a transcript at one event, in bytes of texts: 16 MiB.
const ENTRIES_BYTES_MAX: usize = 16 << 20;

/// Whether an event is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventKeeping {
    /// It is in the agent's pending trace, or had nothing for it.
    Kept,
    /// Others hold the agent's lock: what is in no transcript waits in the spool.
    PutOff,
}

/// Appends what is new to the agent's pending trace; what cannot wait goes to the spool.
pub(super) fn keep(event: &BoundEvent<'_>) -> Result<EventKeeping, CaptureError> {
    let (scene, agent) = (event.scene, &event.binding.agent);
    let (space, layout) = (scene.space, scene.space.repository().layout());
    if !has_entries(scene.event) {
        return Ok(EventKeeping::Kept);
    }
    let redactor = redactor(event)?;
    let own = own_entries(event, &redactor)?;
    let Some(mut writer) = space.pending_writer_within(agent, scene.lock_wait())? else {
        return put_off(event, &own);
    };
    spool::drain(layout, agent, &event.binding.id, &mut writer)?;
    let subagent = scene.event.subagent.as_ref().map(|subagent| subagent.id.as_str());
    let is_own_file = scene.event.moment == HookMoment::SubagentEnds;
    let caught = match &event.transcript {
        TranscriptSource::File(file) if is_own_file || subagent.is_none() => {
            let job = CatchUpJob {
                space,
                agent: Some(agent),
                conversation: &event.conversation,
                // Only Claude Code keeps a subagent's words under its parent's name.
                subagent: subagent.filter(|_| scene.event.source == Source::Claude),
                speaker: event.speaker(),
                pictures: PictureUse::of(space),
                redactor: &redactor,
                copied: CopiedConversations::Beside,
                transcript_of: &|other| event.transcript_of(other),
            };
            let mut open = job.open(file, || Ok(writer.pending_entries()?))?;
            let has_time = &mut within(mapping_time(scene.event.moment));
            Some(open.next(CatchUpLimits { has_time, bytes_max: ENTRIES_BYTES_MAX })?)
        }
        TranscriptSource::File(_) | TranscriptSource::Unreadable(_) | TranscriptSource::Nowhere => {
            None
        }
    };
    let (mut writer, caught) = match with_pictures(event, writer, caught)? {
        Some(ready) => ready,
        None => return put_off(event, &own),
    };
    append(event, &mut writer, caught.as_ref(), own)?;
    let is_long = is_too_long(layout, agent, &writer)?;
    drop(writer);
    if let Some(from) = caught.and_then(|caught| caught.forked_from) {
        end::relate_fork(space, (agent, &event.binding.id), &from)?;
    }
    if is_long {
        end::attach(space, agent)?;
    }
    Ok(EventKeeping::Kept)
}

/// Leaves what the hook alone knows to the next who has the agent's lock.
fn put_off(event: &BoundEvent<'_>, own: &[Entry]) -> Result<EventKeeping, CaptureError> {
    let scene = event.scene;
    scene.log.note("busy");
    let layout = scene.space.repository().layout();
    spool::put(layout, SpoolOwner::Agent(&event.binding.agent), own)?;
    note_left(event)?;
    Ok(EventKeeping::PutOff)
}

/// Notes that no event of this conversation will come to take in what was put off.
fn note_left(event: &BoundEvent<'_>) -> Result<(), CaptureError> {
    if event.scene.event.moment != HookMoment::Ends {
        return Ok(());
    }
    left::note(event.scene.space.repository().layout(), &event.binding.id)
}

/// Puts aside what the hook alone knows, for the agent that the conversation will get.
pub(super) fn put_aside(event: &BoundEvent<'_>) -> Result<(), CaptureError> {
    if !has_entries(event.scene.event) {
        return Ok(());
    }
    let own = own_entries(event, &redactor(event)?)?;
    let owner = SpoolOwner::Conversation(&event.binding.id);
    spool::put(event.scene.space.repository().layout(), owner, &own)?;
    note_left(event)
}

fn redactor(event: &BoundEvent<'_>) -> Result<SecretRedactor, CaptureError> {
    let space = event.scene.space;
    let folder = space.repository().work_dir();
    Ok(redaction::redactor(space, folder)?)
}

/// Makes the entries of what the hook alone knows.
fn own_entries(
    event: &BoundEvent<'_>,
    redactor: &SecretRedactor,
) -> Result<Vec<Entry>, CaptureError> {
    let scene = event.scene;
    let own = OwnEntries {
        event: scene.event,
        conversation: &event.conversation,
        speech: speech(scene.event.source, &event.transcript),
        now: scene.space.now(),
        redactor,
    };
    let mut made = own.make();
    made.extend(passed_by(event)?.then(|| own.passed_by()));
    if event.speaker() == Speaker::Side {
        made.iter_mut().for_each(|entry| entry.put("side", Value::Bool(true)));
    }
    if own.speech == SpeechRecord::Hook && !made.is_empty() {
        // Should there be a transcript later, it says the same.
        let owner = CursorOwner { conversation: &event.conversation, subagent: None };
        mark_unsure(scene.space.repository().layout(), &owner)?;
    }
    Ok(made.iter().flat_map(|entry| entry.to_entries()).collect())
}

/// Keeps the pictures that entries name, before these are appended. Meanwhile somebody else may have read
/// the lines: then they are not appended here. Nothing if others keep the lock.
fn with_pictures<'w>(
    event: &'w BoundEvent<'_>,
    writer: PendingWriter<'w>,
    caught: Option<CaughtUp>,
) -> Result<Option<(PendingWriter<'w>, Option<CaughtUp>)>, CaptureError> {
    let caught = match caught {
        Some(caught) if !caught.pictures.is_empty() => caught,
        caught => return Ok(Some((writer, caught))),
    };
    let (space, agent) = (event.scene.space, &event.binding.agent);
    let layout = space.repository().layout();
    let before = caught.seen(layout);
    writer.keep_objects(agent, &caught.pictures)?;
    let Some(writer) = space.pending_writer_within(agent, event.scene.lock_wait())? else {
        return Ok(None);
    };
    let is_overtaken = caught.seen(layout) != before;
    Ok(Some((writer, Some(caught).filter(|_| !is_overtaken))))
}

/// Tells whether a call ran although its question was open.
fn passed_by(event: &BoundEvent<'_>) -> Result<bool, CaptureError> {
    let scene = event.scene;
    let call = Some(scene.event.moment).filter(|moment| *moment == HookMoment::AfterTool);
    let Some(call) = call.and_then(|_| gated_call(scene.event)) else { return Ok(false) };
    let key = || redaction::key(scene.space.repository().layout()).map_err(GateError::record);
    let passed = note_passed_by(scene.space, &event.conversation, &call, key);
    Ok(passed.unwrap_or_else(|_| {
        // Nobody knows; what the conversation says is kept all the same.
        scene.log.note("gate");
        false
    }))
}

fn append(
    event: &BoundEvent<'_>,
    writer: &mut PendingWriter<'_>,
    caught: Option<&CaughtUp>,
    own: Vec<Entry>,
) -> Result<(), CaptureError> {
    let layout = event.scene.space.repository().layout();
    if let Some(caught) = caught.filter(|caught| !caught.entries.is_empty()) {
        caught.begin()?;
        note_captured(layout, &event.binding.agent, event.captured(caught))?;
    }
    let mut entries = caught.map_or(Vec::new(), |caught| caught.entries.clone());
    entries.extend(own);
    agentic_store::fault::point("before-capture")?;
    if !entries.is_empty() {
        let tally = RedactionTally::of(&entries);
        writer.append(entries)?;
        tally.keep(layout, event.scene.event.source);
    }
    agentic_store::fault::point("captured")?;
    if let Some(caught) = caught {
        caught.finish(layout)?;
    }
    Ok(())
}

/// Tells whether an event can have anything to say, before rules of redaction are loaded for it.
fn has_entries(event: &HookEvent) -> bool {
    match event.moment {
        HookMoment::BeforeTool
        | HookMoment::SubagentBegins
        | HookMoment::WorktreeWanted
        | HookMoment::WorktreeDone => event.unknown_fields().next().is_some(),
        HookMoment::Begins
        | HookMoment::Prompt
        | HookMoment::Asked
        | HookMoment::AfterTool
        | HookMoment::SubagentEnds
        | HookMoment::TurnEnds
        | HookMoment::TurnFails
        | HookMoment::Compaction
        | HookMoment::Ends
        | HookMoment::FileChanged
        | HookMoment::ToolBatch
        | HookMoment::Noted(_)
        | HookMoment::Unknown => true,
    }
}

/// Tells whether the transcript has what was said.
fn speech(source: Source, transcript: &TranscriptSource) -> SpeechRecord {
    let is_kept = match source {
        Source::Claude | Source::Codex | Source::Gemini => !transcript.is_none(),
        Source::Copilot => true,
        // These keep none, or one that nobody can read, unless there is a file.
        Source::Cursor | Source::Opencode => transcript.is_readable(),
    };
    if is_kept { SpeechRecord::Transcript } else { SpeechRecord::Hook }
}
