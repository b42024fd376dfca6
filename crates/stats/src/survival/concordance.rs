use std::collections::BTreeMap;

use super::censoring::Censoring;
use super::data::Lifetimes;
use super::error::SurvivalError;

/// The concordance of Harrell et al. (1982): of all pairs of rows of which it is known which ended
/// first, the share in which the one with the smaller score did; equal scores count half. The score
/// is larger the longer a row should last: a predicted median, or minus a risk. In O(n log n).
///
/// A row that ended is compared with those of its stratum under observation at that moment, so not
/// with rows that entered later; a pair counts as often as the product of its weights says. All as
/// R's `concordance` does.
///
/// # Errors
/// Another number of scores, a score that is NaN, or no pair that can be compared.
pub fn concordance(data: &Lifetimes, scores: &[f64]) -> Result<f64, SurvivalError> {
    share_in_order(data, scores, |_, _| 1.0)
}

/// The concordance of Uno et al. (2011) up to `horizon`. Harrell's depends on when rows were
/// censored, since pairs whose earlier row is censored are lost; here a pair counts 1/G² times, with
/// G the chance not to be censored before the earlier row ended, by stratum. R calls it `timewt = "n/G2"`.
///
/// # Errors
/// As [`concordance`]; also late entries, which leave G undefined.
pub fn uno_concordance(
    data: &Lifetimes,
    scores: &[f64],
    horizon: f64,
) -> Result<f64, SurvivalError> {
    let mut censoring = BTreeMap::new();
    for stratum in data.strata_levels() {
        let rows: Vec<usize> = (0..data.rows()).filter(|&i| data.strata()[i] == stratum).collect();
        censoring.insert(stratum, Censoring::new(&data.select(&rows)?)?);
    }
    share_in_order(data, scores, |stratum, time| {
        let share = censoring[&stratum].free_before(time);
        if time < horizon && share > 0.0 { 1.0 / (share * share) } else { 0.0 }
    })
}

/// The share of pairs in the right order; `factor` weighs the pairs of an event by its
/// stratum and time.
fn share_in_order(
    data: &Lifetimes,
    scores: &[f64],
    factor: impl Fn(usize, f64) -> f64,
) -> Result<f64, SurvivalError> {
    check(data, scores)?;
    let mut ranks = scores.to_vec();
    ranks.sort_by(f64::total_cmp);
    ranks.dedup();
    let rank = |i: usize| ranks.partition_point(|&r| r < scores[i]);
    let mut pairs = Pairs::default();
    for stratum in data.longest_first().chunk_by(|&a, &b| data.strata()[a] == data.strata()[b]) {
        // From the longest duration to the shortest, a Fenwick tree over the ranks of the scores
        // holds who was under observation for longer.
        let mut longer = Weights::new(ranks.len());
        let mut late: Vec<usize> =
            stratum.iter().copied().filter(|&i| data.entries()[i] > 0.0).collect();
        late.sort_by(|&a, &b| data.entries()[b].total_cmp(&data.entries()[a]));
        let mut late = late.into_iter().peekable();
        for group in stratum.chunk_by(|&a, &b| data.durations()[a] == data.durations()[b]) {
            let time = data.durations()[group[0]];
            let factor = factor(data.strata()[group[0]], time);
            // Who was censored at the time of an event lasted longer than it; another event did not.
            for &i in group.iter().filter(|&&i| !data.observed()[i]) {
                longer.add(rank(i), data.row_weights()[i]);
            }
            while let Some(i) = late.next_if(|&i| data.entries()[i] >= time) {
                longer.add(rank(i), -data.row_weights()[i]);
            }
            for &i in group.iter().filter(|&&i| data.observed()[i]) {
                pairs.count(&longer, rank(i), data.row_weights()[i] * factor);
            }
            for &i in group.iter().filter(|&&i| data.observed()[i]) {
                longer.add(rank(i), data.row_weights()[i]);
            }
        }
    }
    if pairs.all <= 0.0 {
        return Err(SurvivalError::NoPairs);
    }
    Ok((pairs.ordered + pairs.tied / 2.0) / pairs.all)
}

fn check(data: &Lifetimes, scores: &[f64]) -> Result<(), SurvivalError> {
    let rows = data.rows();
    if scores.len() != rows {
        let column = "the score".to_owned();
        return Err(SurvivalError::Length { column, found: scores.len(), rows });
    }
    if let Some(i) = scores.iter().position(|s| s.is_nan()) {
        let covariate = "the score".to_owned();
        let value = scores[i];
        return Err(SurvivalError::Value { covariate, row: i + 1, value });
    }
    Ok(())
}

/// Pairs of rows, each as often as it counts.
#[derive(Default)]
struct Pairs {
    all: f64,
    ordered: f64,
    tied: f64,
}

impl Pairs {
    /// The pairs of an event with all who lasted longer.
    fn count(&mut self, longer: &Weights, rank: usize, weight: f64) {
        let up_to = longer.below(rank + 1);
        self.all += weight * longer.total;
        self.ordered += weight * (longer.total - up_to);
        self.tied += weight * (up_to - longer.below(rank));
    }
}

/// Sums of weights by rank: a Fenwick tree.
struct Weights {
    tree: Vec<f64>,
    total: f64,
}

impl Weights {
    fn new(n: usize) -> Self {
        Self { tree: vec![0.0; n + 1], total: 0.0 }
    }

    fn add(&mut self, rank: usize, weight: f64) {
        self.total += weight;
        let mut i = rank + 1;
        while i < self.tree.len() {
            self.tree[i] += weight;
            i += i & i.wrapping_neg();
        }
    }

    fn below(&self, rank: usize) -> f64 {
        let mut i = rank;
        let mut sum = 0.0;
        while i > 0 {
            sum += self.tree[i];
            i &= i - 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair by its definition.
    fn slow(data: &Lifetimes, scores: &[f64]) -> f64 {
        let t = data.durations();
        let e = data.observed();
        let mut pairs = 0.0;
        let mut good = 0.0;
        for i in (0..t.len()).filter(|&i| e[i]) {
            let longer = (0..t.len()).filter(|&j| t[i] < t[j] || (t[i] == t[j] && !e[j]));
            let met =
                |j: &usize| data.entries()[*j] < t[i] && data.strata()[i] == data.strata()[*j];
            for j in longer.filter(met) {
                let weight = data.row_weights()[i] * data.row_weights()[j];
                let order =
                    f64::from(scores[i] < scores[j]) + 0.5 * f64::from(scores[i] == scores[j]);
                pairs += weight;
                good += weight * order;
            }
        }
        good / pairs
    }

    #[test]
    fn as_by_counting_every_pair() {
        let mut state = 1_u64;
        let mut draw = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((state >> 33) % below) as f64
        };
        for n in [2, 10, 200] {
            let times: Vec<f64> = (0..n).map(|_| draw(30) + 1.0).collect();
            let mut observed: Vec<bool> = (0..n).map(|_| draw(3) > 0.0).collect();
            observed[0] = times[0] < times[1] || observed[0];
            let scores: Vec<f64> = (0..n).map(|_| draw(12)).collect();
            let weights = (0..n).map(|_| draw(3) + 1.0).collect();
            let entries = times.iter().map(|time| draw(20).min(time - 1.0)).collect();
            let plain = Lifetimes::new(times, observed).unwrap();
            let weighted = plain.clone().weights(weights).unwrap();
            let late = weighted.clone().late_entry(entries).unwrap();
            let strata = (0..n).map(|i| i % 3).collect();
            let stratified = late.clone().stratified(strata).unwrap();
            for data in [plain, weighted, late, stratified] {
                if let Ok(got) = concordance(&data, &scores) {
                    assert!((got - slow(&data, &scores)).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn no_comparable_pair_is_an_error() {
        let data = Lifetimes::new(vec![1.0, 2.0], vec![false, true]).unwrap();
        assert_eq!(concordance(&data, &[1.0, 2.0]), Err(SurvivalError::NoPairs));
        assert!(concordance(&data, &[1.0]).is_err());
        assert!(concordance(&data, &[1.0, f64::NAN]).is_err());
    }
}
