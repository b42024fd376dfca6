//! Rate limits of requests.

use std::time::Instant;

/// A token bucket: requests pass at a steady rate, and a burst of them at once.
#[derive(Debug)]
pub(crate) struct Pace {
    per_second: f64,
    burst: f64,
    left: f64,
    at: Instant,
}

impl Pace {
    pub(crate) fn new(per_second: f64, burst: f64, at: Instant) -> Self {
        Self { per_second, burst, left: burst, at }
    }

    /// Whether one more request is let through now.
    pub(crate) fn admits(&mut self, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.left = (self.left + passed * self.per_second).min(self.burst);
        self.at = now;
        if self.left < 1.0 {
            return false;
        }
        self.left -= 1.0;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_burst_is_let_through_and_then_so_many_a_second() {
        let start = Instant::now();
        let mut pace = Pace::new(2.0, 3.0, start);
        let mut at = |seconds| pace.admits(start + Duration::from_secs_f64(seconds));
        assert_eq!([0.0, 0.0, 0.0, 0.0].map(&mut at), [true, true, true, false]);
        assert_eq!([0.4, 0.5, 0.6, 1.0].map(&mut at), [false, true, false, true]);
        assert_eq!([60.0, 60.0, 60.0, 60.0].map(&mut at), [true, true, true, false]);
    }
}
