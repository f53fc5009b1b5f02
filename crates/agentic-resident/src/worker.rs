//! Driving durable runs: a worker in a process of its own, which is started again when it ends.

use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use crate::child::ChildPlace;
use crate::os::{has_ended, pid_of};

/// How long is waited at first before a worker that ended is started again, and at most.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));
/// How long a worker that was told to end may take.
const END_WAIT: Duration = Duration::from_secs(5);
/// How often is looked whether it has.
const LOOK: Duration = Duration::from_millis(20);

/// Who keeps a worker running.
#[derive(Debug)]
pub(crate) struct WorkerKeeper {
    place: ChildPlace,
    worker: Option<WorkerChild>,
    pause: Duration,
    again_at: Instant,
}

/// A worker that runs.
#[derive(Debug)]
pub(crate) struct WorkerChild {
    pub pid: Pid,
    /// It ends when this pipe does, which the system closes however this process dies.
    pub pipe: OwnedFd,
}

impl WorkerKeeper {
    /// Makes one whose workers begin somewhere, with the worker that the program before this one has left.
    pub fn new(place: ChildPlace, worker: Option<WorkerChild>) -> WorkerKeeper {
        WorkerKeeper { place, worker, pause: PAUSES.0, again_at: Instant::now() }
    }

    /// Returns the worker that runs.
    pub fn worker(&self) -> Option<&WorkerChild> {
        self.worker.as_ref()
    }

    /// Starts a worker where none runs and it is time; tells whether one runs.
    pub fn keep(&mut self) -> bool {
        if self.worker.as_ref().is_some_and(|worker| has_ended(worker.pid)) {
            tracing::warn!("the worker ended, and is started again");
            self.worker = None;
            self.again_at = Instant::now() + self.pause;
            self.pause = (self.pause * 2).min(PAUSES.1);
        }
        if self.worker.is_none() && Instant::now() >= self.again_at {
            match self.start() {
                Ok(worker) => self.worker = Some(worker),
                Err(error) => {
                    tracing::warn!(%error, "no worker can be started");
                    self.again_at = Instant::now() + self.pause;
                }
            }
        }
        self.worker.is_some()
    }

    fn start(&self) -> std::io::Result<WorkerChild> {
        let mut command = self.place.command()?;
        command.args(["flow", "worker", "--kept"]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::inherit());
        // In a group of its own: a signal from the terminal of this process does not reach it.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let pipe = child.stdin.take().expect("its standard input is a pipe");
        Ok(WorkerChild { pid: pid_of(&child), pipe: pipe.into() })
    }
}

impl Drop for WorkerKeeper {
    /// Tells the worker to end, which puts its sessions down where another can take them up.
    fn drop(&mut self) {
        let Some(WorkerChild { pid, pipe: _pipe }) = self.worker.take() else { return };
        // It may have ended by itself.
        let _ = kill_process(pid, Signal::TERM);
        let told = Instant::now();
        while told.elapsed() < END_WAIT {
            if has_ended(pid) {
                return;
            }
            std::thread::sleep(LOOK);
        }
        // What it drove is as after a crash: others go on with it.
        let _ = kill_process(pid, Signal::KILL);
        let _ = waitpid(Some(pid), WaitOptions::empty());
    }
}
