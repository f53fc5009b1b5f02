//! One process that stays, put together.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use agentic_model::Instant;
use agentic_providers::host::CancelFlag;
use agentic_providers::process::ProcessIdentity;
use agentic_session::SessionSpace;
use agentic_store::watch::{WatchMode, WriteWatch};

use crate::error::{ResidentError, Result};
use crate::event::EventHub;
use crate::folder::{ServeFolder, ServeLock};
use crate::follower::Follower;
use crate::os::random_bytes;
use crate::pool::VerbPool;
use crate::resume::ResumeDesk;
use crate::whereabouts::{API_VERSION, Whereabouts};

/// How a process stays.
#[derive(Debug, Clone)]
pub struct ResidentOptions {
    /// The folder of the person who began it.
    pub folder: PathBuf,
    /// Whether nothing may be written through it.
    pub is_read_only: bool,
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
    /// Its folder.
    pub folder: ServeFolder,
    /// The lock on it.
    pub lock: ServeLock,
    /// The key from which its names come.
    pub key: [u8; 32],
    /// How it stays.
    pub options: ResidentOptions,
    /// How changes of folders are noticed.
    pub watch: WatchMode,
    /// Since when.
    pub since: Instant,
    resumes: ResumeDesk,
    follower: Option<JoinHandle<()>>,
    ended: CancelFlag,
}

impl Resident {
    /// Takes the lock, and begins to notice writes.
    ///
    /// # Errors
    /// Fails when another process has the lock, and when the system gives no pipe or no thread.
    pub fn begin(space: SessionSpace, options: ResidentOptions) -> Result<Resident> {
        let layout = space.repository().layout().clone();
        let folder = ServeFolder::of(&layout);
        let lock = folder.lock()?;
        let key = folder.key(&lock)?;
        let watch = WriteWatch::begin(&layout, space.repository().common_dir())?;
        let mode = watch.mode();
        let space = Arc::new(space);
        let random: [u8; 8] = random_bytes().map_err(ResidentError::system("read random bytes"))?;
        let events = Arc::new(EventHub::new(format!("{:016x}", u64::from_be_bytes(random))));
        let pool = VerbPool::begin(&space)?;
        let ended = CancelFlag::new();
        let follower = {
            let (space, events, ended) = (Arc::clone(&space), Arc::clone(&events), ended.clone());
            let thread = std::thread::Builder::new().name("agentic-follower".to_owned());
            let follow = move || {
                Follower::begin(space, events).follow(watch, || !ended.is_set());
            };
            thread.spawn(follow).map_err(ResidentError::system("start a thread"))?
        };
        let resumes = ResumeDesk::new(options.folder.clone());
        let (since, follower) = (space.now(), Some(follower));
        Ok(Resident {
            space,
            pool,
            events,
            folder,
            lock,
            key,
            options,
            watch: mode,
            since,
            resumes,
            follower,
            ended,
        })
    }

    /// Has a process of its own go on with a session, so that the death of this one stops none.
    pub fn resume(&self, session: &str) {
        self.resumes.resume(session);
    }

    /// Says to everybody where the process can be reached.
    ///
    /// # Errors
    /// Fails when it cannot be written down.
    pub fn say_where(&self, url: Option<String>) -> Result<Whereabouts> {
        let unknown = || std::io::Error::other("the system does not tell when this process began");
        let process = ProcessIdentity::own().ok_or_else(unknown);
        let process = process.map_err(ResidentError::system("say which process this is"))?;
        let at = Whereabouts {
            process,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            api: API_VERSION,
            url,
            since: self.since.to_string(),
        };
        self.folder.say(&at, &self.lock)?;
        Ok(at)
    }
}

impl Drop for Resident {
    fn drop(&mut self) {
        self.ended.set();
        if let Some(follower) = self.follower.take() {
            // It ended by a panic: there is nothing left to end.
            let _ = follower.join();
        }
        self.folder.forget(&self.lock);
    }
}
