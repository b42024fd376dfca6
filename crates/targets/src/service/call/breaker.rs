//! A circuit breaker: a service that is down is not asked for every trial, with all retries.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Counts queries without a reply, and gives the service up after so many in a row. It stays given up:
/// whoever runs the campaign again asks again.
pub(super) struct Breaker {
    give_up_after: u32,
    in_a_row: AtomicU32,
    outage: OnceLock<String>,
}

impl Breaker {
    pub(super) fn new(give_up_after: u32) -> Self {
        Self { give_up_after, in_a_row: AtomicU32::new(0), outage: OnceLock::new() }
    }

    /// Why the service is not asked any more; `None` while it is.
    pub(super) fn outage(&self) -> Option<String> {
        self.outage.get().cloned()
    }

    /// A query had no reply, after all retries.
    pub(super) fn failed(&self, why: &str) {
        let failures = self.in_a_row.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        if failures >= self.give_up_after {
            // The last error is the one of the query that decided it.
            let _ = self.outage.set(why.to_owned());
        }
    }

    /// A query had a reply.
    pub(super) fn answered(&self) {
        self.in_a_row.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_in_a_row_open_the_breaker_and_a_reply_starts_the_count_anew() {
        let breaker = Breaker::new(3);
        for _ in 0..4 {
            breaker.failed("busy");
            breaker.failed("busy");
            breaker.answered();
        }
        assert_eq!(breaker.outage(), None);
        breaker.failed("busy");
        breaker.failed("busy");
        breaker.failed("down");
        assert_eq!(breaker.outage().as_deref(), Some("down"));
        // One answer that was still on its way does not bring it back.
        breaker.answered();
        assert_eq!(breaker.outage().as_deref(), Some("down"));
    }
}
