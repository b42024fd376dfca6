//! How fast a service is asked: one rate limit and one concurrency limit for all threads.

use super::super::sync::lock;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The longest gap that throttling leads to: seconds between two calls.
const LONGEST_EXTRA: f64 = 5.0;

/// The first gap, in seconds, after a service without a known rate has throttled.
const FIRST_GAP: f64 = 0.01;

/// The factor by which an answer shrinks the extra gap, and the gap that is too short to keep.
const RECOVERY: f64 = 0.8;
const NEGLIGIBLE: f64 = 0.001;

/// A leaky bucket without a burst: calls start at least a gap apart. Throttling doubles the gap,
/// answers shrink it again (multiplicative decrease and increase of the rate).
pub(super) struct RateLimit(Mutex<Slots>);

struct Slots {
    /// When the next call may start.
    next: Instant,
    /// Seconds between two calls at the configured rate.
    gap: f64,
    /// Seconds on top of it, since the service throttled.
    extra: f64,
    /// When the extra gap was last raised.
    slowed: Instant,
}

impl RateLimit {
    /// At most so many calls per second; `None` for as fast as the service allows.
    pub(super) fn new(rate: Option<f64>) -> Self {
        let now = Instant::now();
        let gap = rate.map_or(0.0, |rate| 1.0 / rate);
        Self(Mutex::new(Slots { next: now, gap, extra: 0.0, slowed: now }))
    }

    /// Reserves the next start of a call and returns how long it is until then. Unused slots are
    /// not saved up.
    pub(super) fn reserve(&self, now: Instant) -> Duration {
        let mut slots = lock(&self.0);
        let at = slots.next.max(now);
        slots.next = at + Duration::from_secs_f64(slots.gap + slots.extra);
        at - now
    }

    /// Halves the rate. Calls that were already sent when it was last halved do not halve it again:
    /// they would all report the same overload.
    pub(super) fn throttled(&self, sent: Instant, now: Instant) {
        let mut slots = lock(&self.0);
        if sent >= slots.slowed {
            let gap = (slots.gap + slots.extra).max(FIRST_GAP);
            slots.extra = (slots.extra + gap).min(LONGEST_EXTRA);
            slots.slowed = now;
        }
    }

    /// Raises the rate a little, up to the configured one.
    pub(super) fn answered(&self) {
        let mut slots = lock(&self.0);
        slots.extra *= RECOVERY;
        if slots.extra < NEGLIGIBLE {
            slots.extra = 0.0;
        }
    }
}

/// A counting semaphore.
pub(super) struct ConcurrencyLimit {
    free: Mutex<usize>,
    released: Condvar,
}

impl ConcurrencyLimit {
    pub(super) fn new(permits: usize) -> Self {
        Self { free: Mutex::new(permits), released: Condvar::new() }
    }

    /// Waits for a permit, which is returned when it is dropped.
    pub(super) fn acquire(&self) -> Permit<'_> {
        let free = lock(&self.free);
        let free = self.released.wait_while(free, |free| *free == 0);
        *free.unwrap_or_else(PoisonError::into_inner) -= 1;
        Permit(self)
    }
}

/// The right to have one call in flight.
pub(super) struct Permit<'a>(&'a ConcurrencyLimit);

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *lock(&self.0.free) += 1;
        self.0.released.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn milliseconds(time: Duration) -> u128 {
        (time + Duration::from_micros(10)).as_millis()
    }

    /// The waits of so many reservations at one moment, in milliseconds.
    fn waits(limit: &RateLimit, count: usize, now: Instant) -> Vec<u128> {
        (0..count).map(|_| milliseconds(limit.reserve(now))).collect()
    }

    #[test]
    fn calls_are_a_gap_apart_and_unused_slots_are_lost() {
        let limit = RateLimit::new(Some(20.0));
        let now = Instant::now();
        assert_eq!(waits(&limit, 4, now), [0, 50, 100, 150]);
        assert_eq!(waits(&limit, 3, now + Duration::from_secs(9)), [0, 50, 100]);
        assert_eq!(waits(&RateLimit::new(None), 4, Instant::now()), [0, 0, 0, 0]);
    }

    #[test]
    fn throttling_halves_the_rate_once_and_answers_bring_it_back() {
        let limit = RateLimit::new(Some(10.0));
        let now = Instant::now();
        // Four calls were in flight together: one decision.
        for _ in 0..4 {
            limit.throttled(now, now + Duration::from_millis(5));
        }
        assert_eq!(waits(&limit, 2, now + Duration::from_secs(10)), [0, 200]);
        limit.throttled(now + Duration::from_secs(11), now + Duration::from_secs(12));
        assert_eq!(waits(&limit, 2, now + Duration::from_secs(20)), [0, 400]);
        for _ in 0..60 {
            limit.answered();
        }
        assert_eq!(waits(&limit, 2, now + Duration::from_secs(30)), [0, 100]);
        let unlimited = RateLimit::new(None);
        unlimited.throttled(Instant::now(), Instant::now());
        assert_eq!(waits(&unlimited, 2, now + Duration::from_secs(40)), [0, 10]);
    }

    #[test]
    fn no_more_than_the_permits_are_out_at_once() {
        let limit = ConcurrencyLimit::new(3);
        let inside = AtomicUsize::new(0);
        let largest = AtomicUsize::new(0);
        // Threads go on in threes, so that three permits are out at once on any machine.
        let together = Barrier::new(3);
        std::thread::scope(|scope| {
            for _ in 0..12 {
                scope.spawn(|| {
                    let _permit = limit.acquire();
                    let count = inside.fetch_add(1, Ordering::SeqCst) + 1;
                    largest.fetch_max(count, Ordering::SeqCst);
                    together.wait();
                    inside.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert_eq!(largest.into_inner(), 3);
    }
}
