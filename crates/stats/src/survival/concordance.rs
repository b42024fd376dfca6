use super::data::Lifetimes;
use super::error::SurvivalError;

/// The concordance of Harrell et al. (1982): of all pairs of rows of which it is known which ended first, the share
/// in which the one with the smaller score did; equal scores count half. The score is larger the
/// longer a row should last: a predicted median, or minus a risk. In O(n log n).
///
/// # Errors
/// Another number of scores, a score that is NaN, or no pair that can be compared.
pub fn concordance(data: &Lifetimes, scores: &[f64]) -> Result<f64, SurvivalError> {
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
    // Rows by ascending duration; a Fenwick tree over the ranks of the scores counts, for each row,
    // the earlier events with a smaller score.
    let mut ranks = scores.to_vec();
    ranks.sort_by(f64::total_cmp);
    ranks.dedup();
    let mut earlier = Counts::new(ranks.len());
    let mut pairs = 0_u64;
    let mut concordant = 0_u64;
    let mut tied = 0_u64;
    let mut order = data.longest_first();
    order.reverse();
    for group in order.chunk_by(|&a, &b| data.durations()[a] == data.durations()[b]) {
        // An event precedes what was censored at the same time, and no other event of that time.
        for ended in [true, false] {
            let part = group.iter().filter(|&&i| data.observed()[i] == ended);
            let places: Vec<usize> =
                part.map(|&i| ranks.partition_point(|&r| r < scores[i])).collect();
            for &place in &places {
                let below = earlier.below(place);
                concordant += below;
                tied += earlier.below(place + 1) - below;
                pairs += earlier.total;
            }
            if ended {
                places.into_iter().for_each(|place| earlier.add(place));
            }
        }
    }
    if pairs == 0 {
        return Err(SurvivalError::NoPairs);
    }
    Ok((concordant as f64 + tied as f64 / 2.0) / pairs as f64)
}

/// How many ranks were seen, by rank: a Fenwick tree.
struct Counts {
    tree: Vec<u64>,
    total: u64,
}

impl Counts {
    fn new(n: usize) -> Self {
        Self { tree: vec![0; n + 1], total: 0 }
    }

    fn add(&mut self, rank: usize) {
        self.total += 1;
        let mut i = rank + 1;
        while i < self.tree.len() {
            self.tree[i] += 1;
            i += i & i.wrapping_neg();
        }
    }

    fn below(&self, rank: usize) -> u64 {
        let mut i = rank;
        let mut sum = 0;
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
            for j in (0..t.len()).filter(|&j| t[i] < t[j] || (t[i] == t[j] && !e[j])) {
                pairs += 1.0;
                good += f64::from(scores[i] < scores[j]) + 0.5 * f64::from(scores[i] == scores[j]);
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
            let data = Lifetimes::new(times, observed).unwrap();
            if let Ok(got) = concordance(&data, &scores) {
                assert_eq!(got, slow(&data, &scores));
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
