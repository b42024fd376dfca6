//! Whether groups of cases differ by more than chance.
//!
//! Trials of one case are not independent of each other: an image that breaks under one fault
//! breaks easily under the next. So a case counts once, with its own rate, and chance is what
//! dealing the cases to the groups anew would give.

use faultlens_core::Seed;

/// How often the cases are dealt anew; a p-value is never below one in so many.
pub(crate) const PERMUTATIONS: u32 = 2000;
/// Sums of the same rates in another order differ in the last bits.
const EQUAL: f64 = 1e-12;

/// For each group, given by the rates of its cases, the p-value of "the mean rate of its cases is
/// that of all others". A group that is empty or has all cases differs from nothing.
pub(crate) fn against_the_rest(groups: &[Vec<f64>], seed: Seed) -> Vec<f64> {
    let mut rates: Vec<f64> = groups.iter().flatten().copied().collect();
    let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
    let observed = distances(&rates, &sizes);
    let mut as_far = vec![0u32; groups.len()];
    let mut stream = seed.stream();
    for _ in 0..PERMUTATIONS {
        stream.shuffle(&mut rates);
        let dealt = distances(&rates, &sizes);
        for ((count, dealt), observed) in as_far.iter_mut().zip(dealt).zip(&observed) {
            *count += u32::from(dealt >= observed - EQUAL);
        }
    }
    as_far.into_iter().map(|count| f64::from(count + 1) / f64::from(PERMUTATIONS + 1)).collect()
}

/// How far the mean of each group lies from that of all others; the groups follow each other.
fn distances(rates: &[f64], sizes: &[usize]) -> Vec<f64> {
    let total: f64 = rates.iter().sum();
    let mut rest = rates;
    let mut distances = Vec::with_capacity(sizes.len());
    for &size in sizes {
        let (own, after) = rest.split_at(size);
        rest = after;
        let sum: f64 = own.iter().sum();
        let others = rates.len() - size;
        distances.push(if size == 0 || others == 0 {
            0.0
        } else {
            (sum / size as f64 - (total - sum) / others as f64).abs()
        });
    }
    distances
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_close_to_counting_every_deal() {
        // All 70 ways to deal four and four, counted here one by one.
        let a = vec![0.9, 0.5, 0.8, 0.3];
        let b = vec![0.1, 0.4, 0.2, 0.6];
        let all: Vec<f64> = a.iter().chain(&b).copied().collect();
        let far = |mask: u32| {
            let own: f64 = (0..8).filter(|at| mask >> at & 1 == 1).map(|at| all[at]).sum();
            (own - (all.iter().sum::<f64>() - own)).abs()
        };
        let deals: Vec<u32> = (0..256u32).filter(|mask| mask.count_ones() == 4).collect();
        let as_far = deals.iter().filter(|mask| far(**mask) >= far(0b1111) - 1e-12).count();
        let exact = as_far as f64 / deals.len() as f64;
        let p = against_the_rest(&[a, b], Seed::new(1));
        assert!((p[0] - exact).abs() < 0.03, "{p:?} {exact}");
        assert_eq!(p[0].to_bits(), p[1].to_bits(), "two groups are each other's rest");
    }

    #[test]
    fn the_same_seed_deals_the_same_and_nothing_is_below_the_least() {
        let groups = [vec![1.0; 40], vec![0.0; 60], vec![]];
        let p = against_the_rest(&groups, Seed::new(7));
        assert_eq!(p, against_the_rest(&groups, Seed::new(7)));
        let least = 1.0 / f64::from(PERMUTATIONS + 1);
        assert_eq!(p, [least, least, 1.0]);
        assert_eq!(against_the_rest(&[vec![0.5; 9]], Seed::new(1)), [1.0]);
    }
}
