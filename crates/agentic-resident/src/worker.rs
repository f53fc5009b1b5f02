//! Driving durable runs: a worker in a process of its own, which is started again when it ends.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long is waited at first before a worker that ended is started again, and at most.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));
/// How long a worker that was told to end may take.
const END_WAIT: Duration = Duration::from_secs(5);
/// How often is looked whether it has.
const LOOK: Duration = Duration::from_millis(20);

/// Who keeps a worker running.
#[derive(Debug)]
pub(crate) struct WorkerKeeper {
    folder: PathBuf,
    worker: Option<Child>,
    pause: Duration,
    again_at: Instant,
}

impl WorkerKeeper {
    /// Makes one for a repository; it has started none yet.
    pub fn new(folder: PathBuf) -> WorkerKeeper {
        WorkerKeeper { folder, worker: None, pause: PAUSES.0, again_at: Instant::now() }
    }

    /// Starts a worker where none runs and it is time; tells whether one runs.
    pub fn keep(&mut self) -> bool {
        if let Some(worker) = &mut self.worker
            && let Ok(Some(status)) = worker.try_wait()
        {
            tracing::warn!(%status, "the worker ended, and is started again");
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

    fn start(&self) -> std::io::Result<Child> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("-C").arg(&self.folder).args(["flow", "worker", "--kept"]);
        // It ends when this pipe does, which the system closes however this process dies.
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::inherit());
        // In a group of its own: a signal from the terminal of this process does not reach it.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn()
    }
}

impl Drop for WorkerKeeper {
    /// Tells the worker to end, which puts its sessions down where another can take them up.
    fn drop(&mut self) {
        let Some(worker) = &mut self.worker else { return };
        if let Some(pid) = i32::try_from(worker.id()).ok().and_then(rustix::process::Pid::from_raw)
        {
            // It may have ended by itself.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        let told = Instant::now();
        while told.elapsed() < END_WAIT {
            if !matches!(worker.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(LOOK);
        }
        // What it drove is as after a crash: others go on with it.
        let _ = worker.kill();
        let _ = worker.wait();
    }
}
