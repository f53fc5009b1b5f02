//! What a process that stays looks after, whoever asks something of it: that its repository is still
//! there, that its log does not grow for ever, that its index answers, and that somebody drives runs, if
//! that is its task.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use agentic_providers::host::CancelFlag;
use rustix::process::Pid;

use crate::error::{ResidentError, Result};
use crate::index::IndexDesk;
use crate::log::ServeLog;
use crate::os::has_ended;
use crate::place::RepositoryPlace;
use crate::replacement::ReplacementDesk;
use crate::worker::WorkerKeeper;

/// How often it looks.
const LOOK: Duration = Duration::from_millis(250);

/// What those who ask how the process is are told of it.
#[derive(Debug, Default)]
pub struct UpkeepGauge {
    is_driven: AtomicBool,
    is_replaced: AtomicBool,
}

impl UpkeepGauge {
    /// Tells whether a worker drives runs.
    pub fn is_driven(&self) -> bool {
        self.is_driven.load(Ordering::Relaxed)
    }

    /// Tells whether the repository was found to be another one, or gone.
    pub fn is_replaced(&self) -> bool {
        self.is_replaced.load(Ordering::Relaxed)
    }

    /// Notes that the repository is another one, or gone.
    pub fn note_replaced(&self) {
        self.is_replaced.store(true, Ordering::Relaxed);
    }
}

/// Who keeps a worker running, if anybody does. Whoever locks it sees to it that none begins or ends.
#[derive(Debug, Clone)]
pub(crate) struct SharedWorker(Arc<Mutex<Option<WorkerKeeper>>>);

impl SharedWorker {
    pub fn new(keeper: Option<WorkerKeeper>) -> SharedWorker {
        SharedWorker(Arc::new(Mutex::new(keeper)))
    }

    /// No code that can panic runs under the lock, so a poisoned one still holds a whole keeper.
    pub fn lock(&self) -> MutexGuard<'_, Option<WorkerKeeper>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who looks after a process that stays.
pub(crate) struct ResidentUpkeep {
    pub place: RepositoryPlace,
    pub log: ServeLog,
    pub worker: SharedWorker,
    /// Children of the program before this one that it did not name.
    pub strays: Vec<Pid>,
    pub index: IndexDesk,
    pub replacement: Arc<ReplacementDesk>,
    pub gauge: Arc<UpkeepGauge>,
    /// Set when the process is to end.
    pub stop: CancelFlag,
}

impl ResidentUpkeep {
    /// Begins to look, by a thread, until it is told that all is over.
    pub fn begin(self, ended: CancelFlag) -> Result<JoinHandle<()>> {
        let thread = std::thread::Builder::new().name("agentic-upkeep".to_owned());
        thread.spawn(move || self.keep(&ended)).map_err(ResidentError::system("start a thread"))
    }

    fn keep(mut self, ended: &CancelFlag) {
        loop {
            if self.place.is_same() {
                self.log.rotate();
            } else if !self.gauge.is_replaced() {
                self.gauge.note_replaced();
                self.stop.set();
            }
            let may_drive = !self.gauge.is_replaced() && !self.stop.is_set();
            let is_driven = match &mut *self.worker.lock() {
                Some(worker) if may_drive => worker.keep(),
                Some(_) | None => false,
            };
            self.strays.retain(|pid| !has_ended(*pid));
            self.look_after_index();
            self.gauge.is_driven.store(is_driven, Ordering::Relaxed);
            if ended.wait(LOOK) {
                // Before the lock of this process is given back.
                drop(self.worker.lock().take());
                return;
            }
        }
    }

    /// Has the process replace itself where an index never comes back: its thread can be ended in no
    /// other way.
    fn look_after_index(&self) {
        if self.index.is_lost() && self.replacement.ask() {
            tracing::warn!(
                "an operation of the index never came back: this process replaces itself"
            );
        }
    }
}
