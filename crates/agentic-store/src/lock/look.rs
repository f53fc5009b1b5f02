//! Looks at a lock without taking it: whoever only asks must not be taken for a holder, neither by
//! others who ask at the same time nor by who wants to hold it.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::Duration;

use super::{Lock, Patience};
use crate::{Error, Result};

/// How often a lock is tried that only looks were found to be in the way of.
const ROUNDS_MAX: usize = 1_000;
/// From which round on whoever looks is left some time: it may have been put off by the system.
const ROUNDS_AT_ONCE: usize = 100;
/// How much time that is.
const ROUND_PAUSE: Duration = Duration::from_micros(100);

impl Lock {
    /// Waits until nobody holds a lock, beside all others who wait like this: they go on together, where
    /// those who want to hold it go one by one. Tells whether it is free, or the time was over first.
    ///
    /// # Errors
    /// Fails when the lock file cannot be read.
    pub fn wait_until_free(path: &Path, patience: Patience) -> Result<bool> {
        match File::open(path) {
            Ok(file) => {
                let waited = patience.wait(
                    || is_held(&file).map(|is_held| !is_held),
                    || file.lock_shared().and_then(|()| file.unlock()),
                );
                waited.map_err(Error::io("lock", path))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
            Err(error) => Err(Error::io("open", path)(error)),
        }
    }

    /// Tells whether somebody holds a lock.
    ///
    /// # Errors
    /// Fails when the lock file cannot be read.
    pub fn is_taken(path: &Path) -> Result<bool> {
        match File::open(path) {
            Ok(file) => is_held(&file).map_err(Error::io("lock", path)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Error::io("open", path)(error)),
        }
    }
}

/// Takes a lock if nobody holds it. Who looks at it at this moment is nobody.
pub(super) fn try_hold(file: &File) -> std::io::Result<bool> {
    for round in 0..ROUNDS_MAX {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if is_held(file)? => return Ok(false),
            Err(TryLockError::WouldBlock) if round < ROUNDS_AT_ONCE => std::thread::yield_now(),
            Err(TryLockError::WouldBlock) => std::thread::sleep(ROUND_PAUSE),
        }
    }
    Ok(false)
}

/// Looks with a lock of the sort that many have at once, and that none has beside a holder.
fn is_held(file: &File) -> std::io::Result<bool> {
    match file.try_lock_shared() {
        Ok(()) => file.unlock().map(|()| false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn whoever_looks_is_no_holder() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("alice");
        assert!(!Lock::is_taken(&path).expect("nothing is there"));
        assert!(!path.exists(), "to look makes nothing");
        drop(Lock::take(&path, dir.path()).expect("free"));
        // A look that takes long.
        let look = File::open(&path).expect("it is there");
        look.lock_shared().expect("nobody holds it");
        assert!(!Lock::is_taken(&path).expect("readable"));
        look.unlock().expect("it looks");
        let held = Lock::take(&path, dir.path()).expect("free");
        assert!(Lock::is_taken(&path).expect("readable"));
        drop(held);
        assert!(!Lock::is_taken(&path).expect("readable"));
    }

    #[test]
    fn whoever_waits_goes_on_once_the_holder_has_gone() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("alice");
        assert!(Lock::wait_until_free(&path, Patience::Endless).expect("nothing is there"));
        let held = Lock::take(&path, dir.path()).expect("free");
        let is_free = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let wait = || {
                assert!(Lock::wait_until_free(&path, Patience::Endless).expect("readable"));
                assert!(is_free.load(Ordering::SeqCst), "it was held");
            };
            for _ in 0..4 {
                scope.spawn(wait);
            }
            std::thread::yield_now();
            let soon = Patience::of(Duration::from_millis(2));
            assert!(!Lock::wait_until_free(&path, soon).expect("readable"), "it is held");
            is_free.store(true, Ordering::SeqCst);
            drop(held);
        });
        assert!(!Lock::is_taken(&path).expect("readable"), "nobody who waited holds it");
    }

    #[test]
    fn looks_of_others_keep_nobody_from_a_lock() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("alice");
        drop(Lock::take(&path, dir.path()).expect("free"));
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        Lock::is_taken(&path).expect("readable");
                    }
                });
            }
            let n_refused = (0..500)
                .filter(|_| Lock::try_take(&path, dir.path()).expect("readable").is_none())
                .count();
            is_over.store(true, Ordering::Relaxed);
            assert_eq!(n_refused, 0);
        });
    }

    #[test]
    fn nobody_lines_up_behind_a_look() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("alice");
        drop(Lock::take(&path, dir.path()).expect("free"));
        std::thread::scope(|scope| {
            let looks = scope.spawn(|| {
                (0..20_000).for_each(|_| _ = Lock::is_taken(&path).expect("readable"));
            });
            while !looks.is_finished() {
                drop(Lock::take(&path, dir.path()).expect("free"));
            }
        });
        assert!(!super::super::turnstile(&path).exists(), "a place to wait was made");
    }
}
