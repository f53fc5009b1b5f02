//! Which process is meant, and what can be seen of one that connects to us.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::system;

/// A process, told from every later one that has its number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// Its number.
    pub pid: i32,
    /// When it began, in ticks since the boot.
    pub start: u64,
    /// The boot.
    pub boot: String,
}

impl ProcessIdentity {
    /// Returns this process; nothing where the system does not tell.
    pub fn own() -> Option<ProcessIdentity> {
        ProcessIdentity::of(i32::try_from(std::process::id()).ok()?)
    }

    /// Returns the process that has a number now; nothing where there is none, or the system does not
    /// tell.
    pub fn of(pid: i32) -> Option<ProcessIdentity> {
        Some(ProcessIdentity { pid, start: system::look(pid)?.start, boot: system::boot()? })
    }

    /// Says whether it runs.
    pub fn is_alive(&self) -> bool {
        let seen = system::look(self.pid).filter(|seen| seen.runs && seen.start == self.start);
        seen.is_some() && system::boot().is_some_and(|boot| boot == self.boot)
    }

    /// Asks it to end, as SIGTERM does. Says whether it could be asked.
    pub fn ask_to_end(&self) -> bool {
        let Some(handle) = system::handle_of(self.pid) else { return false };
        // The handle is of whoever has the number now: only then is looked who that is.
        self.is_alive() && system::ask_to_end(&handle)
    }
}

/// Returns the value of a variable that a process was begun with; nothing if it has none, or if it
/// may not be looked at.
pub fn variable_of(pid: i32, name: &str) -> Option<String> {
    system::variable(pid, name)
}

/// Returns the number of the process that began another, or that took it over.
pub fn parent_of(pid: i32) -> Option<i32> {
    system::look(pid).map(|seen| seen.parent).filter(|parent| *parent > 0)
}

/// Returns the words that a process was begun with, its name first; none if it may not be looked at.
pub fn words_of(pid: i32) -> Vec<String> {
    system::words(pid)
}

/// Returns the folder that a process is in, if it may be looked at.
pub fn folder_of(pid: i32) -> Option<PathBuf> {
    system::folder(pid)
}
