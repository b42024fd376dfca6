//! How fast a service is asked: one clock and one gate for all threads.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The most that throttling slows down: seconds between two calls.
const SLOWEST: f64 = 5.0;

/// Seconds between two calls that a service without a known limit is slowed down to at first.
const FIRST: f64 = 0.01;

/// What an answer leaves of a slowdown, and what is too little to keep.
const RECOVERY: f64 = 0.8;
const FORGOTTEN: f64 = 0.001;

/// Holds what a panic elsewhere cannot have left half done.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives out the moments at which calls may start.
pub(super) struct Pace(Mutex<Slots>);

struct Slots {
    /// When the next call may start.
    next: Instant,
    /// Seconds between two calls, by the rate.
    gap: f64,
    /// Seconds on top, since the service throttled.
    extra: f64,
    /// When it was last slowed down.
    slowed: Instant,
}

impl Pace {
    /// At most so many calls per second; nothing: as fast as the service allows.
    pub(super) fn new(rate: Option<f64>) -> Self {
        let now = Instant::now();
        let gap = rate.map_or(0.0, |rate| 1.0 / rate);
        Self(Mutex::new(Slots { next: now, gap, extra: 0.0, slowed: now }))
    }

    /// Takes the next moment and says how long it is until then.
    pub(super) fn slot(&self, now: Instant) -> Duration {
        let mut slots = lock(&self.0);
        let at = slots.next.max(now);
        slots.next = at + Duration::from_secs_f64(slots.gap + slots.extra);
        at - now
    }

    /// Half as fast from now on; calls that were under way when that was decided decide nothing.
    pub(super) fn throttled(&self, sent: Instant, now: Instant) {
        let mut slots = lock(&self.0);
        if sent >= slots.slowed {
            let gap = (slots.gap + slots.extra).max(FIRST);
            slots.extra = (slots.extra + gap).min(SLOWEST);
            slots.slowed = now;
        }
    }

    /// A little faster, up to the rate.
    pub(super) fn answered(&self) {
        let mut slots = lock(&self.0);
        slots.extra *= RECOVERY;
        if slots.extra < FORGOTTEN {
            slots.extra = 0.0;
        }
    }
}

/// Lets so many in at once.
pub(super) struct Gate {
    free: Mutex<usize>,
    left: Condvar,
}

impl Gate {
    pub(super) fn new(places: usize) -> Self {
        Self { free: Mutex::new(places), left: Condvar::new() }
    }

    /// Waits for a place, and holds it.
    pub(super) fn enter(&self) -> Inside<'_> {
        let free = lock(&self.free);
        let free = self.left.wait_while(free, |free| *free == 0);
        *free.unwrap_or_else(PoisonError::into_inner) -= 1;
        Inside(self)
    }
}

/// A place inside a gate.
pub(super) struct Inside<'a>(&'a Gate);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        *lock(&self.0.free) += 1;
        self.0.left.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn milliseconds(time: Duration) -> u128 {
        (time + Duration::from_micros(10)).as_millis()
    }

    #[test]
    fn moments_are_a_gap_apart_and_none_is_saved_up() {
        let pace = Pace::new(Some(20.0));
        let now = Instant::now();
        let waits: Vec<u128> = (0..4).map(|_| milliseconds(pace.slot(now))).collect();
        assert_eq!(waits, [0, 50, 100, 150]);
        let later = now + Duration::from_secs(9);
        let waits: Vec<u128> = (0..3).map(|_| milliseconds(pace.slot(later))).collect();
        assert_eq!(waits, [0, 50, 100]);
        let free = Pace::new(None);
        let now = Instant::now();
        assert_eq!((0..9).map(|_| free.slot(now)).sum::<Duration>(), Duration::ZERO);
    }

    #[test]
    fn throttling_halves_the_rate_once_and_answers_bring_it_back() {
        let pace = Pace::new(Some(10.0));
        let now = Instant::now();
        let gap = |pace: &Pace, at: Instant| {
            pace.slot(at);
            milliseconds(pace.slot(at))
        };
        // Four calls were under way together: one decision.
        for _ in 0..4 {
            pace.throttled(now, now + Duration::from_millis(5));
        }
        assert_eq!(gap(&pace, now + Duration::from_secs(10)), 200);
        pace.throttled(now + Duration::from_secs(11), now + Duration::from_secs(12));
        assert_eq!(gap(&pace, now + Duration::from_secs(20)), 400);
        for _ in 0..60 {
            pace.answered();
        }
        assert_eq!(gap(&pace, now + Duration::from_secs(30)), 100);
        let free = Pace::new(None);
        free.throttled(Instant::now(), Instant::now());
        assert_eq!(gap(&free, now + Duration::from_secs(40)), 10);
    }

    #[test]
    fn a_gate_lets_so_many_in_and_no_more() {
        let gate = Gate::new(3);
        let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..12 {
                scope.spawn(|| {
                    let _place = gate.enter();
                    most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(5));
                    inside.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert_eq!(most.into_inner(), 3);
    }
}
