//! Saying that somebody waits for a lock, and for whom.
//!
//! A lock is held for milliseconds. Who waits longer than a second waits for a process that was
//! stopped, for a disk that hangs, or for a filter of the user's, and wants to know.

use std::fmt;
use std::fs::File;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use tracing::Level;

use crate::layout::Stream;
use crate::os;

/// How long somebody waits in silence.
const SILENCE: Duration = Duration::from_secs(1);

/// A wait that takes long.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Wait {
    /// What the lock protects, as people call it.
    subject: String,
    /// The process that holds it, where the system tells.
    holder: Option<u32>,
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "waiting for {}", self.subject)?;
        match self.holder {
            Some(holder) => write!(f, ", which process {holder} is working on"),
            None => Ok(()),
        }
    }
}

/// Waits for a lock, and warns if it takes long.
pub(super) fn aloud<T>(
    subject: impl Fn() -> String + Sync,
    file: &File,
    wait: impl FnOnce() -> T,
) -> T {
    if !tracing::enabled!(Level::WARN) {
        return wait();
    }
    let (ended, hears) = channel::<()>();
    thread::scope(|scope| {
        let subject = &subject;
        let tell = move || {
            if hears.recv_timeout(SILENCE) == Err(RecvTimeoutError::Timeout) {
                tracing::warn!("{}", Wait { subject: subject(), holder: os::lock_holder(file) });
            }
        };
        // Without a thread nobody is told; the wait is the same.
        let _ = thread::Builder::new().spawn_scoped(scope, tell);
        let outcome = wait();
        drop(ended);
        outcome
    })
}

/// Names what a lock protects by the name of its file.
pub(super) fn subject(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match Stream::parse(&name) {
        Some(Stream::Agent(agent)) => return format!("agent `{agent}`"),
        Some(Stream::Branch(_)) => return "a branch".to_owned(),
        Some(Stream::Space) => return "the registry of kinds".to_owned(),
        None => {}
    }
    match name.strip_prefix("_session-") {
        Some(session) => format!("session `{session}`"),
        None => "the repository".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_called_by_what_it_protects() {
        for (name, expected) in [
            ("alice", "agent `alice`"),
            ("_space", "the registry of kinds"),
            ("_branch-0123456789abcdef", "a branch"),
            ("_session-01ab", "session `01ab`"),
            ("_boot.all", "the repository"),
        ] {
            assert_eq!(subject(&Path::new("/lock").join(name)), expected);
        }
    }
}
