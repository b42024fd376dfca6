//! Timing on machines that are never quiet: the best of several, rounds interleaved.

use std::time::Instant;

/// Milliseconds of repeated calls.
#[derive(Debug, Clone, Default)]
pub struct Timings(Vec<f64>);

impl Timings {
    /// Times one more call.
    pub fn time<T>(&mut self, call: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = call();
        self.0.push(start.elapsed().as_secs_f64() * 1e3);
        result
    }

    /// The fastest call: the one that others disturbed least.
    pub fn best(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// The middle call.
    pub fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
    }
}
