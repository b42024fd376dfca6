use crate::error::StatsError;
use crate::estimate::{Estimate, Level};
use crate::special::{normal_cdf, normal_quantile};

/// Intervals of statistics that have no formula (a mean severity, a median time, a mAP): the
/// observations are drawn again with replacement, and the statistic is computed on each redraw.
///
/// The statistic is given indices, not values, so that it can look up whatever belongs to an
/// observation; resample whole cases when several trials share one. Randomness comes from the
/// caller as uniform 64-bit numbers, so the same generator gives the same interval everywhere.
///
/// ```
/// use faultlens_stats::{Bootstrap, Level};
///
/// let severity = [0.1, 0.4, 0.2, 0.9, 0.3, 0.5, 0.2, 0.6];
/// let mut state = 7_u64;
/// let draw = || {
///     state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
///     state
/// };
/// let mean = |at: &[usize]| at.iter().map(|&i| severity[i]).sum::<f64>() / at.len() as f64;
/// let estimate = Bootstrap::new(2000, Level::default())?.bca(severity.len(), draw, mean)?;
/// assert!(estimate.low > 0.2 && estimate.high < 0.7);
/// # Ok::<(), faultlens_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    resamples: usize,
    level: Level,
}

impl Bootstrap {
    /// A bootstrap of so many resamples: 2000 or more for 95%, as the ends are tail quantiles.
    ///
    /// # Errors
    /// [`StatsError::TooFewResamples`] when not even one is expected in each tail.
    pub fn new(resamples: usize, level: Level) -> Result<Self, StatsError> {
        // Rounded a little down first: 2 / 0.05 must not become 41 by an error in the last bit.
        let needed = (2.0 / level.alpha() - 1e-6).ceil() as usize;
        if resamples < needed {
            return Err(StatsError::TooFewResamples { resamples, needed });
        }
        Ok(Self { resamples, level })
    }

    /// The percentile interval (Efron 1979): the plain quantiles of the resampled statistics.
    /// Simple and always defined, but off where the statistic is biased or skewed.
    ///
    /// # Errors
    /// No observations, or a statistic that is not finite.
    pub fn percentile(
        &self,
        n: usize,
        draw: impl FnMut() -> u64,
        mut statistic: impl FnMut(&[usize]) -> f64,
    ) -> Result<Estimate, StatsError> {
        let value = on_all(n, &mut statistic)?;
        let sorted = self.resample(n, draw, &mut statistic)?;
        let tail = self.level.alpha() / 2.0;
        Ok(between(value, &sorted, tail, 1.0 - tail, n))
    }

    /// The bias-corrected and accelerated interval (Efron 1987): the quantiles are moved for the
    /// bias and the skewness of the statistic. The better default; costs `n` more evaluations.
    ///
    /// # Errors
    /// No observations, a statistic that is not finite, or [`StatsError::OneSided`].
    pub fn bca(
        &self,
        n: usize,
        draw: impl FnMut() -> u64,
        mut statistic: impl FnMut(&[usize]) -> f64,
    ) -> Result<Estimate, StatsError> {
        let value = on_all(n, &mut statistic)?;
        let sorted = self.resample(n, draw, &mut statistic)?;
        let bias = normal_quantile(share_below(&sorted, value));
        if bias.is_infinite() {
            return Err(StatsError::OneSided);
        }
        let acceleration = acceleration(n, &mut statistic)?;
        let z = self.level.z();
        let low = bca_quantile(-z, bias, acceleration);
        let high = bca_quantile(z, bias, acceleration);
        Ok(between(value, &sorted, low, high, n))
    }

    /// The statistic on every resample, ascending.
    fn resample(
        &self,
        n: usize,
        mut draw: impl FnMut() -> u64,
        statistic: &mut impl FnMut(&[usize]) -> f64,
    ) -> Result<Vec<f64>, StatsError> {
        let mut indices = vec![0; n];
        let mut found = Vec::with_capacity(self.resamples);
        for _ in 0..self.resamples {
            indices.fill_with(|| index_below(n, draw()));
            found.push(finite(statistic(&indices))?);
        }
        found.sort_by(f64::total_cmp);
        Ok(found)
    }
}

/// An index below n from 64 random bits by multiplication; its bias is below n / 2⁶⁴.
pub(crate) fn index_below(n: usize, bits: u64) -> usize {
    ((u128::from(bits) * n as u128) >> 64) as usize
}

fn finite(value: f64) -> Result<f64, StatsError> {
    if value.is_finite() { Ok(value) } else { Err(StatsError::NotFinite(value)) }
}

/// The statistic on the observations as they are.
fn on_all(n: usize, statistic: &mut impl FnMut(&[usize]) -> f64) -> Result<f64, StatsError> {
    if n == 0 {
        return Err(StatsError::Empty);
    }
    let all: Vec<usize> = (0..n).collect();
    finite(statistic(&all))
}

/// The share of resamples below the estimate; ties count half.
fn share_below(sorted: &[f64], value: f64) -> f64 {
    let less = sorted.partition_point(|&x| x < value);
    let at_most = sorted.partition_point(|&x| x <= value);
    (less + at_most) as f64 / (2 * sorted.len()) as f64
}

/// The quantile that takes the place of Φ(z) in the bias-corrected and accelerated interval
/// (Efron 1987).
fn bca_quantile(z: f64, bias: f64, acceleration: f64) -> f64 {
    let shifted = bias + z;
    normal_cdf(bias + shifted / (1.0 - acceleration * shifted))
}

/// How fast the statistic's spread changes with its value: the jackknife estimate, from leaving out
/// each observation once. 0 for a single observation and for a statistic that never changes.
fn acceleration(n: usize, statistic: &mut impl FnMut(&[usize]) -> f64) -> Result<f64, StatsError> {
    if n < 2 {
        return Ok(0.0);
    }
    let mut without: Vec<usize> = (1..n).collect();
    let mut left_out = Vec::with_capacity(n);
    for gap in 0..n {
        left_out.push(finite(statistic(&without))?);
        if gap + 1 < n {
            without[gap] = gap;
        }
    }
    let mean = left_out.iter().sum::<f64>() / n as f64;
    let squares: f64 = left_out.iter().map(|x| (mean - x).powi(2)).sum();
    let cubes: f64 = left_out.iter().map(|x| (mean - x).powi(3)).sum();
    Ok(if squares == 0.0 { 0.0 } else { cubes / (6.0 * squares.powf(1.5)) })
}

fn between(value: f64, sorted: &[f64], low: f64, high: f64, n: usize) -> Estimate {
    Estimate {
        value: Some(value),
        low: quantile(sorted, low),
        high: quantile(sorted, high),
        n: n as u64,
    }
}

/// The quantile with linear interpolation between order statistics, as R's type 7 and NumPy.
pub(crate) fn quantile(sorted: &[f64], p: f64) -> f64 {
    let position = p.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * (position - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counter() -> impl FnMut() -> u64 {
        let mut state = 0_u64;
        move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            state
        }
    }

    #[test]
    fn indices_reach_every_observation_and_no_further() {
        for n in [1, 2, 3, 1000] {
            assert_eq!(index_below(n, 0), 0);
            assert_eq!(index_below(n, u64::MAX), n - 1);
        }
    }

    #[test]
    fn a_constant_has_an_interval_without_width() {
        let bootstrap = Bootstrap::new(100, Level::default()).unwrap();
        for n in [1, 5] {
            let got = bootstrap.bca(n, counter(), |_| 2.5).unwrap();
            assert_eq!((got.value, got.low, got.high), (Some(2.5), 2.5, 2.5));
        }
    }

    #[test]
    fn unusable_questions_are_errors() {
        let bootstrap = Bootstrap::new(40, Level::default()).unwrap();
        let empty = bootstrap.percentile(0, counter(), |_| 0.0);
        assert_eq!(empty, Err(StatsError::Empty));
        let nan = bootstrap.bca(3, counter(), |_| f64::NAN);
        assert!(matches!(nan, Err(StatsError::NotFinite(_))));
        let mut first = true;
        assert_eq!(
            bootstrap.bca(3, counter(), |_: &[usize]| if std::mem::take(&mut first) {
                1.0
            } else {
                0.0
            }),
            Err(StatsError::OneSided)
        );
        assert!(Bootstrap::new(39, Level::default()).is_err());
    }
}
