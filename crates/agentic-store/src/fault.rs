//! Named points at which tests make the process crash, a step fail, or another program run.
//!
//! Without the feature `crash-points` all of this compiles to nothing. With it, `AGENTIC_CRASH_AT`,
//! `AGENTIC_FAIL_AT` and `AGENTIC_RUN_AT` hold `NAME` or `NAME:N` (the N-th time, from 1, or `*` for every time); the name
//! `*` counts every point, so that a test can walk through all steps of a verb without knowing
//! their names. What runs is the shell command in `AGENTIC_RUN`, such as a collection by git.
//!
//! Tests within one process, which run beside each other, ask for a failure of their own thread by
//! `failing_at`.

use std::path::Path;

use crate::Result;

/// Whether points do anything; where a point would cost something by itself, this is asked first.
pub const ARMED: bool = cfg!(feature = "crash-points");

/// Marks a step between two durable states.
///
/// # Errors
/// Fails when a test asked for a failure here.
#[cfg(not(feature = "crash-points"))]
pub fn point(_name: &'static str) -> Result<()> {
    Ok(())
}

/// Marks a step between two durable states.
///
/// # Errors
/// Fails when a test asked for a failure here.
#[cfg(feature = "crash-points")]
pub fn point(name: &'static str) -> Result<()> {
    armed::crash_or_fail(name)?;
    if armed::reached("AGENTIC_RUN_AT", name) {
        armed::run();
    }
    Ok(())
}

/// Marks a step at which git's own lock on a ref is held. No other program is run there: git itself
/// refuses to work beside the lock.
///
/// # Errors
/// Fails when a test asked for a failure here.
#[cfg(not(feature = "crash-points"))]
pub fn point_under_lock(_name: &'static str) -> Result<()> {
    Ok(())
}

/// Marks a step at which git's own lock on a ref is held. No other program is run there: git itself
/// refuses to work beside the lock.
///
/// # Errors
/// Fails when a test asked for a failure here.
#[cfg(feature = "crash-points")]
pub fn point_under_lock(name: &'static str) -> Result<()> {
    armed::crash_or_fail(name)
}

/// Tells whether a test asked for a crash at a point that needs preparation.
#[cfg(feature = "crash-points")]
pub fn is_armed(name: &str) -> bool {
    let wanted = std::env::var("AGENTIC_CRASH_AT").unwrap_or_default();
    wanted.split(':').next() == Some(name)
}

/// Runs something while one step of this thread fails: the n-th visit, from 1, of a point, or of any if
/// that is `*`. Says besides whether the step was reached.
#[cfg(feature = "crash-points")]
pub fn failing_at<T>(point: &'static str, visit: u64, run: impl FnOnce() -> T) -> (T, bool) {
    armed::failing_at(point, visit, run)
}

/// Notes for a test that the disk has the first `length` bytes of a file, or the entries of a
/// folder: what a power cut cannot take. The notes go to the file that `AGENTIC_SYNC_LOG` names.
pub fn synced(path: &Path, length: u64) {
    #[cfg(feature = "crash-points")]
    armed::note_sync(path, length);
    #[cfg(not(feature = "crash-points"))]
    let _ = (path, length);
}

/// Notes for a test that a file or folder has another name now. The disk has that once the folder of
/// the new name is synced.
pub fn renamed(from: &Path, to: &Path) {
    #[cfg(feature = "crash-points")]
    armed::note_rename(from, to);
    #[cfg(not(feature = "crash-points"))]
    let _ = (from, to);
}

#[cfg(feature = "crash-points")]
mod armed {
    use std::cell::Cell;
    use std::collections::BTreeMap;
    use std::fs::OpenOptions;
    use std::io::Write as _;
    use std::path::Path;
    use std::process::{Command, Stdio};
    use std::sync::Mutex;

    use crate::{Error, Result};

    // process: the code under test knows nothing of the test that lets it fail; no release has this.
    thread_local! {
        /// The step of this thread that is to fail: its point, and how many visits are left to it.
        static STEP: Cell<Option<(&'static str, u64)>> = const { Cell::new(None) };
    }

    // process: visits are counted over all threads, so that a test can name any of them; no release has
    // this.
    static COUNTS: Mutex<BTreeMap<(String, String), u64>> = Mutex::new(BTreeMap::new());

    /// Counts a visit and tells whether it is the one that `variable` asks for.
    pub fn reached(variable: &str, name: &str) -> bool {
        let Ok(wanted) = std::env::var(variable) else { return false };
        let (point, number) = wanted.split_once(':').unwrap_or((&wanted, "1"));
        if point != "*" && point != name {
            return false;
        }
        let mut counts = COUNTS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let count = counts.entry((variable.to_owned(), point.to_owned())).or_default();
        *count += 1;
        number == "*" || number.parse() == Ok(*count)
    }

    /// Ends the process or fails, if a test asked for it.
    pub fn crash_or_fail(name: &'static str) -> Result<()> {
        if reached("AGENTIC_CRASH_AT", name) {
            std::process::abort();
        }
        if is_step_to_fail(name) {
            return Err(Error::Injected(crate::error::InjectedError { point: name }));
        }
        if reached("AGENTIC_FAIL_AT", name) {
            // Said aloud even where the step that fails is one that nobody has to hear of.
            eprintln!("made to fail at `{name}`");
            return Err(Error::Injected(crate::error::InjectedError { point: name }));
        }
        Ok(())
    }

    /// Runs something while one step of this thread fails, and says whether it was reached.
    pub fn failing_at<T>(point: &'static str, visit: u64, run: impl FnOnce() -> T) -> (T, bool) {
        STEP.set(Some((point, visit)));
        let done = run();
        let left = STEP.take();
        (done, left.is_some_and(|(_, n_left)| n_left == 0))
    }

    /// Counts a visit by this thread, and tells whether it is the one that is to fail.
    fn is_step_to_fail(name: &str) -> bool {
        let Some((point, n_left)) = STEP.get() else { return false };
        if n_left == 0 || (point != "*" && point != name) {
            return false;
        }
        STEP.set(Some((point, n_left - 1)));
        n_left == 1
    }

    /// Notes a sync.
    pub fn note_sync(path: &Path, length: u64) {
        note(&format!("{length} {}\n", path.display()));
    }

    /// Notes a new name.
    pub fn note_rename(from: &Path, to: &Path) {
        note(&format!("renamed {}\t{}\n", from.display(), to.display()));
    }

    /// Appends to the log of syncs.
    fn note(line: &str) {
        let Some(log) = std::env::var_os("AGENTIC_SYNC_LOG") else { return };
        let file = OpenOptions::new().create(true).append(true).open(log);
        let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
        written.expect("the log of syncs can be written");
    }

    /// Runs what the test wants to happen between two steps. It must succeed, or the test would
    /// prove nothing.
    pub fn run() {
        let Ok(command) = std::env::var("AGENTIC_RUN") else { return };
        let status = Command::new("sh").arg("-c").arg(&command).stdin(Stdio::null()).status();
        assert!(status.is_ok_and(|status| status.success()), "`{command}` failed at a step");
    }
}
