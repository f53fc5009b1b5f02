//! The indexes of agents and of texts, each kept by a thread of its own.
//!
//! Only that thread touches its database: it may fail, panic or never come back, and whoever asks waits
//! a bounded time and then does without. What is told of a write has been indexed before, if the thread
//! keeps up.

mod desk;
mod growth;
mod guide;
mod keeper;
mod kept;
mod ledger;
mod place;
mod pulse;
mod sweep;
mod texts;

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agentic_api::roster::{KnownLedger, LedgerState};
use agentic_api::view::{EventName, EventView, IndexStateView, IndexesView};
use agentic_index::{FoundTexts, MainIndex, SearchScope, TextIndex};
use agentic_session::SessionSpace;
use agentic_session::hold::book::HoldBook;

use self::desk::{IndexFollowing, KeeperDesk};
pub(crate) use self::kept::{AgentToRead, ListedAgent};
pub use self::place::journal_mark;
use self::pulse::IndexPulse;
use crate::error::Result;
use crate::event::EventHub;

/// How long whoever asks first waits for a database to be opened.
const OPENING_WAIT: Duration = Duration::from_millis(250);
/// How many open sessions are read sooner than an index of many agents is opened.
const READ_SOONER_MAX: usize = 32;

/// What an index is held to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IndexLimits {
    /// With less than this free nothing is written, in bytes.
    pub free_bytes_min: u64,
    /// How long is waited before an index that cannot be had is tried again.
    pub retry: Duration,
    /// How often a database may have the size that it was made with before it is copied.
    pub growth_max: u64,
    /// A database that is smaller is left as it is, in bytes.
    pub growth_bytes_min: u64,
}

impl Default for IndexLimits {
    fn default() -> IndexLimits {
        IndexLimits {
            free_bytes_min: 256 << 20,
            retry: Duration::from_secs(30),
            growth_max: 4,
            growth_bytes_min: 1 << 30,
        }
    }
}

/// How the index is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexState {
    /// It is read or made: so many agents and sessions of so many are done.
    Building {
        /// How many are done.
        n_done: usize,
        /// How many there are.
        n_all: usize,
    },
    /// It has everything.
    Ready,
    /// There is none, and why.
    Absent {
        /// Why.
        why: String,
    },
}

/// How much of what there is an index has that is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IndexReach {
    /// All of it.
    Whole,
    /// Some, of so much that reading everything takes long.
    Part,
    /// Some, of little.
    SmallPart,
}

/// What the thread and those who ask it share.
pub(crate) struct IndexShared {
    state: Mutex<IndexState>,
    is_retired: AtomicBool,
    events: Arc<EventHub>,
    /// Counts what was read into it, whichever thread did.
    revision: Arc<AtomicU64>,
    pub pulse: IndexPulse,
}

/// The indexes, as those see them who ask.
#[derive(Clone)]
pub struct IndexDesk {
    main: Arc<KeeperDesk<MainIndex>>,
    text: Arc<KeeperDesk<TextIndex>>,
    space: Arc<SessionSpace>,
    /// Whether somebody has waited for it to be opened.
    was_awaited: Arc<AtomicBool>,
}

impl IndexDesk {
    /// Begins the threads. They end when the last handle is dropped.
    ///
    /// # Errors
    /// Fails when no thread can be had.
    pub(crate) fn begin(
        space: &Arc<SessionSpace>,
        events: &Arc<EventHub>,
        limits: IndexLimits,
    ) -> Result<IndexDesk> {
        let main: Arc<KeeperDesk<MainIndex>> = Arc::new(KeeperDesk::begin(space, events, limits)?);
        space.be_guided(guide::notes_guide(&main));
        Ok(IndexDesk {
            main,
            text: Arc::new(KeeperDesk::begin(space, events, limits)?),
            space: Arc::clone(space),
            was_awaited: Arc::default(),
        })
    }

    /// Says whether a database never comes back, at the second look in a row: the first may follow a stop
    /// of the whole process.
    pub(crate) fn is_lost(&self) -> bool {
        // Both are looked at.
        self.main.is_lost() | self.text.is_lost()
    }

    /// Sets a database aside that never comes back, and has the others written down: this process ends.
    pub(crate) fn leave(&self) {
        self.main.leave();
        self.text.leave();
    }

    /// Begins other threads, because this process goes on after all. Where one never comes back it is left
    /// alone with its database.
    pub(crate) fn begin_again(&self) {
        self.main.begin_again();
        self.text.begin_again();
    }

    /// Returns what was read of open holds. The first time it is waited a moment for what an earlier
    /// process knew, unless there is so little that reading it takes less.
    pub fn holds(&self) -> Arc<HoldBook> {
        let open = self.space.open_sessions_here();
        if open.is_ok_and(|open| open.len() > READ_SOONER_MAX) {
            self.await_opening();
        }
        self.main.kept().holds
    }

    /// Waits a moment, once, until what an earlier process knew of agents and sessions is there.
    fn await_opening(&self) {
        if !self.was_awaited.swap(true, Ordering::Relaxed) {
            self.main.await_opening(OPENING_WAIT);
        }
    }

    /// Says how the index of texts is.
    pub fn text_state(&self) -> IndexState {
        self.text.state()
    }

    /// Counts the changes of the index of texts: as long as it says the same, so does the index.
    pub fn text_revision(&self) -> u64 {
        self.text.revision()
    }

    /// Says how both are.
    pub fn view(&self) -> IndexesView {
        IndexesView { main: self.main.state().view(), text: self.text.state().view() }
    }

    /// Returns what is known of agents and sessions; what an earlier process knew, once that is opened.
    pub fn ledger(&self) -> KnownLedger {
        let state = match self.main.state() {
            IndexState::Building { .. } => LedgerState::Checking,
            IndexState::Ready => LedgerState::Ready,
            IndexState::Absent { .. } => LedgerState::Absent,
        };
        KnownLedger { rows: self.main.kept().rows, state }
    }

    /// Finds texts that could fit, at most so many. Nothing means that there is no index, or that it
    /// takes too long.
    pub fn find(&self, scope: &SearchScope, most: usize) -> Option<FoundTexts> {
        let scope = scope.clone();
        let found = self.text.ask(move |index, reach| {
            Ok(match reach {
                // What there is to read is read before the index has it.
                IndexReach::SmallPart => None,
                IndexReach::Part => {
                    Some(FoundTexts { has_more: true, ..index.find(&scope, most)? })
                }
                IndexReach::Whole => Some(index.find(&scope, most)?),
            })
        });
        found.flatten()
    }

    /// Has what is new of some agents read, and waits a moment for it. Texts are read wherever the agents are
    /// then.
    pub(crate) fn follow_agents(&self, agents: Vec<AgentToRead>) {
        if agents.is_empty() {
            return;
        }
        let named =
            agents.iter().map(|agent| AgentToRead::Named(agent.name().to_owned())).collect();
        let both = [self.main.follow_agents(agents), self.text.follow_agents(named)];
        both.into_iter().for_each(IndexFollowing::wait);
    }

    /// Does the same for agents of remotes.
    pub(crate) fn follow_remotes(&self, names: &[&str]) {
        let named = names.iter().map(|name| AgentToRead::Named((*name).to_owned())).collect();
        self.text.follow_agents(named).wait();
    }

    /// Has what is new of a session read, and waits a moment for it.
    pub(crate) fn follow_session(&self, session: &str) {
        let both = [self.main.follow_session(session), self.text.follow_session(session)];
        both.into_iter().for_each(IndexFollowing::wait);
    }

    /// Has everything compared.
    pub(crate) fn sweep(&self) {
        self.main.sweep();
        self.text.sweep();
    }

    /// Has the indexes made anew.
    pub fn rebuild(&self) {
        self.main.rebuild();
        self.text.rebuild();
    }

    /// Has everything written down, and the threads end; a database that hangs is not waited for.
    pub(crate) fn end(&self) {
        self.main.end();
        self.text.end();
    }
}

impl IndexShared {
    fn new(events: &Arc<EventHub>, revision: &Arc<AtomicU64>) -> IndexShared {
        IndexShared {
            state: Mutex::new(IndexState::Building { n_done: 0, n_all: 0 }),
            is_retired: AtomicBool::new(false),
            events: Arc::clone(events),
            revision: Arc::clone(revision),
            pulse: IndexPulse::default(),
        }
    }

    /// Counts a change.
    fn count(&self) {
        self.revision.fetch_add(1, Ordering::Release);
    }

    /// Says that another thread keeps the index from now on.
    fn retire(&self) {
        self.is_retired.store(true, Ordering::Relaxed);
    }

    /// Says whether another thread keeps the index by now: this one must not touch what is there.
    pub fn is_retired(&self) -> bool {
        self.is_retired.load(Ordering::Relaxed)
    }

    /// Says how the index is, and tells everybody where that is news.
    pub fn set_state(&self, state: IndexState, at: String) {
        if self.is_retired() {
            return;
        }
        let mut known = self.state();
        let is_news = std::mem::discriminant(&*known) != std::mem::discriminant(&state);
        if *known != state {
            self.count();
        }
        known.clone_from(&state);
        drop(known);
        if is_news {
            let state = Some(state.view().state);
            let data = EventView { at, state, ..EventView::default() };
            self.events.publish([(EventName::Index, data)]);
        }
    }

    /// No code that can panic runs under the lock, so a poisoned one still holds a whole state.
    pub fn state(&self) -> MutexGuard<'_, IndexState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl IndexState {
    /// Shows it.
    pub fn view(&self) -> IndexStateView {
        let (state, done, of, why) = match self {
            IndexState::Building { n_done, n_all } => {
                ("building", Some(*n_done), Some(*n_all), None)
            }
            IndexState::Ready => ("ready", None, None, None),
            IndexState::Absent { why } => ("absent", None, None, Some(why.clone())),
        };
        IndexStateView { state: state.to_owned(), done, of, why }
    }
}
