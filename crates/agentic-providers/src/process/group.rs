//! The process groups that this process has started and that may still run.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// How often groups that were told to end are looked at.
const POLL: Duration = Duration::from_millis(5);

static GROUPS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());
/// Whether this process is being ended, and all groups with it.
static ENDING: AtomicBool = AtomicBool::new(false);
static GUARD: OnceLock<fn()> = OnceLock::new();
static GUARDED: Once = Once::new();

/// Has something called before the first program is started: what watches for signals.
pub fn before_first(guard: fn()) {
    // Said twice, the first counts.
    let _ = GUARD.set(guard);
}

/// Ends every group that this process has started: asks first, and stops by force whatever is left
/// after a grace. From now on no program begins, and nobody here hears how one ended, so that what
/// a signal did is not taken for what a program did: the caller ends this process.
pub fn end_all(grace: Duration) {
    ENDING.store(true, Ordering::SeqCst);
    let groups: Vec<Pid> = groups().iter().filter_map(|group| Pid::from_raw(*group)).collect();
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

/// Calls the guard, once; stands still for ever when this process is being ended.
pub(super) fn enter() {
    GUARDED.call_once(|| {
        if let Some(guard) = GUARD.get() {
            guard();
        }
    });
    stand_still_if_ending();
}

/// Notes a group. It must not have begun: if this process is being ended, this never returns.
pub(super) fn add(leader: Pid) {
    groups().insert(leader.as_raw_nonzero().get());
    stand_still_if_ending();
}

/// Forgets a group, before its leader's id can become another's.
pub(super) fn remove(leader: Pid) {
    groups().remove(&leader.as_raw_nonzero().get());
}

/// Never returns when this process is being ended.
pub(super) fn stand_still_if_ending() {
    while ENDING.load(Ordering::SeqCst) {
        std::thread::park();
    }
}

/// Says whether a child of ours has not ended yet. It stays a zombie, so its id stays its own.
fn runs(leader: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::Pid(leader), options), Ok(None))
}

/// No code that can panic runs under the lock, so a poisoned one still holds a whole set.
fn groups() -> MutexGuard<'static, BTreeSet<i32>> {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}
