//! The threads on which verbs run: they block, connections must not.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agentic_session::SessionSpace;
use tokio::sync::oneshot;

use crate::error::{ResidentError, Result};

/// How many may wait for a thread.
const QUEUE_MAX: usize = 256;
/// How many threads there are at most; else twice the number of processors.
const THREADS_MAX: usize = 8;

type PoolTask = Box<dyn FnOnce(&SessionSpace) + Send>;

/// A few threads that share one space.
#[derive(Clone)]
pub struct VerbPool {
    queue: SyncSender<PoolTask>,
}

/// Why a pool gives no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PoolRefusal {
    /// Too many wait already.
    #[error("too much is asked at once")]
    Full,
    /// It takes too long.
    #[error("the answer takes too long")]
    Slow,
    /// What was asked ended in a panic, which is a bug.
    #[error("the answer was lost by a mistake of this program")]
    Lost,
}

impl VerbPool {
    /// Begins the threads. They end when the last handle is dropped.
    ///
    /// # Errors
    /// Fails when no thread can be had.
    pub fn begin(space: &Arc<SessionSpace>) -> Result<VerbPool> {
        let (queue, tasks) = sync_channel::<PoolTask>(QUEUE_MAX);
        let tasks = Arc::new(Mutex::new(tasks));
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        for number in 0..(2 * processors).min(THREADS_MAX) {
            let (tasks, space) = (Arc::clone(&tasks), Arc::clone(space));
            let thread = std::thread::Builder::new().name(format!("agentic-verb-{number}"));
            let begun = thread.spawn(move || work(&tasks, &space));
            begun.map_err(ResidentError::system("start a thread"))?;
        }
        Ok(VerbPool { queue })
    }

    /// Has a thread do something with the space, and waits for what it gives, at most so long.
    ///
    /// # Errors
    /// Fails when too many wait, when it takes too long and when it panics. What takes too long is
    /// done all the same, and its answer dropped.
    pub async fn ask<T: Send + 'static>(
        &self,
        most: Option<Duration>,
        work: impl FnOnce(&SessionSpace) -> T + Send + 'static,
    ) -> std::result::Result<T, PoolRefusal> {
        let (give, given) = oneshot::channel();
        let task: PoolTask = Box::new(move |space| {
            // Whoever asked may have gone away.
            let _ = give.send(work(space));
        });
        self.queue.try_send(task).map_err(|error| match error {
            TrySendError::Full(_) => PoolRefusal::Full,
            TrySendError::Disconnected(_) => PoolRefusal::Lost,
        })?;
        let answer = match most {
            Some(most) => tokio::time::timeout(most, given).await.map_err(|_| PoolRefusal::Slow)?,
            None => given.await,
        };
        answer.map_err(|_| PoolRefusal::Lost)
    }
}

fn work(tasks: &Mutex<Receiver<PoolTask>>, space: &SessionSpace) {
    loop {
        let next = tasks.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(task) = next else { return };
        // A task owns what it changes; the space keeps itself whole.
        if catch_unwind(AssertUnwindSafe(|| task(space))).is_err() {
            tracing::error!("a verb ended in a panic");
        }
    }
}
