//! The thread that notices writes: it reads what changed, and tells.
//!
//! A change is read before it is told: whoever fetches after an event sees at least that state. What
//! the watch says is a hint; what is told comes from refs, journals and records.

mod agents;
mod batch;
mod remotes;
mod replies;
mod sessions;
mod throttle;
mod told;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use agentic_api::verb::NoticedReplies;
use agentic_api::view::{EventName, EventView};
use agentic_git::RefsMark;
use agentic_model::AgentName;
use agentic_replay::SessionId;
use agentic_session::SessionSpace;
use agentic_store::Stream;
use agentic_store::bell::GroundChange;
use agentic_store::watch::{WatchMode, WriteWatch};

use self::batch::ChangeBatch;
use self::remotes::SeenRemotes;
use self::sessions::SeenSession;
use self::throttle::EventThrottle;
use self::told::ToldAgents;
use crate::event::EventHub;
use crate::index::IndexDesk;

/// How often everything is compared though nothing was noticed.
const SWEEP: Duration = Duration::from_secs(60);
/// How much is told together at most.
const READY_MAX: usize = 64;
/// How often it is believed that agents are where they were because the refs are.
const BELIEVED_MAX: usize = 15;
/// How long is waited for a change before is looked whether to go on.
const WAIT: Duration = Duration::from_millis(250);
/// A wait that takes so much longer than it should says that this process was stopped, or the machine.
const STOPPED: Duration = Duration::from_secs(1);
/// Of more agents than this at once none is looked at alone: to compare everything takes less time.
const AGENTS_LOOKED_AT_MAX: usize = 64;

/// A timer that is due for so long is one that nobody drives.
const TIMER_GRACE_MILLIS: i64 = 1_000;

/// How far behind the follower is, for those who ask how the process is.
#[derive(Debug, Default)]
pub struct FollowerGauge {
    /// How long it took to tell of what was noticed last.
    lag_ms: AtomicU64,
    mode: AtomicU8,
    /// What the open sessions wait for.
    waits: Mutex<BTreeMap<SessionId, SessionWait>>,
}

/// What an open session waits for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SessionWait {
    /// An instant, in milliseconds.
    until: Option<i64>,
    /// How many answers of people.
    n_holds: usize,
}

impl FollowerGauge {
    /// Returns how many milliseconds it took to tell of what was noticed last.
    pub fn lag_ms(&self) -> u64 {
        self.lag_ms.load(Ordering::Relaxed)
    }

    /// Says how changes of folders are noticed now.
    pub fn mode(&self) -> WatchMode {
        if self.mode.load(Ordering::Relaxed) == 0 { WatchMode::Events } else { WatchMode::Polling }
    }

    /// Counts the timers that were due at an instant, and that nobody has driven since.
    pub fn timers_due(&self, now: agentic_model::Instant) -> usize {
        let due = now.millis() - TIMER_GRACE_MILLIS;
        let is_due = |wait: &&SessionWait| wait.until.is_some_and(|until| until <= due);
        self.waits().values().filter(is_due).count()
    }

    /// Counts the holds that wait for people, whoever is to answer.
    pub fn holds_open(&self) -> usize {
        self.waits().values().map(|wait| wait.n_holds).sum()
    }

    fn set_wait(&self, id: SessionId, wait: SessionWait) {
        if wait == SessionWait::default() {
            self.waits().remove(&id);
        } else {
            self.waits().insert(id, wait);
        }
    }

    /// No code that can panic runs under the lock, so a poisoned one still holds whole entries.
    fn waits(&self) -> std::sync::MutexGuard<'_, BTreeMap<SessionId, SessionWait>> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_mode(&self, mode: WatchMode) {
        self.mode.store(u8::from(mode == WatchMode::Polling), Ordering::Relaxed);
    }

    fn set_lag(&self, lag: Duration) {
        let lag_ms = u64::try_from(lag.as_millis()).unwrap_or(u64::MAX);
        self.lag_ms.store(lag_ms, Ordering::Relaxed);
    }
}

/// Who compares what is there with what was told.
pub(crate) struct Follower {
    space: Arc<SessionSpace>,
    events: Arc<EventHub>,
    gauge: Arc<FollowerGauge>,
    index: IndexDesk,
    /// Looking at agents and at sessions tells by a shared reference.
    throttle: Mutex<EventThrottle>,
    /// What is to be told when all that was noticed together was looked at.
    ready: Mutex<Vec<(EventName, EventView)>>,
    agents: ToldAgents,
    /// The agents whose end in the archive was told, since they were told of as new.
    archived: BTreeSet<AgentName>,
    remotes: SeenRemotes,
    replies: NoticedReplies,
    sessions: BTreeMap<SessionId, SeenSession>,
    swept_at: Instant,
    /// The refs with which everything was compared, where nothing was told of since.
    swept: Option<RefsMark>,
    /// How often those were believed since everything was listed.
    n_believed: usize,
}

/// Whether refs are those with which everything was compared last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RefsSince {
    Same,
    Other,
}

impl Follower {
    /// Begins with what is there: nothing of it is told.
    pub fn begin(
        space: Arc<SessionSpace>,
        events: Arc<EventHub>,
        gauge: Arc<FollowerGauge>,
        index: IndexDesk,
    ) -> Follower {
        let mut follower = Follower {
            space,
            events,
            gauge,
            index,
            throttle: Mutex::default(),
            ready: Mutex::default(),
            agents: ToldAgents::default(),
            archived: BTreeSet::new(),
            remotes: SeenRemotes::default(),
            replies: NoticedReplies::default(),
            sessions: BTreeMap::new(),
            swept_at: Instant::now(),
            swept: None,
            n_believed: 0,
        };
        follower.agents = follower.read_agents().unwrap_or_default();
        follower.remotes = SeenRemotes::read(&follower.space).unwrap_or_default();
        follower.replies = NoticedReplies::read(&follower.space).unwrap_or_default();
        for id in follower.space.open_sessions().unwrap_or_default() {
            if let Some(seen) = follower.read_session(&id) {
                follower.sessions.insert(id, seen);
            }
        }
        follower
    }

    /// Follows writes until `go_on` says no; it is asked before anything is read, for who reads a
    /// repository may set a mark there.
    pub fn follow(mut self, mut watch: WriteWatch, go_on: impl Fn() -> bool) {
        let mut batch = ChangeBatch::begin();
        loop {
            let most = self.throttle().wait(Instant::now()).map_or(WAIT, |due| due.min(WAIT));
            let began = Instant::now();
            let mut changed = watch.wait(most);
            let noticed = Instant::now();
            if let Some(rest) = batch.rest_after(changed.len(), noticed) {
                changed.extend(watch.gather(rest));
                batch.end(changed.len());
            }
            if !go_on() {
                return;
            }
            self.gauge.set_mode(watch.mode());
            // What was missed meanwhile may be more than the watch could keep.
            let was_stopped = noticed.duration_since(began) > most + STOPPED;
            let is_agent =
                |change: &&GroundChange| matches!(change, GroundChange::Stream(Stream::Agent(_)));
            let is_many = changed.iter().filter(is_agent).count() > AGENTS_LOOKED_AT_MAX;
            if !is_many {
                self.look_at(&changed);
            }
            let is_unknown = |change: &GroundChange| {
                matches!(change, GroundChange::Refs | GroundChange::Anything)
            };
            let is_due = self.swept_at.elapsed() >= SWEEP || was_stopped;
            if is_due || is_many || changed.iter().any(is_unknown) {
                self.sweep();
            }
            self.tell_of_short_lives(&changed);
            self.tell_due();
            self.hand_out();
            if !changed.is_empty() {
                self.gauge.set_lag(noticed.elapsed());
            }
        }
    }

    fn look_at(&mut self, changed: &BTreeSet<GroundChange>) {
        let mut agents = Vec::new();
        let mut sessions = Vec::new();
        for change in changed {
            match change {
                GroundChange::Stream(Stream::Agent(agent)) => agents.push(agent),
                GroundChange::Stream(Stream::Branch(_) | Stream::Space) => {}
                GroundChange::Session(prefix) => sessions.push(prefix),
                GroundChange::Refs | GroundChange::Anything => {}
            }
        }
        self.look_at_agents(&agents);
        sessions.into_iter().for_each(|prefix| self.look_at_session(prefix));
    }

    /// Compares everything with what was told.
    fn sweep(&mut self) {
        self.swept_at = Instant::now();
        let (before, known) = (self.space.repository().refs_mark().ok(), self.swept);
        let is_same = before.is_some() && before == known && self.n_believed < BELIEVED_MAX;
        self.n_believed = if is_same { self.n_believed + 1 } else { 0 };
        let refs = if is_same { RefsSince::Same } else { RefsSince::Other };
        self.swept = before;
        self.sweep_agents(refs);
        if refs == RefsSince::Other {
            self.sweep_remotes();
            self.sweep_replies();
            // What moved meanwhile may have been told of as it is no more.
            let is_still = self.space.repository().refs_mark().ok() == before;
            self.swept = self.swept.filter(|_| is_still);
        }
        self.sweep_sessions();
    }

    fn tell(&self, name: EventName, data: EventView) {
        let at = self.space.now().to_string();
        let told = self.throttle().take(name, EventView { at, ..data }, Instant::now());
        self.ready().extend(told.map(|data| (name, data)));
        if self.ready().len() >= READY_MAX {
            self.hand_out();
        }
    }

    /// Hands out what is to be told: together, for each time wakes up all who listen.
    fn hand_out(&self) {
        let ready = std::mem::take(&mut *self.ready());
        self.events.publish(ready);
    }

    /// Tells what was held back, as far as its time has come.
    fn tell_due(&self) {
        let due = self.throttle().due(Instant::now());
        self.ready().extend(due);
    }

    /// No code that can panic runs under the lock, so a poisoned one still holds whole events.
    fn ready(&self) -> std::sync::MutexGuard<'_, Vec<(EventName, EventView)>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// No code that can panic runs under the lock, so a poisoned one still holds whole events.
    fn throttle(&self) -> std::sync::MutexGuard<'_, EventThrottle> {
        self.throttle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn blank() -> EventView {
    EventView::default()
}
