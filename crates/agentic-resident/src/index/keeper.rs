//! The thread that keeps the index.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use agentic_index::{IndexError, SledTables};
use agentic_replay::SessionId;
use agentic_session::SessionSpace;

use super::desk::IndexTask;
use super::growth::{CopyStep, SecondTables, TableCopy};
use super::kept::{InFlight, KeptIndex, ReadFailure, SeenArchive};
use super::place::{IndexPlace, journal_mark};
use super::pulse::{OPENING_MAX, OPERATION_MAX, WatchedTables};
use super::sweep::IndexSweep;
use super::{IndexLimits, IndexReach, IndexShared, IndexState};

/// How often is looked after the folder, and written to the disk.
const TICK: Duration = Duration::from_secs(1);
/// Why there is no index where the disk is full.
const FULL: &str = "the disk has too little room";
/// How many agents and sessions are read sooner than an index of them is made.
const SCANNED_MAX: usize = 1_000;
/// How many agents are read before somebody else has a turn.
const AGENTS_AT_ONCE: usize = 64;
/// After how many agents packs are let go of.
const READ_MUCH: usize = 128;
/// How many databases may go bad in a row before it is waited that long.
const ANEW_MAX: usize = 3;

/// Something that has to be compared.
#[derive(Debug)]
enum IndexWork<O> {
    /// What belongs to the opening.
    Opening(O),
    Agent(String),
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
    /// The comparison that is under way.
    sweep: Option<IndexSweep>,
    /// Whether everything was compared since it was opened.
    was_swept: bool,
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
            sweep: None,
            was_swept: false,
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
            let wait = if self.has_work() { Duration::ZERO } else { TICK };
            match self.asked.recv_timeout(wait) {
                Ok(IndexTask::End { done }) => {
                    self.guarded(|index, _| Ok(index.flush()?));
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
        self.guarded(|index, _| Ok(index.flush()?));
    }

    fn has_work(&self) -> bool {
        let has_sweep = self.is_sweep_due || self.sweep.is_some();
        self.index.is_some() && (has_sweep || !self.work.is_empty() || self.copy.is_some())
    }

    /// Opens the database, or makes one.
    fn open(&mut self) {
        if !self.place.is_there() {
            return self.go_without("the repository is another one now");
        }
        if self.shared.is_retired() {
            return;
        }
        self.retry_at = None;
        if !self.place.has_room(self.limits.free_bytes_min) {
            return self.go_without(FULL);
        }
        let (place, shared, of) =
            (self.place.clone(), Arc::clone(&self.shared), self.place.identity());
        let (kept, second) = (self.kept.clone(), self.second.clone());
        let opened = catch_unwind(AssertUnwindSafe(|| {
            let watched = Arc::clone(&shared);
            shared.pulse.within(OPENING_MAX, || {
                let _ = place.make();
                // What an earlier process never came back from is not opened again.
                place.begin_opening();
                let opened = SledTables::open(&place.database(), I::CACHE_BYTES);
                let opened = opened.and_then(|inner| {
                    let tables = WatchedTables { inner: inner.clone(), second, shared: watched };
                    Ok((I::open(Box::new(tables), &of, &kept)?, inner))
                });
                place.end_opening();
                opened
            })
        }));
        self.shared.pulse.rest();
        let why = match opened {
            Ok(Ok((index, tables))) => {
                (self.index, self.tables) = (Some(index), Some(tables));
                self.mark = self.place.mark();
                self.work.clear();
                self.sweep = None;
                self.n_all = 0;
                self.was_swept = false;
                // Whoever asks already is answered before.
                self.is_sweep_due = true;
                self.say(IndexState::Building { n_done: 0, n_all: 0 });
                return;
            }
            Ok(Err(IndexError::Held { path })) => {
                return self.go_without(&format!("another process has `{}`", path.display()));
            }
            // Of another repository or version: nothing is wrong with it.
            Ok(Err(error @ IndexError::Foreign)) => error.to_string(),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "the database panicked when it was opened".to_owned(),
        };
        self.begin_anew(&why);
    }

    /// Goes on without an index for a while.
    fn go_without(&mut self, why: &str) {
        tracing::warn!(why, "there is no index");
        self.retry_at = Some(Instant::now() + self.limits.retry);
        self.say(IndexState::Absent { why: why.to_owned() });
    }

    /// Sets a database aside that is of no use, and begins another.
    fn begin_anew(&mut self, why: &str) {
        tracing::warn!(why, "the index is made anew");
        self.lose_index();
        if self.shared.is_retired() {
            return;
        }
        self.place.set_aside(why);
        self.n_bad += 1;
        match self.n_bad > ANEW_MAX {
            true => self.go_without(why),
            false => self.open(),
        }
    }

    /// Lets go of the database, because another one will be opened in its place.
    fn lose_index(&mut self) {
        // Before its rows are gone: whoever sees that it is ready may believe that it has all of them.
        self.say(IndexState::Building { n_done: 0, n_all: 0 });
        self.drop_index();
    }

    /// Lets go of the database. A damaged one may panic at that, too.
    fn drop_index(&mut self) {
        let (tables, copy) = (self.tables.take(), self.copy.take());
        if let Some(index) = self.index.take() {
            let dropped = catch_unwind(AssertUnwindSafe(|| {
                self.shared.pulse.within(OPENING_MAX, || {
                    self.second.close();
                    drop((index, tables, copy));
                });
            }));
            if dropped.is_err() {
                tracing::warn!("the index panicked when it was closed");
            }
            self.shared.pulse.rest();
        }
        self.journals.clear();
        self.over.clear();
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
                // What is missing has to be known before anybody is answered; of much it is not waited
                // for, and said that there may be more.
                if !self.was_swept && self.index.is_some() {
                    self.begin_sweep();
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
            IndexTask::Agent { agent, done } => {
                self.read_agents(&[agent]);
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

    fn read_agents(&mut self, agents: &[String]) {
        if !self.has_room() {
            return;
        }
        let mark = |agent: &String| match I::IN_FLIGHT {
            InFlight::Kept => Some((agent.clone(), journal_mark(&self.space, agent)?)),
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
        let read = self.guarded(|index, space| index.read_session(space, &id));
        self.shared.count();
        if read == Some(true) {
            self.over.insert(id);
        }
    }

    /// Begins to compare everything, unless that is under way.
    fn begin_sweep(&mut self) {
        self.is_sweep_due = false;
        if self.sweep.is_some() {
            return;
        }
        let mut archive = std::mem::take(&mut self.archive);
        self.sweep = self.guarded(|index, space| IndexSweep::begin(index, space, &mut archive));
        self.archive = archive;
        self.n_there = self.sweep.as_ref().map(IndexSweep::n_there);
        if self.sweep.is_none() {
            // What could not be listed is listed by the next one.
            self.say_progress();
        }
    }

    /// Compares some; at the end what differs is the work.
    fn sweep_some(&mut self) {
        let Some(mut sweep) = self.sweep.take() else { return };
        let journals = std::mem::take(&mut self.journals);
        let journal_of = |agent: &str| journals.get(agent).copied();
        let compared = self.guarded(|index, space| {
            let has_more = sweep.compare(index, space, journal_of)?;
            Ok((sweep, has_more))
        });
        if self.index.is_some() {
            self.journals = journals;
        }
        // Of what differs it is read when it was written.
        self.count_read(READ_MUCH);
        match compared {
            Some((sweep, true)) => return self.sweep = Some(sweep),
            Some((sweep, false)) => self.end_sweep(sweep),
            None => {}
        }
        self.say_progress();
    }

    fn end_sweep(&mut self, mut sweep: IndexSweep) {
        self.over.append(&mut sweep.over);
        let found = sweep.end(&self.over);
        let is_first = !std::mem::replace(&mut self.was_swept, true);
        self.work.retain(|work| matches!(work, IndexWork::Opening(_)));
        if is_first {
            let openings = self.guarded(|index, _| Ok(index.openings()?)).into_iter().flatten();
            self.work.extend(openings.map(IndexWork::Opening));
        }
        self.work.extend(found.agents.into_iter().map(IndexWork::Agent));
        self.work.extend(found.sessions.into_iter().map(IndexWork::Session));
        self.n_all = self.work.len();
    }

    /// Does a piece of the work.
    fn step(&mut self) {
        if self.index.is_none() {
            if self.retry_at.is_some_and(|at| Instant::now() >= at) {
                self.n_bad = 0;
                self.open();
            }
            return;
        }
        if self.is_sweep_due | self.shared.pulse.takes_sweep() {
            self.begin_sweep();
        }
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

    /// Takes the agents that follow one in the work, for a piece of it.
    fn next_agents(&mut self, first: String) -> Vec<String> {
        let mut agents = vec![first];
        while agents.len() < AGENTS_AT_ONCE {
            match self.work.pop_front() {
                Some(IndexWork::Agent(agent)) => agents.push(agent),
                Some(other) => {
                    self.work.push_front(other);
                    break;
                }
                None => break,
            }
        }
        agents
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

    /// Copies a piece of a database that has grown too large.
    fn copy_some(&mut self) {
        let Some(copy) = &mut self.copy else { return };
        match self.shared.pulse.within(OPERATION_MAX, || copy.step()) {
            CopyStep::More => {}
            CopyStep::Whole => {
                tracing::info!(
                    index = I::NAME,
                    "the index had grown, and its copy takes its place"
                );
                self.drop_index();
                self.place.swap();
                self.open();
            }
            CopyStep::Failed => {
                self.shared.pulse.rest();
                self.copy = None;
                self.second.close();
                let _ = std::fs::remove_dir_all(self.place.second());
            }
        }
    }

    /// Begins to copy a database that has grown too large.
    fn look_at_size(&mut self) {
        let is_ready = *self.shared.state() == IndexState::Ready;
        let Some(tables) = self.tables.as_ref().filter(|_| is_ready && self.copy.is_none()) else {
            return;
        };
        let (now, made) = self.place.sizes();
        let most = made.saturating_mul(self.limits.growth_max).max(self.limits.growth_bytes_min);
        if now > most {
            let begun = TableCopy::begin(&self.place, tables, &self.second, I::CACHE_BYTES);
            // Where that is not possible, the next look tries again.
            self.copy = begun.ok();
        }
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
        self.guarded(|index, _| Ok(index.flush()?));
        self.let_go_of_packs();
        self.look_at_size();
    }
}
