//! A process that replaces itself: the same program begins anew in its place, by `exec`.
//!
//! A thread that loops for ever in a damaged database cannot be ended by the program that it belongs
//! to; with that program it ends. The number of the process, its lock, its sockets, its children and what
//! its page remembers go over ([`Inheritance`]). The rest is made anew, as at any start. Where no `exec`
//! is possible, the process stays as it was.

mod inheritance;

use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use agentic_providers::process::own_command;
use agentic_store::fault::point;
use tokio::sync::Notify;

pub(crate) use self::inheritance::{Estate, InheritedChildren, ResumesNote};
pub use self::inheritance::{Inheritance, PageEstate, PageInheritance, ProcessInheritance};

/// How long a process lives at least before it replaces itself again.
const REPLACEMENT_PAUSE: Duration = Duration::from_secs(600);
/// The argument by which the new program knows that it inherits.
const AGAIN: &str = "--again";

/// When this process replaces itself.
#[derive(Debug, Default)]
pub struct ReplacementDesk {
    /// When it did so, or tried, for the last time.
    last: Mutex<Option<Instant>>,
    wanted: Notify,
}

impl ReplacementDesk {
    /// Makes the desk of a process that has just replaced itself.
    pub(crate) fn of_second() -> ReplacementDesk {
        ReplacementDesk { last: Mutex::new(Some(Instant::now())), ..ReplacementDesk::default() }
    }

    /// Asks the process to replace itself. Refused, with `false`, within ten minutes of the last time.
    pub(crate) fn ask(&self) -> bool {
        // No code that can panic runs under the lock, so a poisoned one still holds an instant.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_some_and(|last| last.elapsed() < REPLACEMENT_PAUSE) {
            return false;
        }
        *last = Some(Instant::now());
        self.wanted.notify_one();
        true
    }

    /// Waits until the process is to replace itself.
    pub async fn asked(&self) {
        self.wanted.notified().await;
    }
}

/// Begins this program in place of itself, with the arguments that it has. Returns only where that fails,
/// and then with everything as it was.
pub(crate) fn exec(estate: &Estate<'_>) -> std::io::Error {
    let attempt = || -> std::io::Result<std::io::Error> {
        point("replacement").map_err(std::io::Error::other)?;
        let stdin = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
        // What waits in a socket stays open, though `exec` closes everything else.
        let heir = estate.send(&stdin)?;
        let mut command = own_command()?;
        command.args(std::env::args_os().skip(1).filter(|argument| argument != AGAIN)).arg(AGAIN);
        let error = command.stdin(Stdio::from(OwnedFd::from(heir))).exec();
        rustix::stdio::dup2_stdin(&stdin)?;
        Ok(error)
    };
    attempt().unwrap_or_else(|error| error)
}
