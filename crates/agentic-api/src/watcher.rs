//! Whoever waits for a verb: hears what it tells while it is under way, and may stop it.
//!
//! What is told goes through a channel that the watcher drains on a thread of its own: a verb waits
//! where too much is undrained. One that drops its end is not waited for any more.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use agentic_host::Observer;
use agentic_providers::host::CancelFlag;
use agentic_replay::ProgramEvent;

use crate::Notice;
use crate::program::ProgramFindings;
use crate::verb::Reply;
use crate::view::{FlowStatusView, RecordView, SessionView};

/// How much may be undrained.
const EVENTS_MAX: usize = 128;

/// What a verb tells while it is under way.
#[derive(Debug)]
// size: there are few at a time, on their way to whoever shows them.
#[allow(clippy::large_enum_variant)]
pub enum VerbEvent {
    /// A session that is watched has a further record.
    Record(RecordView),
    /// A durable run came further.
    Run(FlowStatusView),
    /// One of several sessions waits, and the verb goes on with the next.
    Session(SessionView),
    /// A program that runs all the same has these findings.
    Findings(ProgramFindings),
    /// A program in memory said something for the people who watch.
    Said(ProgramEvent),
    /// The people who watch wanted to see this text of the program.
    Shown(String),
    /// The watcher should know this at once.
    Notice(Notice),
}

/// The end of the channel at which verbs tell, and what stops them.
#[derive(Debug, Clone, Default)]
pub struct VerbWatcher {
    events: Option<SyncSender<VerbEvent>>,
    /// Set when a verb that goes on by itself is to end.
    pub stop: CancelFlag,
    /// Who sees the replies of models while they are written in a run in memory, and is asked there
    /// for what an input lacks.
    pub observer: Option<Observer>,
    /// How long a program that a run in memory started may take to end once nobody waits for it any
    /// more; without one 5 seconds.
    pub grace: Option<Duration>,
}

impl VerbWatcher {
    /// Makes a channel, and returns both ends of it.
    pub fn channel(stop: CancelFlag) -> (VerbWatcher, Receiver<VerbEvent>) {
        let (events, drained) = sync_channel(EVENTS_MAX);
        (VerbWatcher { events: Some(events), stop, ..VerbWatcher::default() }, drained)
    }

    /// Says whether anybody hears what is told.
    pub(crate) fn listens(&self) -> bool {
        self.events.is_some()
    }

    /// Tells something; gives it back where nobody listens.
    pub(crate) fn tell(&self, event: VerbEvent) -> Option<VerbEvent> {
        let Some(events) = &self.events else { return Some(event) };
        // A watcher that has gone away misses nothing.
        let _ = events.send(event);
        None
    }
}

/// What a verb has to say besides its answer: told at once where somebody listens, and with the answer
/// where nobody does. Threads share it.
pub(crate) struct NoticeDesk<'w> {
    watcher: &'w VerbWatcher,
    kept: Mutex<Vec<Notice>>,
}

impl<'w> NoticeDesk<'w> {
    /// Makes an empty one.
    pub fn new(watcher: &'w VerbWatcher) -> NoticeDesk<'w> {
        NoticeDesk { watcher, kept: Mutex::default() }
    }

    /// Says something.
    pub fn say(&self, notice: Notice) {
        if let Some(VerbEvent::Notice(notice)) = self.watcher.tell(VerbEvent::Notice(notice)) {
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(notice);
        }
    }

    /// Warns of something that did not keep the verb from going on.
    pub fn warn(&self, what: String) {
        self.say(Notice::Remark { what });
    }

    /// Puts what nobody has heard yet before what goes with an answer.
    pub fn before<A>(&self, mut reply: Reply<A>) -> Reply<A> {
        reply.notices.splice(0..0, self.take_kept());
        reply
    }

    /// Returns what nobody has heard yet.
    pub fn take_kept(&self) -> Vec<Notice> {
        std::mem::take(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
