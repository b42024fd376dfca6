use crate::error::StatsError;
use crate::estimate::{Estimate, Level};
use crate::special::beta_quantile;

/// The mean of a quantity that is no rate, such as the number of critical bits of an element, with
/// Student's interval. Observations come one by one, so that none needs to be kept.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Mean {
    n: u64,
    mean: f64,
    /// The squared distances from the mean, summed (Welford 1962).
    squares: f64,
}

impl Mean {
    /// Counts one observation.
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn add(&mut self, value: f64) -> Result<(), StatsError> {
        if !value.is_finite() {
            return Err(StatsError::NotFinite(value));
        }
        self.n += 1;
        let distance = value - self.mean;
        self.mean += distance / self.n as f64;
        self.squares += distance * (value - self.mean);
        Ok(())
    }

    /// Counts all observations of another sample, too (Chan, Golub and LeVeque 1979).
    pub fn merge(&mut self, other: &Self) {
        if other.n == 0 {
            return;
        }
        let own = self.n as f64;
        let others = other.n as f64;
        let all = own + others;
        let distance = other.mean - self.mean;
        self.n += other.n;
        self.mean += distance * others / all;
        self.squares += other.squares + distance * distance * own * others / all;
    }

    /// How many observations there are.
    #[must_use]
    pub fn n(&self) -> u64 {
        self.n
    }

    /// Whether observations differ; those that do not say nothing about how far others may lie.
    #[must_use]
    pub fn varies(&self) -> bool {
        self.n > 1 && self.squares > 0.0
    }

    /// The mean with its interval, which has no ends for fewer than two observations.
    #[must_use]
    pub fn estimate(&self, level: Level) -> Estimate {
        let n = self.n as f64;
        let half = match self.n {
            0 | 1 => f64::INFINITY,
            _ => student(n - 1.0, level) * (self.squares / (n - 1.0) / n).sqrt(),
        };
        let value = (self.n > 0).then_some(self.mean);
        Estimate { value, low: self.mean - half, high: self.mean + half, n: self.n }
    }

    /// The mean with an interval that stays where the quantity can lie: Student's, of the logarithm
    /// of a positive mean, or of the logit of one between two ends (by the delta method).
    #[must_use]
    pub fn estimate_in(&self, range: Range, level: Level) -> Estimate {
        let plain = self.estimate(level);
        let ends = match self.n {
            0 | 1 => Some(range.ends()),
            _ => range.around(self.mean, plain.half_width()),
        };
        ends.map_or(plain, |(low, high)| Estimate { low, high, ..plain })
    }
}

/// Where a quantity can lie: ends that no interval of its mean may pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// From nothing upwards, such as a number of objects.
    Positive,
    /// Between both, such as a share between 0 and 1.
    Between(f64, f64),
}

impl Range {
    fn ends(self) -> (f64, f64) {
        match self {
            Self::Positive => (0.0, f64::INFINITY),
            Self::Between(from, to) => (from, to),
        }
    }

    /// The interval of a mean whose plain one has this half width. `None` for a mean that is not
    /// inside: all observations lie at that end, or never were in the range.
    fn around(self, mean: f64, half: f64) -> Option<(f64, f64)> {
        let (from, to) = self.ends();
        if mean <= from || mean >= to {
            return None;
        }
        Some(match self {
            Self::Positive => (mean * (-half / mean).exp(), mean * (half / mean).exp()),
            Self::Between(..) => {
                let share = (mean - from) / (to - from);
                let logit = (share / (1.0 - share)).ln();
                let rest = share * (1.0 - share);
                let far = half / (to - from) / rest;
                let low = from + (to - from) / (1.0 + (far - logit).exp());
                let high = from + (to - from) / (1.0 + (-logit - far).exp());
                (low, high)
            }
        })
    }
}

/// The two-sided quantile of Student's distribution: t² / (t² + ν) is Beta(1/2, ν/2).
pub(crate) fn student(freedom: f64, level: Level) -> f64 {
    let share = beta_quantile(level.confidence(), 0.5, freedom / 2.0);
    (freedom * share / (1.0 - share)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Mean {
        let mut mean = Mean::default();
        for &value in values {
            mean.add(value).unwrap();
        }
        mean
    }

    #[test]
    fn quantiles_as_tables_have_them() {
        for (freedom, wanted) in
            [(1.0, 12.7062), (4.0, 2.7764), (10.0, 2.2281), (30.0, 2.0423), (1e6, 1.959_97)]
        {
            let found = student(freedom, Level::default());
            assert!((found - wanted).abs() < 1e-4, "{freedom}: {found}");
        }
    }

    #[test]
    fn a_mean_by_hand() {
        let mut mean = Mean::default();
        [3.0, 5.0, 4.0, 8.0].into_iter().for_each(|value| mean.add(value).unwrap());
        let estimate = mean.estimate(Level::default());
        assert_eq!((estimate.value, estimate.n), (Some(5.0), 4));
        // Squared distances 4 + 0 + 1 + 9, three degrees of freedom: 3.1824 · √(14/3/4).
        assert!((estimate.half_width() - 3.182_446 * (14.0f64 / 12.0).sqrt()).abs() < 1e-5);
    }

    #[test]
    fn parts_make_the_whole() {
        let mut merged = of(&[]);
        merged.merge(&of(&[3.0, 5.0]));
        merged.merge(&of(&[]));
        merged.merge(&of(&[4.0, 8.0]));
        assert_eq!(merged, of(&[3.0, 5.0, 4.0, 8.0]));
    }

    #[test]
    fn intervals_stay_where_the_quantity_can_lie() {
        let level = Level::default();
        let share = Range::Between(0.0, 1.0);
        let near = of(&[0.99, 1.0, 0.8, 1.0]);
        assert!(near.estimate(level).high > 1.0);
        let kept = near.estimate_in(share, level);
        assert!(kept.low > 0.0 && kept.high < 1.0 && kept.contains(0.9475), "{kept:?}");
        // Student's half width is 0.15665 = 3.18245 · 0.09845 / √4; over 0.9475 · 0.0525 it is
        // 3.14914. The logit of 0.9475 is 2.89301, so the ends are those of −0.25612 and 6.04215.
        assert!((kept.low - 0.436_32).abs() < 1e-4 && (kept.high - 0.997_63).abs() < 1e-5);
        let moved = near.estimate_in(Range::Between(-1.0, 1.0), level);
        assert!(moved.low > -1.0 && moved.high < 1.0);
        let counts = of(&[0.0, 0.0, 1.0]).estimate_in(Range::Positive, level);
        assert!(counts.low > 0.0 && counts.high > 1.0 / 3.0);
        // Where nothing varies, and where there is too little.
        let all = of(&[1.0, 1.0]).estimate_in(share, level);
        assert_eq!((all.low, all.high), (1.0, 1.0));
        let none = of(&[0.0, 0.0]).estimate_in(Range::Positive, level);
        assert_eq!((none.low, none.high), (0.0, 0.0));
        let one = of(&[0.5]).estimate_in(share, level);
        assert_eq!((one.low, one.high), (0.0, 1.0));
        let none = of(&[]).estimate_in(Range::Positive, level);
        assert_eq!((none.low, none.high), (0.0, f64::INFINITY));
    }

    #[test]
    fn few_observations_have_no_ends() {
        let mut mean = Mean::default();
        assert_eq!(mean.estimate(Level::default()).value, None);
        mean.add(2.0).unwrap();
        let one = mean.estimate(Level::default());
        assert_eq!((one.value, one.high, mean.varies()), (Some(2.0), f64::INFINITY, false));
        assert!(mean.add(f64::NAN).is_err());
    }
}
