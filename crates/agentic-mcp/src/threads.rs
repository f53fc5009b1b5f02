//! The threads that verbs run on.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use tokio::sync::oneshot;

/// The most threads.
const THREADS_MAX: usize = 8;
/// How many calls may wait for a thread.
const QUEUE_MAX: usize = 256;

type ThreadJob = Box<dyn FnOnce() + Send>;

/// Threads that do one blocking call after the other. They end when nobody can give them one.
#[derive(Debug, Clone)]
pub struct CallThreads {
    jobs: SyncSender<ThreadJob>,
}

/// Why a call was not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadRefusal {
    /// Too many wait already.
    Busy,
    /// It broke in the middle.
    Broken,
}

impl CallThreads {
    /// Starts the threads: two for each core, at most eight.
    ///
    /// # Errors
    /// Fails when the system gives no thread.
    pub fn start() -> std::io::Result<CallThreads> {
        let n_cores = thread::available_parallelism().map_or(1, usize::from);
        let (jobs, waiting) = sync_channel::<ThreadJob>(QUEUE_MAX);
        let waiting = Arc::new(Mutex::new(waiting));
        for n in 0..(2 * n_cores).min(THREADS_MAX) {
            let waiting = Arc::clone(&waiting);
            thread::Builder::new().name(format!("verb-{n}")).spawn(move || work(&waiting))?;
        }
        Ok(CallThreads { jobs })
    }

    /// Does something on one of the threads.
    ///
    /// # Errors
    /// Fails when too many wait, and when it panics.
    pub async fn run<T: Send + 'static>(
        &self,
        act: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ThreadRefusal> {
        let (done, outcome) = oneshot::channel();
        let job = Box::new(move || {
            // Who asked may have gone away.
            let _ = done.send(act());
        });
        match self.jobs.try_send(job) {
            Ok(()) => outcome.await.map_err(|_| ThreadRefusal::Broken),
            Err(TrySendError::Full(_)) => Err(ThreadRefusal::Busy),
            Err(TrySendError::Disconnected(_)) => Err(ThreadRefusal::Broken),
        }
    }
}

fn work(waiting: &Mutex<Receiver<ThreadJob>>) {
    loop {
        let job = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        // A verb that panics tells whoever waits for it by the channel that it drops.
        let _ = catch_unwind(AssertUnwindSafe(job));
    }
}
