//! Adds up the time that a campaign spends, by who spends it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Adds up time while a campaign runs. Threads add to it concurrently; the order does not matter,
/// so relaxed atomics are enough.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    faults: AtomicU64,
    target: AtomicU64,
}

impl Clock {
    /// Counts the time in which an image was disturbed, and that in which a target was asked.
    pub(crate) fn add(&self, fault: Duration, target: Duration) {
        self.faults.fetch_add(nanos(fault), Ordering::Relaxed);
        self.target.fetch_add(nanos(target), Ordering::Relaxed);
    }

    /// Seconds spent in faults.
    pub(crate) fn fault_seconds(&self) -> f64 {
        self.faults.load(Ordering::Relaxed) as f64 / 1e9
    }

    /// Seconds spent in targets.
    pub(crate) fn target_seconds(&self) -> f64 {
        self.target.load(Ordering::Relaxed) as f64 / 1e9
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Whole microseconds, as records keep times.
pub(crate) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
