use crate::error::StatsError;
use crate::estimate::{Estimate, Level};
use crate::proportion::{check, score_interval};

/// The rate of the first sample less that of the second, two independent `(events, n)`, by
/// Newcombe's hybrid score method (Newcombe 1998, Stat. Med. 17:873–890, method 10): whether one
/// target fails more often than another. It squares and adds the Wilson intervals' arms, so unlike
/// the textbook formula it stays inside −1 to 1 and keeps its level near rates of 0 and 1.
///
/// Where either sample is empty there is no value, and the interval is −1 to 1.
///
/// # Errors
/// More events than trials in a sample, or more than 10¹⁰ trials in both.
pub fn newcombe(
    first: (u64, u64),
    second: (u64, u64),
    level: Level,
) -> Result<Estimate, StatsError> {
    check(first.0, first.1)?;
    check(second.0, second.1)?;
    let n = first.1 + second.1;
    check(0, n)?;
    Ok(square_and_add(first, second, 0.0, level, n))
}

/// The four outcomes of trials judged twice, for example the same case and fault with and without
/// a protection. Named fields, since four counts in a row are easily swapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairedCounts {
    /// Pairs with an event under both conditions.
    pub both: u64,
    /// Pairs with an event under the first condition only.
    pub first_only: u64,
    /// Pairs with an event under the second condition only.
    pub second_only: u64,
    /// Pairs without any event.
    pub neither: u64,
}

/// The first condition's rate less the second's when both were tried on the same pairs, by
/// Newcombe's method for paired data (Newcombe 1998, Stat. Med. 17:2635–2650, method 10). Use it
/// whenever trials are matched: treating them as independent wastes the pairing and is usually
/// much too wide. The estimate's `n` counts pairs.
///
/// Without pairs there is no value, and the interval is −1 to 1.
///
/// # Errors
/// More than 2⁵³ pairs.
pub fn newcombe_paired(counts: PairedCounts, level: Level) -> Result<Estimate, StatsError> {
    let PairedCounts { both, first_only, second_only, neither } = counts;
    let n = [first_only, second_only, neither]
        .iter()
        .fold(both, |sum, &count| sum.saturating_add(count));
    check(0, n)?;
    let first = (both + first_only, n);
    let second = (both + second_only, n);
    Ok(square_and_add(first, second, correlation(counts, n), level, n))
}

/// Newcombe's φ between the conditions: a positive numerator is reduced by n/2 and at least 0, so
/// that chance agreement does not narrow the interval. 0 where a margin is empty.
fn correlation(counts: PairedCounts, n: u64) -> f64 {
    let [a, b, c, d] = [counts.both, counts.first_only, counts.second_only, counts.neither]
        .map(|count| count as f64);
    let margins = (a + b) * (c + d) * (a + c) * (b + d);
    if margins == 0.0 {
        return 0.0;
    }
    let cross = a * d - b * c;
    let corrected = if cross > 0.0 { (cross - n as f64 / 2.0).max(0.0) } else { cross };
    corrected / margins.sqrt()
}

/// The interval around the difference of two rates whose score intervals are correlated by `phi`.
fn square_and_add(
    first: (u64, u64),
    second: (u64, u64),
    phi: f64,
    level: Level,
    n: u64,
) -> Estimate {
    if first.1 == 0 || second.1 == 0 {
        return Estimate { value: None, low: -1.0, high: 1.0, n };
    }
    let p1 = first.0 as f64 / first.1 as f64;
    let p2 = second.0 as f64 / second.1 as f64;
    let (low1, high1) = score_interval(first.0, first.1, level);
    let (low2, high2) = score_interval(second.0, second.1, level);
    let value = p1 - p2;
    Estimate {
        value: Some(value),
        low: (value - arm(p1 - low1, high2 - p2, phi)).max(-1.0),
        high: (value + arm(high1 - p1, p2 - low2, phi)).min(1.0),
        n,
    }
}

/// One arm of the interval: the arms of both rates squared and added, less what their correlation
/// takes away.
fn arm(x: f64, y: f64, phi: f64) -> f64 {
    (x * x - 2.0 * phi * x * y + y * y).max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapping_the_samples_mirrors_the_interval() {
        let level = Level::default();
        let there = newcombe((3, 20), (11, 25), level).unwrap();
        let back = newcombe((11, 25), (3, 20), level).unwrap();
        assert_eq!((there.low, there.high), (-back.high, -back.low));
        assert_eq!(there.n, 45);
    }

    #[test]
    fn an_empty_sample_says_nothing() {
        let level = Level::default();
        let none = PairedCounts { both: 0, first_only: 0, second_only: 0, neither: 0 };
        for nothing in [
            newcombe((0, 0), (5, 9), level),
            newcombe((5, 9), (0, 0), level),
            newcombe_paired(none, level),
        ] {
            let nothing = nothing.unwrap();
            assert_eq!((nothing.value, nothing.low, nothing.high), (None, -1.0, 1.0));
        }
    }

    #[test]
    fn impossible_counts_are_errors() {
        let level = Level::default();
        assert!(newcombe((2, 1), (0, 1), level).is_err());
        assert!(newcombe((0, 1), (2, 1), level).is_err());
        let vast = PairedCounts { both: u64::MAX, first_only: 1, second_only: 0, neither: 0 };
        assert!(newcombe_paired(vast, level).is_err());
    }
}
