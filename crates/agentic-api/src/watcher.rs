//! Whoever waits for a verb: hears what it tells while it is under way, and may stop it.
//!
//! What is told goes through a channel that the watcher drains on a thread of its own: a verb waits
//! where too much is undrained. One that drops its end is not waited for any more.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

use agentic_providers::host::CancelFlag;

use crate::Notice;
use crate::view::{FlowStatusView, RecordView};

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
    /// The watcher should know this at once.
    Notice(Notice),
}

/// The end of the channel at which verbs tell, and what stops them.
#[derive(Debug, Clone, Default)]
pub struct VerbWatcher {
    events: Option<SyncSender<VerbEvent>>,
    /// Set when a verb that goes on by itself is to end.
    pub stop: CancelFlag,
}

impl VerbWatcher {
    /// Makes a channel, and returns both ends of it.
    pub fn channel(stop: CancelFlag) -> (VerbWatcher, Receiver<VerbEvent>) {
        let (events, drained) = sync_channel(EVENTS_MAX);
        (VerbWatcher { events: Some(events), stop }, drained)
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

    /// Returns what nobody has heard yet.
    pub fn take_kept(&self) -> Vec<Notice> {
        std::mem::take(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
