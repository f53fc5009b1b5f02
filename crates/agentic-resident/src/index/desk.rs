//! The way to the thread that keeps one index.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agentic_index::IndexError;
use agentic_session::SessionSpace;

use super::keeper::IndexKeeper;
use super::kept::{AgentToRead, KeptIndex};
use super::place::IndexPlace;
use super::{IndexLimits, IndexReach, IndexShared, IndexState};
use crate::error::{ResidentError, Result};
use crate::event::EventHub;

/// How many tasks may wait.
const TASKS_MAX: usize = 1_024;
/// How long an answer may take before everything is read instead.
const ASK_WAIT: Duration = Duration::from_secs(2);
/// How long writing everything down may take at the end.
const END_WAIT: Duration = Duration::from_secs(2);
/// How long whoever tells of a write waits for it to be indexed.
const FOLLOW_WAIT: Duration = Duration::from_millis(50);

/// What is asked of an index: it is told how much that has.
type IndexQuestion<I> =
    Box<dyn FnOnce(&I, IndexReach) -> std::result::Result<(), IndexError> + Send>;

/// What the thread is asked to do.
pub enum IndexTask<I: KeptIndex> {
    /// Answer something.
    Ask(IndexQuestion<I>),
    /// Say that its turn has come.
    Turn { done: SyncSender<()> },
    /// Read what is new of some agents.
    Agents { agents: Vec<AgentToRead>, done: SyncSender<()> },
    /// Read what is new of a session.
    Session { session: String, done: SyncSender<()> },
    /// Compare everything.
    Sweep,
    /// Begin anew.
    Rebuild,
    /// Write everything down, and end.
    End { done: SyncSender<()> },
}

/// Something that is read into an index.
#[must_use = "it is told of when it was read"]
pub struct IndexFollowing(Option<Receiver<()>>);

impl IndexFollowing {
    /// Waits a moment for it.
    pub fn wait(self) {
        if let Some(done) = self.0 {
            let _ = done.recv_timeout(FOLLOW_WAIT);
        }
    }
}

/// One index, as those see it who ask.
pub struct KeeperDesk<I: KeptIndex> {
    space: Arc<SessionSpace>,
    events: Arc<EventHub>,
    limits: IndexLimits,
    revision: Arc<AtomicU64>,
    line: Mutex<KeeperLine<I>>,
}

/// The way to a thread that keeps the index.
struct KeeperLine<I: KeptIndex> {
    tasks: SyncSender<IndexTask<I>>,
    shared: Arc<IndexShared>,
    kept: I::Shared,
}

impl<I: KeptIndex> KeeperDesk<I> {
    /// Begins the thread. It ends when this is dropped.
    ///
    /// # Errors
    /// Fails when no thread can be had.
    pub fn begin(
        space: &Arc<SessionSpace>,
        events: &Arc<EventHub>,
        limits: IndexLimits,
    ) -> Result<KeeperDesk<I>> {
        let revision = Arc::default();
        let line =
            Mutex::new(KeeperLine::begin(space, IndexShared::new(events, &revision), limits)?);
        let (space, events) = (Arc::clone(space), Arc::clone(events));
        Ok(KeeperDesk { space, events, limits, revision, line })
    }

    /// Says whether an operation never comes back.
    pub fn is_lost(&self) -> bool {
        let shared = self.line().shared;
        shared.pulse.is_lost() && !shared.is_retired()
    }

    /// Has everything written down; a database that does not answer is set aside.
    pub fn leave(&self) {
        let shared = self.line().shared;
        if !shared.pulse.is_stuck() {
            return self.end();
        }
        shared.retire();
        IndexPlace::of(&self.space, I::NAME).set_aside("an operation never came back");
    }

    /// Begins another thread in place of one that was left.
    pub fn begin_again(&self) {
        let shared = IndexShared::new(&self.events, &self.revision);
        match KeeperLine::begin(&self.space, shared, self.limits) {
            Ok(next) => *self.line.lock().unwrap_or_else(PoisonError::into_inner) = next,
            Err(error) => tracing::warn!(%error, "there is no index"),
        }
    }

    /// Counts what changed in it.
    pub fn revision(&self) -> u64 {
        self.revision.load(Ordering::Acquire)
    }

    /// Says how the index is.
    pub fn state(&self) -> IndexState {
        let shared = self.line().shared;
        match shared.pulse.is_stuck() {
            true => IndexState::Absent { why: "the database does not answer".to_owned() },
            false => shared.state().clone(),
        }
    }

    /// Returns what of it is looked at without the thread.
    pub fn kept(&self) -> I::Shared {
        self.line().kept
    }

    /// No code that can panic runs under the lock, so a poisoned one still holds a whole line.
    fn line(&self) -> KeeperLine<I> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks the index. Nothing means that there is none, or that it takes too long.
    pub fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&I, IndexReach) -> std::result::Result<T, IndexError> + Send + 'static,
    ) -> Option<T> {
        if matches!(self.state(), IndexState::Absent { .. }) {
            return None;
        }
        let (reply, replied) = sync_channel(1);
        let question = move |index: &I, reach: IndexReach| {
            // Whoever asked may have gone away.
            let _ = reply.try_send(question(index, reach)?);
            Ok(())
        };
        self.line().tasks.try_send(IndexTask::Ask(Box::new(question))).ok()?;
        replied.recv_timeout(ASK_WAIT).ok()
    }

    /// Waits until the thread has opened its database, if that is soon.
    pub fn await_opening(&self, most: Duration) {
        let (done, opened) = sync_channel(1);
        self.hand_over(IndexTask::Turn { done });
        let _ = opened.recv_timeout(most);
    }

    /// Has what is new of some agents read.
    pub fn follow_agents(&self, agents: Vec<AgentToRead>) -> IndexFollowing {
        self.follow(|done| IndexTask::Agents { agents, done })
    }

    /// Has what is new of a session read.
    pub fn follow_session(&self, session: &str) -> IndexFollowing {
        let session = session.to_owned();
        self.follow(|done| IndexTask::Session { session, done })
    }

    fn follow(&self, task: impl FnOnce(SyncSender<()>) -> IndexTask<I>) -> IndexFollowing {
        // Whoever asks later waits in the same queue behind it. A build under way reads it anyway, or the
        // sweep at its end does.
        let is_ready = self.state() == IndexState::Ready;
        let (done, wait) = sync_channel(1);
        self.hand_over(task(done));
        IndexFollowing(is_ready.then_some(wait))
    }

    /// Has everything compared.
    pub fn sweep(&self) {
        self.hand_over(IndexTask::Sweep);
    }

    /// Has the index made anew.
    pub fn rebuild(&self) {
        self.hand_over(IndexTask::Rebuild);
    }

    /// Has everything written down, and the thread end; a database that hangs is not waited for.
    pub fn end(&self) {
        let (done, wait) = sync_channel(1);
        self.hand_over(IndexTask::End { done });
        let _ = wait.recv_timeout(END_WAIT);
    }

    fn hand_over(&self, task: IndexTask<I>) {
        let line = self.line();
        match line.tasks.try_send(task) {
            Ok(()) => {}
            // What is lost here the next sweep finds.
            Err(TrySendError::Full(_)) => line.shared.pulse.want_sweep(),
            Err(TrySendError::Disconnected(_)) => {}
        }
    }
}

impl<I: KeptIndex> Clone for KeeperLine<I> {
    fn clone(&self) -> KeeperLine<I> {
        KeeperLine {
            tasks: self.tasks.clone(),
            shared: Arc::clone(&self.shared),
            kept: self.kept.clone(),
        }
    }
}

impl<I: KeptIndex> KeeperLine<I> {
    fn begin(
        space: &Arc<SessionSpace>,
        shared: IndexShared,
        limits: IndexLimits,
    ) -> Result<KeeperLine<I>> {
        let (tasks, asked): (_, Receiver<IndexTask<I>>) = sync_channel(TASKS_MAX);
        let (shared, kept) = (Arc::new(shared), I::Shared::default());
        let keeper = (Arc::clone(space), Arc::clone(&shared), kept.clone());
        let thread = std::thread::Builder::new().name(format!("agentic-{}", I::NAME));
        // An index stays on the thread that opened it.
        let keep = move || {
            let (space, shared, kept) = keeper;
            IndexKeeper::<I>::new(space, shared, kept, limits, asked).keep();
        };
        thread.spawn(keep).map_err(ResidentError::system("start a thread"))?;
        Ok(KeeperLine { tasks, shared, kept })
    }
}
