//! What threads that share a handle have in common.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a value that is whole at every moment: a thread that panicked has left nothing half-done.
pub(crate) fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
