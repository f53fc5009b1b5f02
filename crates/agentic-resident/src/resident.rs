//! One process that stays, put together.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use agentic_model::Instant;
use agentic_providers::host::CancelFlag;
use agentic_providers::process::ProcessIdentity;
use agentic_session::SessionSpace;
use agentic_store::watch::WriteWatch;

use crate::child::ChildPlace;
use crate::error::{ResidentError, Result};
use crate::event::EventHub;
use crate::folder::{ServeFolder, ServeLock};
use crate::follower::{Follower, FollowerGauge};
use crate::index::{IndexDesk, IndexLimits};
use crate::log::ServeLog;
use crate::os::random_bytes;
use crate::place::RepositoryPlace;
use crate::pool::VerbPool;
use crate::replacement::{
    Estate, InheritedChildren, PageEstate, ProcessInheritance, ReplacementDesk, exec,
};
use crate::resume::ResumeDesk;
use crate::upkeep::{ResidentUpkeep, SharedWorker, UpkeepGauge};
use crate::whereabouts::{API_VERSION, PageLogins, Whereabouts};
use crate::worker::WorkerKeeper;

/// How a process stays.
#[derive(Debug, Clone)]
pub struct ResidentOptions {
    /// The folder of the person who began it.
    pub folder: PathBuf,
    /// Whether nothing may be written through it.
    pub is_read_only: bool,
    /// Whether it keeps a worker running that drives runs.
    pub drives: bool,
    /// Set when it is to end.
    pub stop: CancelFlag,
}

/// A process that stays with a repository. Dropping it ends its threads and gives the lock back.
pub struct Resident {
    /// The space.
    pub space: Arc<SessionSpace>,
    /// The threads on which verbs run.
    pub pool: VerbPool,
    /// What happened.
    pub events: Arc<EventHub>,
    /// What is kept for faster answers.
    pub index: IndexDesk,
    /// Its folder.
    pub folder: ServeFolder,
    /// The lock on it.
    pub lock: ServeLock,
    /// The key from which its names come.
    pub key: [u8; 32],
    /// How it stays.
    pub options: ResidentOptions,
    /// How changes are noticed, and how soon.
    pub gauge: Arc<FollowerGauge>,
    /// Since when.
    pub since: Instant,
    /// Whether its repository is still there, and whether runs are driven.
    pub upkeep: Arc<UpkeepGauge>,
    /// When it replaces itself.
    pub replacement: Arc<ReplacementDesk>,
    place: RepositoryPlace,
    worker: SharedWorker,
    resumes: ResumeDesk,
    threads: Vec<JoinHandle<()>>,
    ended: CancelFlag,
}

impl Resident {
    /// Takes the lock, or what the program before this one has left, and begins to notice writes.
    ///
    /// # Errors
    /// Fails when another process has the lock, and when the system gives no pipe or no thread.
    pub fn begin(
        space: SessionSpace,
        options: ResidentOptions,
        inheritance: Option<ProcessInheritance>,
    ) -> Result<Resident> {
        let layout = space.repository().layout().clone();
        // What comes to this place later is another repository, or, inside, another process's.
        let place = RepositoryPlace::of(space.repository().common_dir());
        let folder = ServeFolder::of(&layout);
        let (lock, children, replacement) = take_over(&folder, inheritance)?;
        let place = folder.held_inside(place, &lock);
        let InheritedChildren { worker, resumes: resumed, strays } = children;
        let replacement = Arc::new(replacement);
        let key = folder.key(&lock)?;
        let watch = WriteWatch::begin(&layout, space.repository().common_dir())?;
        let gauge = Arc::new(FollowerGauge::default());
        gauge.set_mode(watch.mode());
        let space = Arc::new(space);
        let random: [u8; 8] = random_bytes().map_err(ResidentError::system("read random bytes"))?;
        let events = Arc::new(EventHub::new(format!("{:016x}", u64::from_be_bytes(random))));
        let pool = VerbPool::begin(&space)?;
        // Its thread ends by itself, once nobody can ask any more: a database may hang at its end.
        let index = IndexDesk::begin(&space, &events, IndexLimits::default())?;
        let ended = CancelFlag::new();
        let upkeep = Arc::new(UpkeepGauge::default());
        let follower = {
            let (space, events, ended) = (Arc::clone(&space), Arc::clone(&events), ended.clone());
            let (gauge, index) = (Arc::clone(&gauge), index.clone());
            let (place, upkeep, stop) = (place.clone(), Arc::clone(&upkeep), options.stop.clone());
            let go_on = move || !ended.is_set() && is_still_there(&place, &upkeep, &stop);
            let thread = std::thread::Builder::new().name("agentic-follower".to_owned());
            let follow = move || Follower::begin(space, events, gauge, index).follow(watch, go_on);
            thread.spawn(follow).map_err(ResidentError::system("start a thread"))?
        };
        let children = ChildPlace::new(&options.folder, space.repository());
        let worker = options.drives.then(|| WorkerKeeper::new(children.clone(), worker));
        let worker = SharedWorker::new(worker);
        let upkeeper = ResidentUpkeep {
            place: place.clone(),
            log: ServeLog::of(&layout.resident()),
            worker: worker.clone(),
            strays,
            index: index.clone(),
            replacement: Arc::clone(&replacement),
            gauge: Arc::clone(&upkeep),
            stop: options.stop.clone(),
        };
        let threads = vec![follower, upkeeper.begin(ended.clone())?];
        let resumes = ResumeDesk::new(children);
        resumes.inherit(resumed);
        Ok(Resident {
            since: space.now(),
            space,
            pool,
            events,
            index,
            folder,
            lock,
            key,
            options,
            gauge,
            upkeep,
            replacement,
            place,
            worker,
            resumes,
            threads,
            ended,
        })
    }

    /// Says whether the repository is still the one that this process began with. Where it is not,
    /// nothing is written any more, and the process ends.
    ///
    /// # Errors
    /// Fails when it was deleted, moved or made anew.
    pub fn check_place(&self) -> Result<()> {
        match is_still_there(&self.place, &self.upkeep, &self.options.stop) {
            true => Ok(()),
            false => Err(ResidentError::Replaced),
        }
    }

    /// Has a process of its own go on with a session, so that the death of this one stops none.
    pub fn resume(&self, session: &str) {
        self.resumes.resume(session);
    }

    /// Begins this program anew in place of this process. Returns only where that fails: then the process
    /// goes on.
    pub fn replace(&self, page: PageEstate<'_>) -> std::io::Error {
        self.index.leave();
        let error = {
            // Locked, so that no child begins or ends that the new program would not know.
            let (keeper, resumes) = (self.worker.lock(), self.resumes.state());
            let worker = keeper.as_ref().and_then(WorkerKeeper::worker);
            exec(&Estate { lock: &self.lock, worker, resumes: resumes.note(), page })
        };
        self.index.begin_again();
        error
    }

    /// Says to everybody where the process can be reached.
    ///
    /// # Errors
    /// Fails when it cannot be written down.
    pub fn say_where(&self, url: Option<String>, logins: PageLogins) -> Result<Whereabouts> {
        let unknown = || std::io::Error::other("the system does not tell when this process began");
        let process = ProcessIdentity::own().ok_or_else(unknown);
        let process = process.map_err(ResidentError::system("say which process this is"))?;
        let at = Whereabouts {
            process,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            api: API_VERSION,
            url,
            logins,
            since: self.since.to_string(),
        };
        self.folder.say(&at, &self.lock)?;
        Ok(at)
    }
}

/// Takes what the program before this one has left; without one, the lock.
fn take_over(
    folder: &ServeFolder,
    inheritance: Option<ProcessInheritance>,
) -> Result<(ServeLock, InheritedChildren, ReplacementDesk)> {
    Ok(match inheritance {
        Some(ProcessInheritance { lock, children }) => {
            (folder.inherit_lock(lock)?, children, ReplacementDesk::of_second())
        }
        None => (folder.lock()?, InheritedChildren::default(), ReplacementDesk::default()),
    })
}

/// Says whether a repository is still the one that was begun with; where it is not, the process is
/// told to end.
fn is_still_there(place: &RepositoryPlace, upkeep: &UpkeepGauge, stop: &CancelFlag) -> bool {
    if !upkeep.is_replaced() && place.is_same() {
        return true;
    }
    upkeep.note_replaced();
    stop.set();
    false
}

impl Drop for Resident {
    fn drop(&mut self) {
        self.ended.set();
        for thread in self.threads.drain(..) {
            // It ended by a panic: there is nothing left to end.
            let _ = thread.join();
        }
        self.index.end();
        // What is at this place now may be another process's.
        if self.place.is_same() {
            self.folder.forget(&self.lock);
        }
    }
}
