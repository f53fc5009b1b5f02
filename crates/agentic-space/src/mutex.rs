//! Locks of values that threads share.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a value that is whole at every moment: a thread that panicked has left nothing half-done.
pub fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
