//! Whoever watches runs from outside: what runs tell goes through a channel that the watcher drains.
//!
//! Each space has a channel of its own, or none: several hosts in one process hear nothing of each
//! other. A watcher drains on a thread of its own, for a run waits where too much is undrained, where
//! it asks something, and where what it told has to be shown before it goes on. One that drops its
//! end is not waited for any more.

use std::cell::Cell;
use std::convert::Infallible;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};

use agentic_lang_agent::{TRACE, TraceCapture};
use agentic_providers::host::CancelFlag;
use agentic_providers::model::ReplyPart;
use agentic_providers::provider::ProviderResponse;
use agentic_replay::{ProgramEvent, SessionId};

use crate::provision::ProviderCall;

/// How much may be undrained; a run that tells more waits.
const EVENTS_MAX: usize = 128;

/// What a run tells whoever watches it.
#[derive(Debug)]
pub enum ScreenEvent {
    /// The program of a session said something. What led to it may not be durable yet; what is only
    /// replayed is not said again.
    Said {
        /// The session.
        session: SessionId,
        /// What was said.
        event: ProgramEvent,
    },
    /// A model writes its reply. Of several that write at a time one is watched.
    Writing(ReplyPiece),
    /// The model that wrote has ended.
    Written,
    /// Somebody is asked for what an input lacks.
    Question(InputQuestion),
    /// What was told before has to be shown: the run goes on once this is dropped.
    Pause(ScreenPause),
}

/// A piece of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyPiece {
    /// Text that continues it.
    Text(String),
    /// The reply begins once more.
    Again,
}

impl From<ReplyPart<'_>> for ReplyPiece {
    fn from(piece: ReplyPart<'_>) -> ReplyPiece {
        match piece {
            ReplyPart::Text(text) => ReplyPiece::Text(text.to_owned()),
            ReplyPart::Again => ReplyPiece::Again,
        }
    }
}

/// A question for a field of an input. One that is dropped is left open.
#[derive(Debug)]
pub struct InputQuestion {
    /// The field.
    pub field: String,
    reply: SyncSender<String>,
}

impl InputQuestion {
    /// Answers it with a line.
    pub fn answer(self, line: String) {
        // A run that has gone away wants no answer.
        let _ = self.reply.send(line);
    }
}

/// Holds a run up until it is dropped.
#[derive(Debug)]
pub struct ScreenPause {
    _until_dropped: Sender<Infallible>,
}

/// What a watcher wants to be told.
#[derive(Debug, Clone, Copy)]
pub struct Interest {
    /// Whether programs of AgentLang tell the events of their trace, too. Whoever wants these runs no
    /// other program. They are for the watcher alone: the trace of the agent has what people are
    /// told.
    pub trace: TraceCapture,
    /// Who sits there.
    pub presence: ScreenPresence,
}

/// Who sits where runs are watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScreenPresence {
    /// A person, who sees replies being written and is asked for what an input lacks.
    Person,
    /// Nobody who could be shown or asked anything.
    Nobody,
}

/// The end of the channel at which runs tell.
#[derive(Debug, Clone)]
pub struct Observer {
    events: SyncSender<ScreenEvent>,
    interest: Interest,
    /// Held by the call whose reply is watched.
    reply: Arc<Mutex<()>>,
}

impl Observer {
    /// Makes a channel, and returns both ends of it.
    pub fn channel(interest: Interest) -> (Observer, Receiver<ScreenEvent>) {
        let (events, drained) = sync_channel(EVENTS_MAX);
        (Observer { events, interest, reply: Arc::default() }, drained)
    }

    /// Says whether the watcher wants the events of traces.
    pub fn trace(&self) -> TraceCapture {
        self.interest.trace
    }

    /// Asks for a field of an input; nothing if nobody answers.
    pub fn ask(&self, field: &str) -> Option<String> {
        if self.interest.presence == ScreenPresence::Nobody {
            return None;
        }
        let (reply, line) = sync_channel(1);
        self.tell(ScreenEvent::Question(InputQuestion { field: field.to_owned(), reply }));
        line.recv().ok()
    }

    /// Performs a call whose reply is watched as it is being written, unless another is.
    fn perform(&self, call: &ProviderCall, cancel: &CancelFlag) -> ProviderResponse {
        let watched = match self.interest.presence {
            ScreenPresence::Person => self.reply.try_lock().ok(),
            ScreenPresence::Nobody => None,
        };
        let Some(_watched) = watched else { return call.perform(cancel, None) };
        let mut tell = |piece: ReplyPart<'_>| self.tell(ScreenEvent::Writing(piece.into()));
        let response = call.perform(cancel, Some(&mut tell));
        self.tell(ScreenEvent::Written);
        self.catch_up();
        response
    }

    fn tell(&self, event: ScreenEvent) {
        // A watcher that has gone away misses nothing.
        let _ = self.events.send(event);
    }

    /// Waits until what was told is shown.
    fn catch_up(&self) {
        let (pause, dropped) = channel();
        self.tell(ScreenEvent::Pause(ScreenPause { _until_dropped: pause }));
        // Nothing ever comes: the error is the end of the pause.
        let _ = dropped.recv();
    }
}

/// Performs a call, watched if somebody watches.
pub fn perform(
    observer: Option<&Observer>,
    call: &ProviderCall,
    cancel: &CancelFlag,
) -> ProviderResponse {
    match observer {
        Some(observer) => observer.perform(call, cancel),
        None => call.perform(cancel, None),
    }
}

/// What one run tells. Once the run is left, all of it is shown.
pub struct ObservedRun {
    observer: Option<Observer>,
    session: SessionId,
    /// Whether anything was told.
    has_told: Cell<bool>,
}

impl ObservedRun {
    /// Makes what the run of a session tells.
    pub fn new(observer: Option<&Observer>, session: SessionId) -> ObservedRun {
        ObservedRun { observer: observer.cloned(), session, has_told: Cell::new(false) }
    }

    /// Tells what the program said.
    pub fn say(&self, events: &[ProgramEvent]) {
        let Some(observer) = &self.observer else { return };
        for event in events {
            self.has_told.set(true);
            observer.tell(ScreenEvent::Said { session: self.session, event: event.clone() });
        }
    }

    /// Says whether an event is for the watcher alone.
    pub fn keeps(&self, event: &ProgramEvent) -> bool {
        let trace = self.observer.as_ref().map(Observer::trace);
        trace == Some(TraceCapture::On) && event.kind == TRACE
    }
}

impl Drop for ObservedRun {
    fn drop(&mut self) {
        if let Some(observer) = self.observer.as_ref().filter(|_| self.has_told.get()) {
            observer.catch_up();
        }
    }
}
