//! The process groups that this process has started and that may still run.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// How often groups that were told to end are looked at.
const POLL: Duration = Duration::from_millis(5);

/// The groups of this process.
#[derive(Debug)]
pub(super) struct Groups {
    leaders: Mutex<BTreeSet<i32>>,
    /// Whether this process is being ended, and all groups with it.
    is_ending: AtomicBool,
}

impl Groups {
    /// Begins with none.
    pub(super) const fn none() -> Groups {
        Groups { leaders: Mutex::new(BTreeSet::new()), is_ending: AtomicBool::new(false) }
    }

    /// Ends every group: asks first, and stops by force whatever is left after a grace. From now on
    /// no program begins, and nobody here hears how one ended, so that what a signal did is not taken
    /// for what a program did: the caller ends this process.
    pub(super) fn end_all(&self, grace: Duration) {
        self.is_ending.store(true, Ordering::SeqCst);
        let leaders = self.leaders();
        let groups: Vec<Pid> = leaders.iter().filter_map(|group| Pid::from_raw(*group)).collect();
        drop(leaders);
        for group in &groups {
            // A group that is gone is what is wanted.
            let _ = kill_process_group(*group, Signal::TERM);
        }
        let deadline = Instant::now() + grace;
        while groups.iter().any(|leader| runs(*leader)) && Instant::now() < deadline {
            std::thread::sleep(POLL);
        }
        for group in &groups {
            let _ = kill_process_group(*group, Signal::KILL);
        }
    }

    /// Notes a group. It must not have begun: if this process is being ended, this never returns.
    pub(super) fn add(&self, leader: Pid) {
        self.leaders().insert(leader.as_raw_nonzero().get());
        self.stand_still_if_ending();
    }

    /// Forgets a group, before its leader's id can become another's.
    pub(super) fn remove(&self, leader: Pid) {
        self.leaders().remove(&leader.as_raw_nonzero().get());
    }

    /// Never returns when this process is being ended.
    pub(super) fn stand_still_if_ending(&self) {
        while self.is_ending.load(Ordering::SeqCst) {
            std::thread::park();
        }
    }

    /// No code that can panic runs under the lock, so a poisoned one still holds a whole set.
    fn leaders(&self) -> MutexGuard<'_, BTreeSet<i32>> {
        self.leaders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says whether a child of ours has not ended yet. It stays a zombie, so its id stays its own.
fn runs(leader: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::Pid(leader), options), Ok(None))
}
