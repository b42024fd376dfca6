use crate::bootstrap::{Bootstrap, quantile};
use crate::error::StatsError;
use crate::estimate::Level;

/// How far a threshold lies from round to round of a bootstrap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end of the percentile interval.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// The share of rounds without a drop; they count as 1.
    pub without_drop: f64,
    /// How many rounds there were.
    pub rounds: usize,
}

impl Interval {
    /// From the drop of each round, in any order.
    ///
    /// # Errors
    /// [`StatsError::TooFewResamples`] when not even one round is expected in each tail.
    pub fn new(drops: &[Option<f64>], level: Level) -> Result<Self, StatsError> {
        let rounds = drops.len();
        Bootstrap::new(rounds, level)?;
        let mut sorted: Vec<f64> = drops.iter().map(|drop| drop.unwrap_or(1.0)).collect();
        sorted.sort_by(f64::total_cmp);
        let tail = level.alpha() / 2.0;
        let without = drops.iter().filter(|drop| drop.is_none()).count();
        Ok(Self {
            low: quantile(&sorted, tail),
            high: quantile(&sorted, 1.0 - tail),
            without_drop: without as f64 / rounds as f64,
            rounds,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_without_a_drop_count_as_one() {
        let mut drops = vec![Some(0.5); 90];
        drops.extend([None; 10]);
        let interval = Interval::new(&drops, Level::default()).unwrap();
        assert_eq!((interval.low, interval.high), (0.5, 1.0));
        assert_eq!((interval.without_drop, interval.rounds), (0.1, 100));
        assert!(Interval::new(&drops[..39], Level::default()).is_err());
        let level = Level::new(0.8).unwrap();
        let mixed: Vec<Option<f64>> = (0..=100).map(|i| Some(f64::from(i) / 100.0)).collect();
        let interval = Interval::new(&mixed, level).unwrap();
        assert!((interval.low - 0.1).abs() < 1e-12 && (interval.high - 0.9).abs() < 1e-12);
    }
}
