//! Going on with sessions that were answered: in processes of their own, a few at a time.
//!
//! A session runs programs of the user. Where this process dies, theirs goes on.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many processes there may be at a time.
const PROCESSES_MAX: usize = 8;

/// Who starts the processes.
#[derive(Debug, Clone)]
pub(crate) struct ResumeDesk {
    folder: PathBuf,
    state: Arc<Mutex<ResumeState>>,
}

#[derive(Debug, Default)]
struct ResumeState {
    n_running: usize,
    waiting: VecDeque<String>,
}

impl ResumeDesk {
    /// Makes one for a repository.
    pub fn new(folder: PathBuf) -> ResumeDesk {
        ResumeDesk { folder, state: Arc::default() }
    }

    /// Goes on with a session, as soon as fewer than eight others are gone on with.
    pub fn resume(&self, session: &str) {
        {
            let mut state = self.state();
            if state.waiting.iter().any(|waiting| waiting == session) {
                return;
            }
            state.waiting.push_back(session.to_owned());
        }
        self.begin();
    }

    /// Begins with the next that waits, if there is room.
    fn begin(&self) {
        let session = {
            let mut state = self.state();
            if state.n_running == PROCESSES_MAX {
                return;
            }
            let Some(session) = state.waiting.pop_front() else { return };
            state.n_running += 1;
            session
        };
        let desk = self.clone();
        let thread = std::thread::Builder::new().name("agentic-resume".to_owned());
        let begun = thread.spawn(move || {
            if let Err(error) = desk.run(&session) {
                tracing::warn!(%error, session, "a session was not gone on with");
            }
            desk.state().n_running -= 1;
            desk.begin();
        });
        if let Err(error) = begun {
            // Whatever command looks next goes on with it.
            tracing::warn!(%error, "no thread to go on with a session");
            self.state().n_running -= 1;
        }
    }

    fn run(&self, session: &str) -> std::io::Result<()> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("-C").arg(&self.folder).args(["session", "resume", session]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // In a group of its own: a signal from the terminal of this process does not reach it.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let status = command.spawn()?.wait()?;
        tracing::debug!(session, %status, "went on with a session");
        Ok(())
    }

    /// No code that can panic runs under the lock, so a poisoned one still holds a whole state.
    fn state(&self) -> MutexGuard<'_, ResumeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
