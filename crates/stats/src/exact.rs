use crate::error::StatsError;
use crate::proportion::check;

/// How much above the observed table's chance another still counts as equal: sums of the same
/// chances in another order differ in the last bits.
const EQUAL: f64 = 1.0 + 1e-7;

/// Fisher's exact test, two-sided: the chance of a table at least as unlikely as that of two
/// samples `(events, n)`, where both have the same rate. Exact at any size, and on the safe side
/// for small samples; use it to ask whether one group fails more or less often than another.
///
/// # Errors
/// More events than trials in a sample, or more than 10¹⁰ trials in both.
pub fn fisher_exact(
    first_events: u64,
    first: u64,
    second_events: u64,
    second: u64,
) -> Result<f64, StatsError> {
    check(first_events, first)?;
    check(second_events, second)?;
    check(0, first + second)?;
    let events = first_events + second_events;
    let (n, k, other) = (first as f64, events as f64, second as f64);
    let (least, most) = (events.saturating_sub(second), events.min(first));
    // How much likelier a table with one more event in the first sample is.
    let ratio = |x: f64| (n - x) * (k - x) / ((x + 1.0) * (other - k + x + 1.0));
    Ok(at_most_as_likely(first_events, least, most, ratio))
}

/// McNemar's exact test, two-sided: whether, among trials judged under two conditions, events
/// under the first only are as frequent as events under the second only.
pub fn mcnemar_exact(first_only: u64, second_only: u64) -> f64 {
    let n = first_only + second_only;
    let ratio = |x: f64| (n as f64 - x) / (x + 1.0);
    at_most_as_likely(first_only, 0, n, ratio)
}

/// The share of all chances that are not above the observed one; `ratio` is that of a value's
/// successor to its own. Walks both ways from the likeliest value, until nothing is left to add.
fn at_most_as_likely(observed: u64, least: u64, most: u64, ratio: impl Fn(f64) -> f64) -> f64 {
    let mode = mode(least, most, &ratio);
    let mut chances = vec![(mode, 1.0)];
    let mut chance = 1.0;
    for x in mode..most {
        chance *= ratio(x as f64);
        if chance == 0.0 {
            break;
        }
        chances.push((x + 1, chance));
    }
    chance = 1.0;
    for x in (least..mode).rev() {
        chance /= ratio(x as f64);
        if chance == 0.0 {
            break;
        }
        chances.push((x, chance));
    }
    let own = chances.iter().find(|(x, _)| *x == observed).map_or(0.0, |(_, chance)| *chance);
    let all: f64 = chances.iter().map(|(_, chance)| chance).sum();
    let tail = chances.iter().filter(|(_, chance)| *chance <= own * EQUAL);
    (tail.map(|(_, chance)| chance).sum::<f64>() / all).min(1.0)
}

/// The likeliest value: ratios fall, so it is the first whose successor is less likely.
fn mode(least: u64, most: u64, ratio: &impl Fn(f64) -> f64) -> u64 {
    let (mut low, mut high) = (least, most);
    while low < high {
        let middle = low + (high - low) / 2;
        if ratio(middle as f64) > 1.0 { low = middle + 1 } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: f64, wanted: f64) -> bool {
        (got - wanted).abs() <= 1e-9 * wanted.max(1e-12)
    }

    /// Values of SciPy's `fisher_exact`.
    #[test]
    fn tables_are_as_unlikely_as_scipy_says() {
        let cases = [
            (3, 10, 8, 12, 0.19838056680161942),
            (0, 20, 5, 400, 1.0),
            (15, 148, 300, 9000, 0.0001699238759747967),
            (500, 1000, 430, 1000, 0.00197151809168443),
            (7, 7, 0, 9, 8.741258741258743e-05),
            (0, 5, 0, 9, 1.0),
            (2000, 60000, 1500, 60000, 9.961238477813471e-18),
        ];
        for (a, n, b, m, wanted) in cases {
            let got = fisher_exact(a, n, b, m).unwrap();
            assert!(near(got, wanted), "{a}/{n} {b}/{m}: {got} {wanted}");
        }
        assert!(fisher_exact(3, 2, 0, 1).is_err());
        assert_eq!(fisher_exact(0, 100_000_000, 900_000_000, 900_000_000), Ok(0.0));
    }

    /// Values of SciPy's `binomtest` at one half.
    #[test]
    fn pairs_are_as_unlikely_as_scipy_says() {
        let cases = [
            (3, 10, 0.09228515625),
            (0, 0, 1.0),
            (5, 5, 1.0),
            (1, 200, 1.2570490861279506e-58),
            (40, 60, 0.05688793364098089),
        ];
        for (a, b, wanted) in cases {
            let got = mcnemar_exact(a, b);
            assert!(near(got, wanted), "{a} {b}: {got} {wanted}");
        }
    }
}
