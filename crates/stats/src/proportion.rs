use crate::error::StatsError;
use crate::estimate::{Estimate, Level};
use crate::special::beta_quantile;

/// The rate of `events` among `n` trials with Wilson's score interval (Wilson 1927), the default
/// of every report: its coverage is close to the level on average over all true rates, also near
/// 0 and 1 and in small samples, though for a single true rate it may lie somewhat below.
///
/// Without trials there is no value, and the interval is 0 to 1: nothing is known.
///
/// # Errors
/// More events than trials, or more than 10¹⁰ trials.
pub fn wilson(events: u64, n: u64, level: Level) -> Result<Estimate, StatsError> {
    check(events, n)?;
    let (low, high) = score_interval(events, n, level);
    Ok(rate(events, n, low, high))
}

/// The rate with the exact interval of Clopper and Pearson (1934): never covers less often than
/// the level says, whatever the true rate, and is wider for that. For safety arguments.
///
/// Without trials there is no value, and the interval is 0 to 1.
///
/// # Errors
/// More events than trials, or more than 10¹⁰ trials.
pub fn clopper_pearson(events: u64, n: u64, level: Level) -> Result<Estimate, StatsError> {
    check(events, n)?;
    if n == 0 {
        return Ok(rate(0, 0, 0.0, 1.0));
    }
    let (low, high) = beta_ends(events as f64, (n - events) as f64, level);
    Ok(rate(events, n, low, high))
}

/// The largest sample whose intervals are known to be accurate: at this size the ends agree with
/// SciPy's to a relative 1e-7.
pub(crate) const MAX_TRIALS: u64 = 10_000_000_000;

/// Refuses counts that no sample can have, and samples too large for the arithmetic.
pub(crate) fn check(events: u64, n: u64) -> Result<(), StatsError> {
    if events > n {
        return Err(StatsError::MoreEventsThanTrials { events, n });
    }
    if n > MAX_TRIALS {
        return Err(StatsError::TooLarge(n));
    }
    Ok(())
}

/// The rate with given ends; no value without trials.
pub(crate) fn rate(events: u64, n: u64, low: f64, high: f64) -> Estimate {
    Estimate { value: (n > 0).then(|| events as f64 / n as f64), low, high, n }
}

/// Wilson's ends of checked counts; exactly 0 and 1 where no event or only events were seen.
pub(crate) fn score_interval(events: u64, n: u64, level: Level) -> (f64, f64) {
    if n == 0 {
        return (0.0, 1.0);
    }
    let (low, high) = score_ends(events as f64 / n as f64, n as f64, level);
    (if events == 0 { 0.0 } else { low }, if events == n { 1.0 } else { high })
}

/// Wilson's ends of a rate that so many trials, or what is worth as many, say something about.
pub(crate) fn score_ends(p: f64, trials: f64, level: Level) -> (f64, f64) {
    let z = level.z();
    let shrink = 1.0 + z * z / trials;
    let centre = (p + z * z / (2.0 * trials)) / shrink;
    let spread = p * (1.0 - p) / trials + z * z / (4.0 * trials * trials);
    let half = z * spread.sqrt() / shrink;
    (centre - half, centre + half)
}

/// Clopper and Pearson's ends of a rate that so many trials, or what is worth as many, say
/// something about.
pub(crate) fn exact_ends(p: f64, trials: f64, level: Level) -> (f64, f64) {
    beta_ends(p * trials, (1.0 - p) * trials, level)
}

/// Clopper and Pearson's ends for hits and misses that need not be whole.
fn beta_ends(hits: f64, misses: f64, level: Level) -> (f64, f64) {
    let tail = level.alpha() / 2.0;
    let low = if hits > 0.0 { beta_quantile(tail, hits, misses + 1.0) } else { 0.0 };
    let high = if misses > 0.0 { beta_quantile(1.0 - tail, hits + 1.0, misses) } else { 1.0 };
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_observed_is_not_a_rate_of_zero() {
        for method in [wilson, clopper_pearson] {
            let nothing = method(0, 0, Level::default()).unwrap();
            assert_eq!(nothing.value, None);
            assert_eq!((nothing.low, nothing.high, nothing.n), (0.0, 1.0, 0));
        }
    }

    #[test]
    fn ends_are_exact_when_all_trials_agree() {
        for method in [wilson, clopper_pearson] {
            for n in [1, 7, 1000, 1_000_000] {
                let none = method(0, n, Level::default()).unwrap();
                let all = method(n, n, Level::default()).unwrap();
                assert_eq!((none.value, none.low), (Some(0.0), 0.0));
                assert_eq!((all.value, all.high), (Some(1.0), 1.0));
                assert!((none.high - (1.0 - all.low)).abs() < 1e-14, "{n}");
            }
        }
    }

    #[test]
    fn the_rule_of_three() {
        let none = clopper_pearson(0, 1000, Level::new(0.90).unwrap()).unwrap();
        assert!((none.high - 3.0 / 1000.0).abs() < 1e-5, "{}", none.high);
    }

    #[test]
    fn impossible_counts_are_errors() {
        let error = wilson(3, 2, Level::default()).unwrap_err();
        assert_eq!(error.to_string(), "3 events were counted in only 2 trials");
        assert!(clopper_pearson(0, u64::MAX, Level::default()).is_err());
    }
}
