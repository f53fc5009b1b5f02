//! Threads that perform requests, made when needed and kept for the length of a run.
//!
//! A job can be abandoned: its thread then no longer belongs to the pool, whether it ever comes
//! back or not, and the next job gets another one.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

type PoolWork = Box<dyn FnOnce() + Send>;

/// The threads of one run.
#[derive(Default)]
pub(super) struct Pool {
    shared: Arc<PoolShared>,
}

#[derive(Default)]
struct PoolShared {
    queue: Mutex<Queue>,
    arrived: Condvar,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<(PoolWork, Arc<AtomicU8>)>,
    n_idle: usize,
    is_closed: bool,
}

/// A job that a thread works on.
#[derive(Debug)]
pub(super) struct Job {
    state: Arc<AtomicU8>,
}

/// The system gave no thread.
#[derive(Debug)]
pub(super) struct NoThread;

const WORKING: u8 = 0;
const DONE: u8 = 1;
const ABANDONED: u8 = 2;

impl Job {
    /// Gives the thread up. If the work is done already, the thread stays with the pool.
    pub(super) fn abandon(&self) {
        let _ = swap_from_working(&self.state, ABANDONED);
    }
}

impl Pool {
    /// Starts work in an idle thread or a new one.
    pub(super) fn start(&self, work: impl FnOnce() + Send + 'static) -> Result<Job, NoThread> {
        let state = Arc::new(AtomicU8::new(WORKING));
        let mut queue = self.shared.lock();
        if queue.jobs.len() >= queue.n_idle {
            let shared = Arc::clone(&self.shared);
            let builder = thread::Builder::new().name("agentic-request".to_owned());
            builder.spawn(move || shared.serve()).map_err(|_| NoThread)?;
            queue.n_idle += 1;
        }
        queue.jobs.push_back((Box::new(work), Arc::clone(&state)));
        drop(queue);
        self.shared.arrived.notify_one();
        Ok(Job { state })
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.arrived.notify_all();
    }
}

impl PoolShared {
    /// Works until the pool is closed or the job at hand was abandoned. A thread counts as idle
    /// from its start, so that the job it was made for finds it.
    fn serve(&self) {
        loop {
            let Some((work, state)) = self.next_job() else { return };
            work();
            if !swap_from_working(&state, DONE) {
                return;
            }
            self.lock().n_idle += 1;
        }
    }

    fn next_job(&self) -> Option<(PoolWork, Arc<AtomicU8>)> {
        let mut queue = self.lock();
        loop {
            if let Some(job) = queue.jobs.pop_front() {
                queue.n_idle -= 1;
                return Some(job);
            }
            if queue.is_closed {
                return None;
            }
            queue = self.arrived.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// No code that can panic runs under the lock, so a poisoned one still holds a whole queue.
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn swap_from_working(state: &AtomicU8, to: u8) -> bool {
    state.compare_exchange(WORKING, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
}
