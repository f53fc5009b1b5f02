//! What a process that stays looks after, whoever asks something of it: that its repository is still
//! there, that its log does not grow for ever, and that somebody drives runs, if that is its task.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agentic_providers::host::CancelFlag;

use crate::log::ServeLog;
use crate::place::RepositoryPlace;
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

/// Who looks after a process that stays.
pub(crate) struct ResidentUpkeep {
    pub place: RepositoryPlace,
    pub log: ServeLog,
    pub worker: Option<WorkerKeeper>,
    pub gauge: Arc<UpkeepGauge>,
    /// Set when the process is to end.
    pub stop: CancelFlag,
}

impl ResidentUpkeep {
    /// Looks again and again, until it is told that all is over.
    pub fn keep(mut self, ended: &CancelFlag) {
        loop {
            if self.place.is_same() {
                self.log.rotate();
            } else if !self.gauge.is_replaced() {
                self.gauge.note_replaced();
                self.stop.set();
            }
            let may_drive = !self.gauge.is_replaced() && !self.stop.is_set();
            let is_driven = match &mut self.worker {
                Some(worker) if may_drive => worker.keep(),
                Some(_) | None => false,
            };
            self.gauge.is_driven.store(is_driven, Ordering::Relaxed);
            if ended.wait(LOOK) {
                return;
            }
        }
    }
}
