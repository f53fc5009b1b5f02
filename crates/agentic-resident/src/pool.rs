//! The threads on which verbs run: they block, connections must not.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use agentic_session::SessionSpace;
use tokio::sync::oneshot;

use crate::error::{ResidentError, Result};

/// How many may wait for a thread.
const QUEUE_MAX: usize = 256;
/// How many threads there are at most; else twice the number of processors.
const THREADS_MAX: usize = 8;
/// Whoever takes as long as this may have read much of packs.
const MUCH_READ: Duration = Duration::from_millis(5);

type ThreadTask = Box<dyn FnOnce() + Send>;

/// A few threads that do one blocking thing after the other. They end when nobody can give them one.
#[derive(Debug, Clone)]
pub struct VerbThreads {
    queue: SyncSender<ThreadTask>,
}

/// Why threads did not do what they were given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadRefusal {
    /// Too many wait already.
    Full,
    /// It ended in a panic, which is a bug.
    Lost,
}

impl VerbThreads {
    /// Begins the threads.
    ///
    /// # Errors
    /// Fails when the system gives no thread.
    pub fn begin() -> Result<VerbThreads> {
        let (queue, tasks) = sync_channel::<ThreadTask>(QUEUE_MAX);
        let tasks = Arc::new(Mutex::new(tasks));
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        for number in 0..(2 * processors).min(THREADS_MAX) {
            let tasks = Arc::clone(&tasks);
            let thread = std::thread::Builder::new().name(format!("agentic-verb-{number}"));
            thread.spawn(move || work(&tasks)).map_err(ResidentError::system("start a thread"))?;
        }
        Ok(VerbThreads { queue })
    }

    /// Has a thread do something, and waits for what it gives. It is done all the same where nobody waits
    /// any more.
    ///
    /// # Errors
    /// Fails when too many wait, and when it panics.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> std::result::Result<T, ThreadRefusal> {
        let (give, given) = oneshot::channel();
        let task: ThreadTask = Box::new(move || {
            // Whoever asked may have gone away.
            let _ = give.send(work());
        });
        self.queue.try_send(task).map_err(|error| match error {
            TrySendError::Full(_) => ThreadRefusal::Full,
            TrySendError::Disconnected(_) => ThreadRefusal::Lost,
        })?;
        given.await.map_err(|_| ThreadRefusal::Lost)
    }
}

fn work(tasks: &Mutex<Receiver<ThreadTask>>) {
    loop {
        let next = tasks.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(task) = next else { return };
        // A task owns what it changes; a space keeps itself whole. Whoever waits is told by the channel
        // that is dropped.
        if catch_unwind(AssertUnwindSafe(task)).is_err() {
            tracing::error!("a verb ended in a panic");
        }
    }
}

/// A few threads that share one space.
#[derive(Clone)]
pub struct VerbPool {
    threads: VerbThreads,
    space: Arc<SessionSpace>,
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

impl From<ThreadRefusal> for PoolRefusal {
    fn from(refusal: ThreadRefusal) -> PoolRefusal {
        match refusal {
            ThreadRefusal::Full => PoolRefusal::Full,
            ThreadRefusal::Lost => PoolRefusal::Lost,
        }
    }
}

impl VerbPool {
    /// Begins the threads. They end when the last handle is dropped.
    ///
    /// # Errors
    /// Fails when no thread can be had.
    pub fn begin(space: &Arc<SessionSpace>) -> Result<VerbPool> {
        Ok(VerbPool { threads: VerbThreads::begin()?, space: Arc::clone(space) })
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
        let space = Arc::clone(&self.space);
        let asked = self.threads.run(move || {
            let began = Instant::now();
            let given = work(&space);
            if began.elapsed() >= MUCH_READ {
                space.repository().let_go_of_packs();
            }
            given
        });
        let answer = match most {
            Some(most) => tokio::time::timeout(most, asked).await.map_err(|_| PoolRefusal::Slow)?,
            None => asked.await,
        };
        Ok(answer?)
    }
}
