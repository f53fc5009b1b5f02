//! Keeping what happened: bind, catch up with the transcript, append with one sync, and what follows.

use agentic_model::{Map, Value, json};

use super::keep::{self, EventKeeping};
use super::{HookAnswer, HookScene, LOCK_WAIT_AT_END, end, names, tell};
use crate::bind::Binding;
use crate::catch_up::{CaughtUp, Speaker, TranscriptSource};
use crate::conversation::{BindReason, ConversationRecord};
use crate::event::{EventCall, HookMoment, TranscriptPath};
use crate::link::{self, CommitCandidate};
use crate::spool::{self, SpoolOwner};
use crate::window::{self, WindowCall};
use crate::{
    CaptureError, ConversationId, Source, VendorFile, VendorRoots, bindings, heard, left, live,
};

/// Captures an event, and takes in what others could not at their end.
pub(super) fn capture(scene: &HookScene<'_>) -> Result<HookAnswer, CaptureError> {
    let answer = capture_own(scene)?;
    if let Err(error) = left::take_in(scene.space) {
        scene.log.note(error.code());
    }
    Ok(answer)
}

fn capture_own(scene: &HookScene<'_>) -> Result<HookAnswer, CaptureError> {
    let binding = match scene.bind() {
        Err(CaptureError::Busy { binding }) => return put_off(scene, &binding),
        bound => bound?,
    };
    let Some(binding) = binding else { return Ok(HookAnswer::silent()) };
    // From here on no later event makes up for what is left out, but for the entries.
    scene.space.wait_at_most(LOCK_WAIT_AT_END);
    let captured = BoundEvent::new(scene, &binding);
    if binding.known.is_none() {
        bindings::begin(scene.space)?;
    }
    captured.remember()?;
    hear(scene);
    if binding.is_helper {
        return Ok(HookAnswer::silent());
    }
    if scene.event.moment == HookMoment::BeforeTool {
        // Before anything that may fail: what is not noted now cannot be noted later.
        captured.open_window()?;
    }
    captured.follow(keep::keep(&captured)?)?;
    Ok(tell::beginning(scene, &binding))
}

/// Leaves an event to the next one: the agent that the conversation would have cannot be made now. What
/// is in no transcript waits in the spool, and nothing is read of the transcript.
fn put_off(scene: &HookScene<'_>, binding: &Binding) -> Result<HookAnswer, CaptureError> {
    scene.log.note("busy");
    hear(scene);
    if binding.is_helper {
        return Ok(HookAnswer::silent());
    }
    let event = BoundEvent::new(scene, binding);
    if scene.event.moment == HookMoment::BeforeTool {
        event.open_window()?;
    }
    if scene.event.moment == HookMoment::SubagentBegins {
        // Should its end not say of what type it is, it is no helper all the same.
        let owner = SpoolOwner::Conversation(&binding.id);
        spool::make_room(scene.space.repository().layout(), owner)?;
    }
    keep::put_aside(&event)?;
    Ok(HookAnswer::silent())
}

/// Notes that the coding agent has told something.
fn hear(scene: &HookScene<'_>) {
    let (layout, now) = (scene.space.repository().layout(), scene.space.now());
    if heard::hear(layout, scene.event.source, now).is_err() {
        scene.log.note("heard");
    }
}

/// An event whose agent is known.
pub(super) struct BoundEvent<'b> {
    pub scene: &'b HookScene<'b>,
    pub binding: &'b Binding,
    /// The conversation whose words these are: of a subagent that of its parent.
    pub conversation: ConversationId,
    /// Where the words are read from.
    pub transcript: TranscriptSource,
}

impl<'b> BoundEvent<'b> {
    pub(super) fn new(scene: &'b HookScene<'b>, binding: &'b Binding) -> BoundEvent<'b> {
        let conversation = scene.event.conversation.clone().unwrap_or(binding.id.clone());
        let subagent = scene.event.subagent.as_ref();
        let conversation = match (scene.event.source, binding.reason, subagent) {
            (Source::Claude, _, _) => conversation,
            (_, BindReason::Parent, _) => binding.id.clone(),
            // Its own file is read as its own, though its parent's agent keeps its words.
            (source, _, Some(subagent)) if scene.event.moment == HookMoment::SubagentEnds => {
                ConversationId { source, native: subagent.id.clone() }
            }
            (_, _, _) => conversation,
        };
        let configured = scene.space.repository().config("agentic.captureRoots");
        let roots = VendorRoots::of(scene.request.environment, configured.as_deref());
        let (environment, now) = (scene.request.environment, scene.space.now());
        let transcript = TranscriptSource::find(scene.event, &roots, environment, now);
        if let Some(code) = transcript.refusal() {
            scene.log.note(code);
        }
        BoundEvent { scene, binding, conversation, transcript }
    }

    /// Tells who speaks: the words of subagents may be kept among those of their parents.
    pub(super) fn speaker(&self) -> Speaker {
        match (&self.scene.event.subagent, self.binding.reason) {
            (None, _) | (Some(_), BindReason::Parent) => Speaker::Main,
            (Some(_), _) => Speaker::Side,
        }
    }

    /// Opens the transcript of another conversation, as its last event named it.
    pub(super) fn transcript_of(&self, other: &ConversationId) -> Option<VendorFile> {
        let scene = self.scene;
        let record = ConversationRecord::load(scene.space.repository().layout(), other)?;
        let configured = scene.space.repository().config("agentic.captureRoots");
        let roots = VendorRoots::of(scene.request.environment, configured.as_deref());
        roots.open(&record.transcript?).ok()
    }

    /// Says what a trace with these entries says of the conversation.
    pub(super) fn captured(&self, caught: &CaughtUp) -> Map {
        let mut said = caught.captured(match &self.binding.known {
            Some(known) if self.binding.reason == BindReason::Conversation => known.reason,
            Some(_) | None => self.binding.reason,
        });
        let is_thread = self.conversation == self.binding.id;
        let parent = self.scene.event.conversation.as_ref();
        if let Some(parent) =
            parent.filter(|_| self.binding.reason == BindReason::Parent && is_thread)
        {
            said.insert("parent".to_owned(), Value::text(&parent.native));
        }
        said
    }

    /// Remembers whose conversation it is, and which program has it, where that is new.
    pub(super) fn remember(&self) -> Result<(), CaptureError> {
        let (scene, binding) = (self.scene, self.binding);
        let layout = scene.space.repository().layout();
        let now = scene.space.now();
        let known = binding.known.clone();
        let mut record = known.clone().unwrap_or_else(|| {
            ConversationRecord::new(&binding.id, &binding.agent, binding.reason, now)
        });
        record.bind(&binding.agent, binding.reason);
        if binding.reason != BindReason::Conversation && scene.place.branch.is_some() {
            record.branch.clone_from(&scene.place.branch);
        }
        if let Some(subagent) = &scene.event.subagent
            && binding.reason == BindReason::Parent
        {
            record.parent = scene.event.conversation.as_ref().map(|parent| parent.native.clone());
            record.sort = Some(subagent.sort.clone());
        }
        if binding.reason != BindReason::Parent {
            record.program = live::program_above(scene.event.source).or(record.program);
        }
        if let TranscriptPath::At(path) = &scene.event.transcript
            && path.is_absolute()
            && binding.reason != BindReason::Parent
            && record.transcript.as_ref() != Some(path)
        {
            let is_clean = names::is_clean_path(scene.space, path)?;
            record.transcript = is_clean.then(|| path.clone());
        }
        record.ended = (scene.event.moment == HookMoment::Ends).then_some(now.millis());
        if known.as_ref() != Some(&record) {
            record.save(layout)?;
            end::note_child(layout, &record)?;
        }
        match (&record.program, scene.event.moment) {
            (Some(program), HookMoment::Ends) => live::forget(layout, program, &binding.id),
            (Some(program), _) => live::note(layout, program, &binding.id, &binding.agent),
            (None, _) => Ok(()),
        }
    }

    /// Does what follows from an event once it is kept.
    fn follow(&self, kept: EventKeeping) -> Result<(), CaptureError> {
        let scene = self.scene;
        match scene.event.moment {
            HookMoment::AfterTool => self.close_window(),
            // Whoever holds the lock would be waited for again.
            HookMoment::SubagentEnds | HookMoment::Ends if kept == EventKeeping::PutOff => {
                self.forget_windows()
            }
            HookMoment::SubagentEnds => end::attach(scene.space, &self.binding.agent),
            HookMoment::TurnEnds | HookMoment::TurnFails => self.forget_windows(),
            HookMoment::Ends => {
                self.forget_windows()?;
                end::attach(scene.space, &self.binding.agent)?;
                end::archive(self)
            }
            HookMoment::Begins
            | HookMoment::Prompt
            | HookMoment::BeforeTool
            | HookMoment::Asked
            | HookMoment::SubagentBegins
            | HookMoment::Compaction
            | HookMoment::WorktreeWanted
            | HookMoment::WorktreeDone
            | HookMoment::FileChanged
            | HookMoment::ToolBatch
            | HookMoment::Noted(_)
            | HookMoment::Unknown => Ok(()),
        }
    }

    fn open_window(&self) -> Result<(), CaptureError> {
        let Some(call) = &self.scene.event.call else { return Ok(()) };
        let layout = self.scene.space.repository().layout();
        self.with_window(call, |window| window::open(layout, window, &self.binding.agent))
            .unwrap_or(Ok(()))
    }

    /// Closes the window of a call, and links the commits that were made in it.
    fn close_window(&self) -> Result<(), CaptureError> {
        let Some(call) = &self.scene.event.call else { return Ok(()) };
        let layout = self.scene.space.repository().layout();
        let closed = self.with_window(call, |window| window::close(layout, window));
        let Some(closed) = closed.transpose()?.flatten() else { return Ok(()) };
        let output = call.result.as_ref().map(texts).unwrap_or_default();
        let candidate = CommitCandidate {
            space: self.scene.space,
            conversation: &self.binding.id,
            agent: &self.binding.agent,
            branch: self.scene.place.branch.as_deref(),
        };
        link::link_window(&candidate, &closed, &output)
    }

    fn forget_windows(&self) -> Result<(), CaptureError> {
        let repository = self.scene.space.repository();
        if self.scene.place.folder.is_none() {
            return Ok(());
        }
        window::forget(repository.layout(), repository.git_dir(), &self.binding.id)
    }

    fn with_window<T>(
        &self,
        call: &EventCall,
        act: impl FnOnce(&WindowCall<'_>) -> T,
    ) -> Option<T> {
        let git_dir = self.scene.space.repository().git_dir();
        self.scene.place.folder.as_ref()?;
        // A vendor that does not name its calls has one at a time, as far as anybody knows.
        let call = call.id.as_deref().unwrap_or_default();
        Some(act(&WindowCall { git_dir, conversation: &self.binding.id, call }))
    }
}

/// Collects what a tool printed, wherever in its result that stands.
fn texts(result: &Value) -> String {
    match result {
        Value::Text(text) => text.clone(),
        Value::List(items) => items.iter().map(texts).collect::<Vec<_>>().join("\n"),
        Value::Map(map) => map.values().map(texts).collect::<Vec<_>>().join("\n"),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Bytes(_)
        | Value::Link(_) => json::to_plain_text(result),
    }
}
