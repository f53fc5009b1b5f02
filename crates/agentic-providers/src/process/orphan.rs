//! Programs whose starter died.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::file::{self, ProcessNote, ProcessNoteState};
use super::{REQUEST_VARIABLE, system};
use crate::host::CancelFlag;

/// How often an orphan is looked at.
const POLL: Duration = Duration::from_millis(10);
/// How long a group that was stopped by force takes to be gone.
const KILLED_WITHIN: Duration = Duration::from_millis(500);

/// A program that an earlier process started and that was not over when that process died.
#[derive(Debug)]
pub struct OrphanProgram {
    /// The request for which it runs.
    pub request: String,
    path: PathBuf,
    file: File,
    /// What is known of it; nothing if it was never given the word to begin.
    entry: Option<ProcessNote>,
}

/// Whether a group may be signalled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalReach {
    /// It is ours.
    Ours,
    /// Nobody here can tell.
    Unknown,
}

/// A file that was made for a program which never began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnbegunProgram {
    /// The request for which the program was to run.
    pub request: String,
    /// The file.
    pub path: PathBuf,
}

/// What earlier drivers left.
#[derive(Debug, Default)]
pub struct ProcessRemains {
    /// Programs that may live still.
    pub orphans: Vec<OrphanProgram>,
    /// Programs that never began.
    pub unbegun: Vec<UnbegunProgram>,
}

/// Lists what is left in a folder. What is known to be over is removed.
///
/// # Errors
/// Fails when the folder cannot be read.
pub fn remains(folder: &Path) -> std::io::Result<ProcessRemains> {
    remains_where(folder, &|_| true)
}

/// Lists what is left in a folder of the programs of one request, whoever else is at work there.
///
/// # Errors
/// Fails when the folder cannot be read.
pub fn remains_of(folder: &Path, request: &str) -> std::io::Result<ProcessRemains> {
    remains_where(folder, &|its| its == request)
}

fn remains_where(
    folder: &Path,
    is_meant: &dyn Fn(&str) -> bool,
) -> std::io::Result<ProcessRemains> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(ProcessRemains::default()),
        entries => entries?,
    };
    let mut found = ProcessRemains::default();
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some((request, _)) = name.split_once('.').filter(|(its, _)| is_meant(its)) else {
            continue;
        };
        let mut file = match File::open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            file => file?,
        };
        let told = file::read(&mut file)?;
        let entry = match &told {
            ProcessNoteState::Begun(entry) => Some(entry.clone()),
            ProcessNoteState::Unfinished | ProcessNoteState::Reserved => None,
        };
        let orphan = OrphanProgram { request: request.to_owned(), path, file, entry };
        if orphan.lives() {
            found.orphans.push(orphan);
        } else if told == ProcessNoteState::Reserved {
            found.unbegun.push(UnbegunProgram { request: orphan.request, path: orphan.path });
        } else {
            orphan.forget();
        }
    }
    Ok(found)
}

impl UnbegunProgram {
    /// Removes the file: nobody will start the program.
    pub fn forget(&self) {
        // One that cannot be removed is found again.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl OrphanProgram {
    /// Says whether anything of the program lives: it holds the lock, or, where that can be seen, is
    /// in the group all the same.
    pub fn lives(&self) -> bool {
        if let Err(TryLockError::WouldBlock) = self.file.try_lock_shared() {
            return true;
        }
        // Given back at once: the lock tells nothing of us.
        let _ = self.file.unlock();
        match &self.entry {
            Some(entry) => is_here(entry) && !self.own_members(entry).is_empty(),
            // Its starter ended without the word.
            None => false,
        }
    }

    /// Says whether its group may be signalled.
    pub fn reach(&self) -> SignalReach {
        match &self.entry {
            Some(entry) if is_here(entry) && !self.own_members(entry).is_empty() => {
                SignalReach::Ours
            }
            Some(_) | None => SignalReach::Unknown,
        }
    }

    /// Returns what is left of its time; nothing if its clock is not ours.
    pub fn left(&self) -> Duration {
        let Some(entry) = self.entry.as_ref().filter(|entry| is_here(entry)) else {
            return Duration::ZERO;
        };
        let end_ms = entry.began_ms.saturating_add(entry.limit_ms);
        Duration::from_millis(end_ms.saturating_sub(system::since_boot_ms()))
    }

    /// Waits for its end, at most until its time is over or `cancel` is set. Says whether it is over.
    pub fn wait(&self, cancel: &CancelFlag) -> bool {
        // A starter that has not begun ends as soon as it notices.
        let left = if self.entry.is_none() { KILLED_WITHIN } else { self.left() };
        self.wait_for(left, cancel)
    }

    /// Ends it, if it is ours: asks first, and stops it by force after the grace. Says whether it is
    /// over.
    pub fn end(&self, grace: Duration) -> bool {
        let never = CancelFlag::new();
        self.signal(Signal::TERM);
        if self.wait_for(
            if self.reach() == SignalReach::Ours { grace } else { Duration::ZERO },
            &never,
        ) {
            return true;
        }
        self.signal(Signal::KILL);
        self.wait_for(KILLED_WITHIN, &never)
    }

    /// Removes the file of a program that is over.
    pub fn forget(&self) {
        // One that cannot be removed is found over again.
        let _ = std::fs::remove_file(&self.path);
    }

    fn wait_for(&self, at_most: Duration, cancel: &CancelFlag) -> bool {
        let deadline = Instant::now().checked_add(at_most);
        loop {
            if !self.lives() {
                self.forget();
                return true;
            }
            let is_over = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if is_over || cancel.wait(POLL) {
                return false;
            }
        }
    }

    fn signal(&self, what: Signal) {
        let group = self.entry.as_ref().and_then(|entry| Pid::from_raw(entry.group?));
        if let Some(group) = group.filter(|_| self.reach() == SignalReach::Ours) {
            // A group that is gone is what is wanted.
            let _ = kill_process_group(group, what);
        }
    }

    /// Lists the processes of the group, if it is ours: its leader is the process that was started,
    /// or one of the members was begun for the request. A number alone says nothing: it may have
    /// become another's.
    fn own_members(&self, entry: &ProcessNote) -> Vec<i32> {
        let Some(group) = entry.group.and_then(Pid::from_raw) else { return Vec::new() };
        let members = system::members(group);
        let leader = group.as_raw_nonzero().get();
        let is_ours = |pid: &i32| {
            let is_leader = *pid == leader
                && entry.start.is_some()
                && system::look(*pid).map(|seen| seen.start) == entry.start;
            is_leader || system::has_variable(*pid, REQUEST_VARIABLE, &self.request)
        };
        if members.iter().any(is_ours) { members } else { Vec::new() }
    }
}

/// Says whether what an entry says means something here: the same boot, the same namespace.
fn is_here(entry: &ProcessNote) -> bool {
    entry.boot.is_some()
        && entry.namespace.is_some()
        && entry.boot == system::boot()
        && entry.namespace == system::namespace()
}
