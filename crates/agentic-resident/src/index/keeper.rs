//! The thread that keeps the index.

mod gathering;
mod opening;
mod sweeping;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use agentic_index::{SledTables, SweptRefs};
use agentic_replay::SessionId;
use agentic_session::SessionSpace;

use self::gathering::GatheredAgents;
use self::sweeping::ToldSince;
use super::desk::IndexTask;
use super::growth::{SecondTables, TableCopy};
use super::kept::{AgentToRead, InFlight, KeptIndex, ReadFailure, SeenArchive};
use super::place::{IndexPlace, journal_mark};
use super::sweep::{IndexSweep, ListingUnderWay};
use super::{IndexLimits, IndexReach, IndexShared, IndexState};

/// How often is looked after the folder, and written to the disk.
const TICK: Duration = Duration::from_secs(1);
/// Why there is no index where the disk is full.
const FULL: &str = "the disk has too little room";
/// How many agents and sessions are read sooner than an index of them is made.
const SCANNED_MAX: usize = 1_000;
/// After how many agents packs are let go of.
const READ_MUCH: usize = 128;
/// How often is looked for what a thread lists.
const LISTING_TICK: Duration = Duration::from_millis(2);
/// How long whoever asks first waits for it.
const LISTING_WAIT: Duration = Duration::from_secs(1);

/// Something that has to be compared.
#[derive(Debug)]
enum IndexWork<O> {
    /// What belongs to the opening.
    Opening(O),
    Agent(AgentToRead),
    Session(SessionId),
}

/// Who keeps the index.
pub(super) struct IndexKeeper<I: KeptIndex> {
    space: Arc<SessionSpace>,
    shared: Arc<IndexShared>,
    asked: Receiver<IndexTask<I>>,
    /// What others look at while it is written.
    kept: I::Shared,
    limits: IndexLimits,
    /// Before its place, through which it is written.
    index: Option<I>,
    /// The database of the index.
    tables: Option<SledTables>,
    /// What will take its place, while that is made.
    second: SecondTables,
    copy: Option<TableCopy>,
    place: IndexPlace,
    /// What only the database has that was opened.
    mark: Option<(u64, u64)>,
    work: VecDeque<IndexWork<I::Opening>>,
    /// Whether everything is to be compared, once nobody asks for anything.
    is_sweep_due: bool,
    /// What is listed for a comparison.
    listing: Option<ListingUnderWay>,
    /// The comparison that is under way.
    sweep: Option<IndexSweep>,
    /// Who was told of since.
    told: ToldSince,
    /// Who was told of and is still to be read.
    gathered: GatheredAgents,
    /// Whether everything was compared since it was opened.
    was_swept: bool,
    /// With which refs all agents were compared, where none was read since.
    swept: Option<SweptRefs>,
    /// How often that was believed since everything was listed.
    n_believed: usize,
    n_all: usize,
    /// How many agents and sessions there are; nothing before they were counted.
    n_there: Option<usize>,
    /// How the journals of agents stood when they were read.
    journals: BTreeMap<String, u64>,
    /// The agents of the archive.
    archive: SeenArchive,
    /// The sessions that are over and were read.
    over: BTreeSet<SessionId>,
    /// How much was read since packs were let go of.
    n_read: usize,
    ticked_at: Instant,
    retry_at: Option<Instant>,
    n_bad: usize,
}

impl<I: KeptIndex> IndexKeeper<I> {
    pub fn new(
        space: Arc<SessionSpace>,
        shared: Arc<IndexShared>,
        kept: I::Shared,
        limits: IndexLimits,
        asked: Receiver<IndexTask<I>>,
    ) -> IndexKeeper<I> {
        IndexKeeper {
            place: IndexPlace::of(&space, I::NAME),
            space,
            shared,
            asked,
            kept,
            limits,
            index: None,
            tables: None,
            second: SecondTables::default(),
            copy: None,
            mark: None,
            work: VecDeque::new(),
            is_sweep_due: false,
            listing: None,
            sweep: None,
            told: ToldSince::default(),
            gathered: GatheredAgents::begin(),
            was_swept: false,
            swept: None,
            n_believed: 0,
            n_all: 0,
            n_there: None,
            journals: BTreeMap::new(),
            archive: SeenArchive::default(),
            over: BTreeSet::new(),
            n_read: 0,
            ticked_at: Instant::now(),
            retry_at: None,
            n_bad: 0,
        }
    }

    /// Keeps the index until nobody can ask any more.
    pub fn keep(mut self) {
        self.open();
        loop {
            let wait = match self.listing {
                _ if self.has_work() => Duration::ZERO,
                Some(_) => LISTING_TICK,
                None => TICK,
            };
            let due = self.gathered.wait(I::GATHERED, Instant::now());
            let wait = wait.min(due.unwrap_or(wait));
            match self.asked.recv_timeout(wait) {
                Ok(IndexTask::End { done }) => {
                    self.flush();
                    self.drop_index();
                    let _ = done.try_send(());
                    return;
                }
                Ok(task) => self.do_task(task),
                Err(RecvTimeoutError::Timeout) => self.step(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if self.ticked_at.elapsed() >= TICK {
                self.tick();
            }
        }
        self.flush();
    }

    fn flush(&mut self) {
        let kept = self.kept.clone();
        self.guarded(|index, _| Ok(index.flush(&kept)?));
    }

    fn has_work(&self) -> bool {
        let has_sweep = self.sweep.is_some() || (self.is_sweep_due && self.listing.is_none());
        self.index.is_some() && (has_sweep || !self.work.is_empty() || self.copy.is_some())
    }

    /// Does something with the index, if there is one; where that fails it is made anew.
    fn guarded<T>(
        &mut self,
        work: impl FnOnce(&mut I, &SessionSpace) -> Result<T, ReadFailure>,
    ) -> Option<T> {
        let (index, space) = (self.index.as_mut()?, &self.space);
        let done = catch_unwind(AssertUnwindSafe(|| work(index, space)));
        let why = match done {
            Ok(Ok(done)) => return Some(done),
            // The next look tries again.
            Ok(Err(ReadFailure::Ground)) => return None,
            Ok(Err(ReadFailure::Index(error))) => error.to_string(),
            Err(_) => "the database panicked".to_owned(),
        };
        self.shared.pulse.rest();
        self.begin_anew(&why);
        None
    }

    fn do_task(&mut self, task: IndexTask<I>) {
        match task {
            IndexTask::Ask(question) => {
                self.read_gathered();
                // What is missing has to be known before anybody is answered; of much it is not waited
                // for, and said that there may be more.
                if !self.was_swept && self.index.is_some() {
                    self.begin_sweep();
                    self.take_listing(LISTING_WAIT);
                    while self.sweep.is_some() && self.n_there.is_some_and(|n| n <= SCANNED_MAX) {
                        self.sweep_some();
                    }
                }
                // Said by whoever looks: a moment later the building may be over.
                let is_whole = *self.shared.state() == IndexState::Ready;
                let reach = match self.n_there {
                    _ if is_whole => IndexReach::Whole,
                    Some(0..=SCANNED_MAX) => IndexReach::SmallPart,
                    Some(_) | None => IndexReach::Part,
                };
                self.guarded(|index, _| Ok(question(index, reach)?));
            }
            IndexTask::Turn { done } => drop(done.try_send(())),
            IndexTask::Agents { agents, done } => {
                if self.listing.is_some() || self.sweep.is_some() || !self.work.is_empty() {
                    agents.iter().for_each(|agent| self.told.tell(agent.name()));
                }
                self.gathered.add(agents);
                // Whoever asks from here on is answered with them.
                self.shared.count();
                self.read_gathered_if_due();
                let _ = done.try_send(());
            }
            IndexTask::Session { session, done } => {
                if let Ok(id) = self.space.find_session(&session) {
                    self.read_session(id);
                }
                let _ = done.try_send(());
            }
            IndexTask::Sweep => self.is_sweep_due = true,
            // The loop ends at it.
            IndexTask::End { .. } => {}
            IndexTask::Rebuild => {
                self.lose_index();
                self.place.remove();
                self.n_bad = 0;
                self.open();
            }
        }
    }

    fn read_agents(&mut self, agents: &[AgentToRead]) {
        if !self.has_room() {
            return;
        }
        self.swept = None;
        let mark = |agent: &AgentToRead| match I::IN_FLIGHT {
            InFlight::Kept => {
                Some((agent.name().to_owned(), journal_mark(&self.space, agent.name())?))
            }
            InFlight::Left => None,
        };
        let mut marks: BTreeMap<String, u64> = agents.iter().filter_map(mark).collect();
        let read = self.guarded(|index, space| index.read_agents(space, agents));
        self.shared.count();
        self.count_read(agents.len());
        for agent in read.into_iter().flatten() {
            match marks.remove(&agent) {
                Some(mark) => drop(self.journals.insert(agent, mark)),
                None => drop(self.journals.remove(&agent)),
            }
        }
    }

    /// Lets go of packs where much was read of them.
    fn count_read(&mut self, n: usize) {
        self.n_read += n;
        if self.n_read >= READ_MUCH {
            self.let_go_of_packs();
        }
    }

    fn let_go_of_packs(&mut self) {
        if std::mem::take(&mut self.n_read) > 0 {
            self.space.repository().let_go_of_packs();
        }
    }

    fn read_session(&mut self, id: SessionId) {
        if !self.has_room() {
            return;
        }
        let kept = self.kept.clone();
        let read = self.guarded(|index, space| index.read_session(space, &kept, &id));
        self.shared.count();
        if read == Some(true) {
            self.over.insert(id);
        }
    }

    /// Does a piece of the work.
    fn step(&mut self) {
        self.read_gathered_if_due();
        if self.index.is_none() {
            if self.retry_at.is_some_and(|at| Instant::now() >= at) {
                self.n_bad = 0;
                self.open();
            }
            return;
        }
        self.is_sweep_due |= self.shared.pulse.takes_sweep();
        if self.is_sweep_due {
            self.begin_sweep();
        }
        self.take_listing(Duration::ZERO);
        if self.sweep.is_some() {
            return self.sweep_some();
        }
        if !self.has_room() {
            return;
        }
        if self.copy.is_some() {
            self.copy_some();
        }
        match self.work.pop_front() {
            None => return,
            Some(IndexWork::Agent(agent)) => {
                let agents = self.next_agents(agent);
                self.read_agents(&agents);
            }
            Some(IndexWork::Session(id)) => self.read_session(id),
            Some(IndexWork::Opening(part)) => {
                self.guarded(|index, space| index.finish_opening(space, &part));
                self.shared.count();
                self.count_read(1);
            }
        }
        self.say_progress();
    }

    /// Says whether there is room to write. Without it there is no index for a while: one that is not
    /// written any more would soon be wrong.
    fn has_room(&mut self) -> bool {
        let has_room = self.place.has_room(self.limits.free_bytes_min);
        if !has_room && self.index.is_some() {
            self.drop_index();
            self.go_without(FULL);
        }
        has_room
    }

    fn say_progress(&self) {
        if self.index.is_none() || !self.was_swept {
            return;
        }
        self.say(match self.work.len() {
            0 => IndexState::Ready,
            // A few that changed are no building.
            left if left < 64 && *self.shared.state() == IndexState::Ready => IndexState::Ready,
            left => {
                IndexState::Building { n_done: self.n_all.saturating_sub(left), n_all: self.n_all }
            }
        });
    }

    fn say(&self, state: IndexState) {
        self.shared.set_state(state, self.space.now().to_string());
    }

    /// Writes to the disk, and looks whether somebody took the database away.
    fn tick(&mut self) {
        self.ticked_at = Instant::now();
        if self.shared.is_retired() {
            return;
        }
        if self.index.is_some() && self.place.mark() != self.mark {
            // It was deleted, which anybody may do at any time.
            self.lose_index();
            self.place.remove();
            self.open();
            return;
        }
        self.flush();
        self.let_go_of_packs();
        self.look_at_size();
    }
}
