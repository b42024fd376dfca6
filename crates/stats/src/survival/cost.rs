use super::error::SurvivalError;
use super::gamma::gamma_upper;
use crate::estimate::{Estimate, Level};
use crate::special::bisect;

/// C̄ = t_train / E\[T\], the training time per sample over the expected time until an attack
/// succeeds. Above 1 the model is broken: it costs less to attack than to train. The interval is
/// that of E\[T\] turned over, so it covers as often.
///
/// # Errors
/// A training time that is not above 0.
pub fn cost_ratio(training_time: f64, expected: &Estimate) -> Result<Estimate, SurvivalError> {
    if !(training_time.is_finite() && training_time > 0.0) {
        let what = "the training time per sample";
        return Err(SurvivalError::Question { what, value: training_time });
    }
    Ok(Estimate {
        value: expected.value.map(|mean| training_time / mean),
        low: training_time / expected.high,
        high: training_time / expected.low,
        n: expected.n,
    })
}

/// Beyond so many failures the incomplete gamma function loses digits, and the approximation of
/// Wilson and Hilferty (1931) has more than it.
const MANY: u64 = 1_000_000;

/// Failures per unit of time, with the exact interval of a Poisson count (Garwood 1936), which
/// also bounds the rate when nothing has failed.
///
/// # Errors
/// A time that is not above 0.
pub fn failure_rate(failures: u64, time: f64, level: Level) -> Result<Estimate, SurvivalError> {
    if !(time.is_finite() && time > 0.0) {
        return Err(SurvivalError::Question { what: "the time observed", value: time });
    }
    let count = failures as f64;
    let (low, high) = if failures > MANY {
        (wilson_hilferty(count, -level.z()), wilson_hilferty(count + 1.0, level.z()))
    } else {
        poisson_ends(count, level)
    };
    Ok(Estimate { value: Some(count / time), low: low / time, high: high / time, n: failures })
}

/// The quantile of a gamma distribution of shape k at the normal quantile z, approximated.
fn wilson_hilferty(k: f64, z: f64) -> f64 {
    k * (1.0 - 1.0 / (9.0 * k) + z / (3.0 * k.sqrt())).powi(3)
}

/// The means of a Poisson distribution at which so many counts or more, and so many or fewer, just
/// have the chance of a tail.
fn poisson_ends(count: f64, level: Level) -> (f64, f64) {
    let tail = level.alpha() / 2.0;
    let far = 100.0 + 4.0 * count;
    let low = if count == 0.0 {
        0.0
    } else {
        bisect(0.0, far, |rate| 1.0 - gamma_upper(count, rate) > tail)
    };
    let high = bisect(0.0, far, |rate| gamma_upper(count + 1.0, rate) < tail);
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn garwood_as_printed() {
        // Tables of the exact Poisson interval at 95%.
        for (count, low, high) in
            [(0, 0.0, 3.6889), (1, 0.0253, 5.5716), (10, 4.7954, 18.3904), (100, 81.3639, 121.6275)]
        {
            let got = failure_rate(count, 2.0, Level::default()).unwrap();
            assert!((2.0 * got.low - low).abs() < 1e-3, "{got:?}");
            assert!((2.0 * got.high - high).abs() < 1e-3, "{got:?}");
        }
        assert!(failure_rate(1, 0.0, Level::default()).is_err());
    }

    #[test]
    fn many_failures_continue_what_few_began() {
        let width = |count: u64| {
            let rate = failure_rate(count, 1.0, Level::default()).unwrap();
            (rate.low - count as f64, rate.high - count as f64)
        };
        let few = width(MANY);
        let many = width(MANY + 1);
        assert!((few.0 - many.0).abs() < 0.01 && (few.1 - many.1).abs() < 0.01, "{few:?} {many:?}");
        assert!(failure_rate(u64::MAX, 1.0, Level::default()).unwrap().low > 1e19);
    }

    #[test]
    fn the_ratio_turns_the_interval_over() {
        let mean = Estimate { value: Some(2.0), low: 1.0, high: 4.0, n: 9 };
        let ratio = cost_ratio(1.0, &mean).unwrap();
        assert_eq!((ratio.value, ratio.low, ratio.high), (Some(0.5), 0.25, 1.0));
        let endless = Estimate { value: Some(f64::INFINITY), low: 0.0, high: f64::INFINITY, n: 9 };
        assert_eq!(cost_ratio(1.0, &endless).unwrap().value, Some(0.0));
        assert!(cost_ratio(f64::NAN, &mean).is_err());
    }
}
