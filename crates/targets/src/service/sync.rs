//! Locking that survives a panic in another thread.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex whose data no panic can leave half changed, so that poisoning means nothing.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
