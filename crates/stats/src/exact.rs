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
    let table = Table::new(first_events, first, second_events, second)?;
    Ok(at_most_as_likely(first_events, &table.chances()))
}

/// Fisher's exact test, one-sided: the chance of as few events in the first sample or fewer,
/// where both have the same rate. Use it to ask whether the first sample's rate is lower.
///
/// # Errors
/// More events than trials in a sample, or more than 10¹⁰ trials in both.
pub fn fisher_lower(
    first_events: u64,
    first: u64,
    second_events: u64,
    second: u64,
) -> Result<f64, StatsError> {
    let table = Table::new(first_events, first, second_events, second)?;
    Ok(at_most(first_events, &table.chances()))
}

/// The exact binomial test, one-sided: the chance of as few events or fewer, where `rate` is the
/// true one. Use it to ask whether a rate is lower than one that is known.
///
/// # Errors
/// More events than trials, more than 10¹⁰ trials, or a rate outside 0 to 1.
pub fn binomial_lower(events: u64, n: u64, rate: f64) -> Result<f64, StatsError> {
    check(events, n)?;
    if !(0.0..=1.0).contains(&rate) {
        return Err(StatsError::Probability(rate));
    }
    Ok(at_most(events, &binomial(n, rate)))
}

/// The chances of counts in `n` trials with a rate, up to a factor.
pub(crate) fn binomial(n: u64, rate: f64) -> Vec<(u64, f64)> {
    if rate >= 1.0 {
        return vec![(n, 1.0)];
    }
    let odds = rate / (1.0 - rate);
    chances(0, n, |x| odds * (n as f64 - x) / (x + 1.0))
}

/// The margins of a table of two samples.
struct Table {
    first: u64,
    second: u64,
    events: u64,
}

impl Table {
    fn new(
        first_events: u64,
        first: u64,
        second_events: u64,
        second: u64,
    ) -> Result<Self, StatsError> {
        check(first_events, first)?;
        check(second_events, second)?;
        check(0, first + second)?;
        Ok(Self { first, second, events: first_events + second_events })
    }

    /// The chances of counts in the first sample, up to a factor.
    fn chances(&self) -> Vec<(u64, f64)> {
        let [n, k, other] = [self.first, self.events, self.second].map(|count| count as f64);
        // The hypergeometric distribution: its terms follow from each other by this ratio.
        let min = self.events.saturating_sub(self.second);
        let max = self.events.min(self.first);
        chances(min, max, |x| (n - x) * (k - x) / ((x + 1.0) * (other - k + x + 1.0)))
    }
}

/// McNemar's exact test, two-sided: whether, among trials judged under two conditions, events
/// under the first only are as frequent as events under the second only.
pub fn mcnemar_exact(first_only: u64, second_only: u64) -> f64 {
    let n = first_only + second_only;
    at_most_as_likely(first_only, &binomial(n, 0.5))
}

/// The chances of all counts, up to a factor and without those that are 0; `ratio` is that of a
/// count's successor to its own. Walks both ways from the likeliest one, until nothing is left
/// to add.
fn chances(min: u64, max: u64, ratio: impl Fn(f64) -> f64) -> Vec<(u64, f64)> {
    let mode = mode(min, max, &ratio);
    let mut chances = vec![(mode, 1.0)];
    let mut chance = 1.0;
    for x in mode..max {
        chance *= ratio(x as f64);
        if chance == 0.0 {
            break;
        }
        chances.push((x + 1, chance));
    }
    chance = 1.0;
    for x in (min..mode).rev() {
        chance /= ratio(x as f64);
        if chance == 0.0 {
            break;
        }
        chances.push((x, chance));
    }
    chances
}

/// The share of all chances that are not above that of the observed count.
fn at_most_as_likely(observed: u64, chances: &[(u64, f64)]) -> f64 {
    let own = chances.iter().find(|(x, _)| *x == observed).map_or(0.0, |(_, chance)| *chance);
    share(chances, |(_, chance)| *chance <= own * EQUAL)
}

/// The share of the chances of counts that are not above the observed one.
fn at_most(observed: u64, chances: &[(u64, f64)]) -> f64 {
    share(chances, |(x, _)| *x <= observed)
}

fn share(chances: &[(u64, f64)], of: impl Fn(&(u64, f64)) -> bool) -> f64 {
    let all: f64 = chances.iter().map(|(_, chance)| chance).sum();
    let part: f64 = chances.iter().filter(|one| of(one)).map(|(_, chance)| chance).sum();
    (part / all).min(1.0)
}

/// The likeliest value: ratios fall, so it is the first whose successor is less likely.
fn mode(min: u64, max: u64, ratio: &impl Fn(f64) -> f64) -> u64 {
    let mut low = min;
    let mut high = max;
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

    /// Values of SciPy's `binomtest` and `fisher_exact` with `alternative="less"`.
    #[test]
    fn lower_rates_are_as_unlikely_as_scipy_says() {
        let cases = [
            (45, 50, 0.97, 0.016810645355951368),
            (48, 50, 0.97, 0.44472012669268435),
            (0, 20, 0.5, 9.5367431640625e-07),
            (50, 50, 0.97, 1.0),
            (14, 15, 0.9673, 0.3926796738304378),
            (900, 1000, 0.93, 0.000260198682326073),
            (3, 12, 0.25, 0.6487786173820496),
            (11, 12, 1.0, 0.0),
            (12, 12, 1.0, 1.0),
            (0, 12, 0.0, 1.0),
            (0, 0, 0.5, 1.0),
        ];
        for (x, n, rate, wanted) in cases {
            let got = binomial_lower(x, n, rate).unwrap();
            assert!(near(got, wanted), "{x}/{n} at {rate}: {got} {wanted}");
        }
        let cases = [
            (12, 15, 95, 98, 0.030076774982190264),
            (29, 35, 115, 118, 0.0048437761371506105),
            (20, 20, 98, 98, 1.0),
            (0, 11, 55, 60, 1.7058852447009804e-09),
            (240, 260, 290, 300, 0.017834881008436186),
        ];
        for (a, n, b, m, wanted) in cases {
            let got = fisher_lower(a, n, b, m).unwrap();
            assert!(near(got, wanted), "{a}/{n} {b}/{m}: {got} {wanted}");
        }
        assert!(binomial_lower(3, 2, 0.5).is_err() && binomial_lower(1, 2, 1.5).is_err());
        assert!(binomial_lower(1, 2, f64::NAN).is_err() && fisher_lower(3, 2, 0, 1).is_err());
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
