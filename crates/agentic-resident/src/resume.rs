//! Going on with sessions that were answered: in processes of their own, a few at a time.
//!
//! A session runs programs of the user. Where this process dies, theirs goes on.

use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agentic_providers::process::own_command;
use rustix::process::{Pid, WaitOptions, waitpid};

use crate::os::pid_of;
use crate::replacement::ResumesNote;

/// How many processes there may be at a time.
const PROCESSES_MAX: usize = 8;

/// Who starts the processes.
#[derive(Debug, Clone)]
pub struct ResumeDesk {
    folder: PathBuf,
    state: Arc<Mutex<ResumeState>>,
}

#[derive(Debug, Default)]
pub(crate) struct ResumeState {
    running: BTreeSet<i32>,
    waiting: VecDeque<String>,
}

impl ResumeDesk {
    /// Makes one for a repository.
    pub fn new(folder: PathBuf) -> ResumeDesk {
        ResumeDesk { folder, state: Arc::default() }
    }

    /// Goes on with what the program before this one went on with.
    pub(crate) fn inherit(&self, note: ResumesNote) {
        let mut state = self.state();
        state.waiting.extend(note.waiting);
        for pid in note.running.into_iter().filter_map(Pid::from_raw) {
            self.look_after(&mut state, pid);
        }
        self.begin(&mut state);
    }

    /// Goes on with a session, as soon as fewer than eight others are gone on with.
    pub fn resume(&self, session: &str) {
        let mut state = self.state();
        if state.waiting.iter().any(|waiting| waiting == session) {
            return;
        }
        state.waiting.push_back(session.to_owned());
        self.begin(&mut state);
    }

    /// Begins with those that wait, as far as there is room.
    fn begin(&self, state: &mut ResumeState) {
        while state.running.len() < PROCESSES_MAX {
            let Some(session) = state.waiting.pop_front() else { return };
            // Under the lock: a process that has begun is known to whoever takes the place of this program.
            match self.start(&session) {
                Ok(pid) => self.look_after(state, pid),
                // Whatever command looks next goes on with it.
                Err(error) => tracing::warn!(%error, session, "a session was not gone on with"),
            }
        }
    }

    fn start(&self, session: &str) -> std::io::Result<Pid> {
        let mut command = own_command()?;
        command.arg("-C").arg(&self.folder).args(["session", "resume", session]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // In a group of its own: a signal from the terminal of this process does not reach it.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        Ok(pid_of(&command.spawn()?))
    }

    /// Waits for the end of a process, by a thread.
    fn look_after(&self, state: &mut ResumeState, pid: Pid) {
        let number = pid.as_raw_nonzero().get();
        let desk = self.clone();
        let thread = std::thread::Builder::new().name("agentic-resume".to_owned());
        let begun = thread.spawn(move || {
            let status = waitpid(Some(pid), WaitOptions::empty());
            tracing::debug!(number, ?status, "went on with a session");
            let mut state = desk.state();
            state.running.remove(&number);
            desk.begin(&mut state);
        });
        match begun {
            // It waits for the lock that the caller has.
            Ok(_) => drop(state.running.insert(number)),
            Err(error) => tracing::warn!(%error, "no thread to look after a session"),
        }
    }

    /// Locks the processes: until this is dropped, none begins and none is forgotten.
    ///
    /// No code that can panic runs under the lock, so a poisoned one still holds a whole state.
    pub(crate) fn state(&self) -> MutexGuard<'_, ResumeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ResumeState {
    /// Writes down what whoever takes the place of this program goes on with.
    pub fn note(&self) -> ResumesNote {
        ResumesNote {
            running: self.running.iter().copied().collect(),
            waiting: self.waiting.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use rustix::process::test_kill_process;

    use super::*;

    #[test]
    fn processes_of_the_program_before_have_their_places_until_they_end() {
        let sleep = || {
            let mut command = Command::new("sh");
            command.args(["-c", "read line"]).stdin(Stdio::piped());
            command.spawn().expect("there is a shell")
        };
        let children: Vec<std::process::Child> = (0..PROCESSES_MAX).map(|_| sleep()).collect();
        let running: Vec<i32> =
            children.iter().map(|child| pid_of(child).as_raw_nonzero().get()).collect();
        let desk = ResumeDesk::new(PathBuf::from("/"));
        desk.inherit(ResumesNote { running: running.clone(), waiting: VecDeque::new() });
        desk.state().waiting.push_back("f00d".to_owned());
        desk.begin(&mut desk.state());
        assert_eq!(desk.state().note().running.len(), PROCESSES_MAX);
        assert_eq!(desk.state().note().waiting, ["f00d"], "there is no room");
        desk.state().waiting.clear();
        // Their input ends, and so do they.
        drop(children);
        let begun = Instant::now();
        while !desk.state().running.is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(60), "nobody waits for them");
            std::thread::sleep(Duration::from_millis(5));
        }
        let is_there =
            |pid: &i32| Pid::from_raw(*pid).is_some_and(|pid| test_kill_process(pid).is_ok());
        assert!(!running.iter().any(is_there), "none is a zombie");
    }
}
