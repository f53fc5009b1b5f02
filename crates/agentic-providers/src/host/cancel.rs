//! Telling an executor, or a whole run, to stop.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::process::Charge;

/// How long whoever is told to stop may take to end by itself, where nothing says otherwise.
pub const GRACE_DEFAULT: Duration = Duration::from_secs(5);

/// A flag that is set once and that many may watch. Whoever works under it works in somebody's
/// name: programs are started in that name.
#[derive(Clone)]
pub struct CancelFlag {
    shared: Arc<CancelShared>,
    grace: Duration,
    charge: Arc<Charge>,
}

impl Default for CancelFlag {
    fn default() -> CancelFlag {
        CancelFlag::with_grace(GRACE_DEFAULT)
    }
}

#[derive(Default)]
struct CancelShared {
    state: Mutex<CancelState>,
    changed: Condvar,
}

#[derive(Default)]
struct CancelState {
    is_set: bool,
    watchers: Vec<Box<dyn FnOnce() + Send>>,
}

impl CancelFlag {
    /// Makes a flag that is not set.
    pub fn new() -> CancelFlag {
        CancelFlag::default()
    }

    /// Makes a flag that is not set; whoever it tells to stop may take so long.
    pub fn with_grace(grace: Duration) -> CancelFlag {
        CancelFlag { shared: Arc::default(), grace, charge: Arc::default() }
    }

    /// Makes the same flag for work that is done in a name.
    #[must_use]
    pub fn in_charge(&self, charge: Charge) -> CancelFlag {
        CancelFlag { charge: Arc::new(charge), ..self.clone() }
    }

    /// Returns in whose name work is done under this flag.
    pub fn charge(&self) -> &Charge {
        &self.charge
    }

    /// Returns how long whoever is told to stop may take to end by itself.
    pub fn grace(&self) -> Duration {
        self.grace
    }

    /// Sets the flag and wakes everyone who waits for it.
    pub fn set(&self) {
        let watchers = {
            let mut state = self.lock();
            state.is_set = true;
            std::mem::take(&mut state.watchers)
        };
        self.shared.changed.notify_all();
        for tell in watchers {
            tell();
        }
    }

    /// Says whether the flag is set.
    pub fn is_set(&self) -> bool {
        self.lock().is_set
    }

    /// Waits until the flag is set, at most so long, and says whether it is: what an executor uses
    /// in place of a sleep.
    pub fn wait(&self, at_most: Duration) -> bool {
        let deadline = Instant::now().checked_add(at_most);
        let mut state = self.lock();
        while !state.is_set {
            let Some(deadline) = deadline else {
                state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let woken = self.shared.changed.wait_timeout(state, left);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Calls `tell` when the flag is set; at once if it is.
    pub fn on_set(&self, tell: impl FnOnce() + Send + 'static) {
        let mut state = self.lock();
        if state.is_set {
            drop(state);
            tell();
        } else {
            state.watchers.push(Box::new(tell));
        }
    }

    /// No code that can panic runs under the lock, so a poisoned one still holds a whole state.
    fn lock(&self) -> MutexGuard<'_, CancelState> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for CancelFlag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CancelFlag").field("is_set", &self.is_set()).finish()
    }
}
