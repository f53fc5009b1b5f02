//! Going on with sessions that were answered: in processes of their own, a few at a time.
//!
//! A session runs programs of the user. Where this process dies, theirs goes on.

use std::collections::{BTreeSet, VecDeque};
use std::fs::File;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agentic_providers::process::file_in_memory;
use rustix::process::{Pid, WaitOptions, WaitStatus, waitpid};

use crate::child::ChildPlace;
use crate::os::pid_of;
use crate::replacement::ResumesNote;

/// How many processes there may be at a time.
const PROCESSES_MAX: usize = 8;

/// Who starts the processes.
#[derive(Debug, Clone)]
pub struct ResumeDesk {
    place: ChildPlace,
    state: Arc<Mutex<ResumeState>>,
}

#[derive(Debug, Default)]
pub(crate) struct ResumeState {
    running: BTreeSet<i32>,
    waiting: VecDeque<String>,
}

impl ResumeDesk {
    /// Makes one whose processes begin somewhere.
    pub fn new(place: ChildPlace) -> ResumeDesk {
        ResumeDesk { place, state: Arc::default() }
    }

    /// Goes on with what the program before this one went on with.
    pub(crate) fn inherit(&self, note: ResumesNote) {
        let mut state = self.state();
        state.waiting.extend(note.waiting);
        for pid in note.running.into_iter().filter_map(Pid::from_raw) {
            self.look_after(&mut state, pid, None);
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
                Ok((pid, begun)) => self.look_after(state, pid, begun),
                // Whatever command looks next goes on with it.
                Err(error) => tracing::warn!(%error, session, "a session was not gone on with"),
            }
        }
    }

    fn start(&self, session: &str) -> std::io::Result<(Pid, Option<BegunResume>)> {
        let mut command = self.place.command()?;
        command.args(["session", "resume", session]);
        let said = file_in_memory().and_then(|said| Ok((said.try_clone()?, said))).ok();
        let (stdout, begun) = match said {
            Some((stdout, said)) => {
                let session = session.to_owned();
                (Stdio::from(stdout), Some(BegunResume { session, said }))
            }
            None => (Stdio::null(), None),
        };
        command.stdin(Stdio::null()).stdout(stdout).stderr(Stdio::null());
        // In a group of its own: a signal from the terminal of this process does not reach it.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        Ok((pid_of(&command.spawn()?), begun))
    }

    /// Waits for the end of a process, by a thread.
    fn look_after(&self, state: &mut ResumeState, pid: Pid, resumed: Option<BegunResume>) {
        let number = pid.as_raw_nonzero().get();
        let desk = self.clone();
        let thread = std::thread::Builder::new().name("agentic-resume".to_owned());
        let begun = thread.spawn(move || {
            let status = waitpid(Some(pid), WaitOptions::empty());
            let status = status.ok().flatten().map(|(_, status)| status);
            match resumed.filter(|resumed| resumed.has_failed(status)) {
                Some(BegunResume { session, .. }) => {
                    tracing::warn!(number, ?status, session, "a session was not gone on with");
                }
                None => tracing::debug!(number, ?status, "went on with a session"),
            }
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

/// A process that was begun to go on with a session.
#[derive(Debug)]
struct BegunResume {
    session: String,
    /// What it says: how the session stands, wherever the process could go on with it.
    said: File,
}

impl BegunResume {
    /// Tells whether the process ended without having gone on with the session, though that may be to
    /// record that its program failed.
    fn has_failed(&self, status: Option<WaitStatus>) -> bool {
        let is_well = status.is_none_or(|status| status.exit_status() == Some(0));
        !is_well && self.said.metadata().is_ok_and(|said| said.len() == 0)
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

    use agentic_git::Repository;
    use agentic_testkit::{Sandbox, Setup};

    use super::*;

    #[test]
    fn who_says_nothing_and_fails_has_not_gone_on() {
        let said = || file_in_memory().expect("memory");
        let of = |said: File, code: i32| {
            let mut shell = Command::new("sh");
            let mut child = shell.args(["-c", &format!("exit {code}")]).spawn().expect("a shell");
            let status = waitpid(Some(pid_of(&child)), WaitOptions::empty()).expect("a child");
            child.wait().expect_err("it was waited for");
            let session = "f00d".to_owned();
            BegunResume { session, said }.has_failed(status.map(|(_, status)| status))
        };
        assert!(of(said(), 1) && !of(said(), 0));
        let mut spoken = said();
        std::io::Write::write_all(&mut spoken, b"f00d failed\n").expect("writable");
        assert!(!of(spoken, 1), "its program failed");
    }

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
        let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
        let repository = Repository::open(sandbox.start()).expect("a repository");
        let desk = ResumeDesk::new(ChildPlace::new(sandbox.start(), &repository));
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
