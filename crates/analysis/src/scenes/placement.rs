//! Whether it matters where objects are placed: close to others (guided), or at random.

use crate::estimate::{Mean, Precision, Rate};
use faultlens_core::Seed;
use faultlens_stats::{Bootstrap, Clustered, StatsError};
use serde::Serialize;
use std::collections::BTreeMap;

/// Objects placed close to others, compared with objects placed at random.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlacementEffect {
    /// The target.
    pub target: String,
    /// The fault with its settings other than the placing.
    pub fault: String,
    /// Scenes that changed the prediction, of objects close to others.
    pub guided: Rate,
    /// The same of objects at random.
    pub random: Rate,
    /// The difference of both rates within cases, weighted as Mantel and Haenszel do; the interval
    /// is a bootstrap over cases.
    pub difference: Mean,
    /// The p-value of "placing does not matter": a permutation test that swaps both ways within
    /// cases, with Holm's correction over all comparisons of the run.
    pub p_value: f64,
}

impl PlacementEffect {
    /// Whether the difference is more than chance.
    pub fn is_significant(&self) -> bool {
        self.p_value < SIGNIFICANT
    }
}

/// The level of significance of corrected p-values.
const SIGNIFICANT: f64 = 0.05;

/// Changed and judged scenes by case.
pub(crate) type ByCase = BTreeMap<u32, [u64; 2]>;

/// Changed and judged scenes of one case: of objects close to others, and of objects at random.
type Pair = [[u64; 2]; 2];

/// The number of bootstrap samples, and of permutations.
const DRAWS: usize = 2000;

/// The least number of cases that are compared.
const FEWEST: usize = 4;

/// The scenes of one way of placing, by case.
fn by_case(
    counts: impl Iterator<Item = [u64; 2]>,
    precision: &Precision,
) -> Result<Rate, StatsError> {
    let mut clusters = Clustered::default();
    let mut events = 0;
    for (case, [changed, judged]) in (0..).zip(counts) {
        events += changed;
        for scene in 0..judged {
            clusters.count(case, scene < changed);
        }
    }
    let intervals = precision.intervals;
    let rate = Rate::new(events, clusters.estimate(intervals.formula(), intervals.level)?);
    Ok(Rate { images: clusters.len(), ..rate })
}

/// Compares both ways of placing over the cases that have both, of a target and the label of the
/// point that places at random. `None` where such cases are too few.
pub(super) fn compare(
    target: &str,
    label: &str,
    guided: &ByCase,
    random: &ByCase,
    precision: &Precision,
) -> Result<Option<PlacementEffect>, StatsError> {
    let mut both: Vec<Pair> = Vec::new();
    for (case, own) in guided {
        if let Some(other) = random.get(case) {
            both.push([*own, *other]);
        }
    }
    if both.len() < FEWEST {
        return Ok(None);
    }
    let seed = Seed::new(0).child("placing");
    let mut stream = seed.child("cases").stream();
    let estimate = Bootstrap::new(DRAWS, precision.intervals.level)?.percentile(
        both.len(),
        || stream.next_u64(),
        |at| difference(at.iter().map(|&at| both[at])),
    )?;
    let settings: Vec<&str> = label.split(' ').filter(|word| *word != "placing=random").collect();
    Ok(Some(PlacementEffect {
        target: target.to_owned(),
        fault: settings.join(" "),
        guided: by_case(both.iter().map(|pair| pair[0]), precision)?,
        random: by_case(both.iter().map(|pair| pair[1]), precision)?,
        difference: Mean::from(estimate),
        p_value: permutation_test(&both, seed.child("swapped")),
    }))
}

/// The difference of both rates, stratified by case with Mantel and Haenszel's weights n·m/(n + m):
/// crowded cases have fewer guided scenes and more changes, so that a plain difference of sums
/// would be biased.
fn difference(pairs: impl Iterator<Item = Pair>) -> f64 {
    let mut sum = 0.0;
    let mut weights = 0.0;
    for [guided, random] in pairs {
        let n = guided[1] as f64;
        let m = random[1] as f64;
        let weight = n * m / (n + m);
        sum += weight * (guided[0] as f64 / n - random[0] as f64 / m);
        weights += weight;
    }
    sum / weights
}

/// The p-value of a permutation test: how often swapping both ways of placing within random cases
/// gives a difference at least as large as the observed one.
fn permutation_test(both: &[Pair], seed: Seed) -> f64 {
    let observed = difference(both.iter().copied()).abs();
    let mut stream = seed.stream();
    let mut as_large = 0;
    for _ in 0..DRAWS {
        let pairs = both.iter().map(|&[a, b]| if stream.chance(0.5) { [b, a] } else { [a, b] });
        if difference(pairs).abs() >= observed - 1e-12 {
            as_large += 1;
        }
    }
    f64::from(as_large + 1) / (DRAWS + 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases(changed: &[u64]) -> ByCase {
        (0..).zip(changed).map(|(case, changed)| (case, [*changed, 10])).collect()
    }

    fn compared(guided: &[u64], random: &[u64]) -> PlacementEffect {
        let label = "insert_object placing=random towards=centre";
        compare("eye", label, &cases(guided), &cases(random), &Precision::wilson())
            .unwrap()
            .unwrap()
    }

    #[test]
    fn a_difference_in_every_case_is_significant() {
        let one = compared(&[5; 12], &[2; 12]);
        assert_eq!(one.fault, "insert_object towards=centre");
        assert_eq!((one.guided.events, one.guided.n, one.random.events), (60, 120, 24));
        assert!((one.difference.value.unwrap() - 0.3).abs() < 1e-12);
        // Of 4,096 ways to swap twelve cases two are as far apart as this.
        assert!(one.p_value < 0.005, "{}", one.p_value);
        let same = compared(&[5, 0, 3, 2], &[0, 5, 2, 3]);
        assert_eq!((same.difference.value, same.p_value), (Some(0.0), 1.0));
    }

    #[test]
    fn only_cases_with_both_are_compared() {
        let random = ByCase::from([(7, [1, 10])]);
        let none = compare("eye", "insert_object", &cases(&[5]), &random, &Precision::wilson());
        assert_eq!(none.unwrap(), None);
    }

    /// Cases of which half are crowded: they change more answers, and have fewer guided scenes.
    fn crowded(seed: u64, more: f64) -> Vec<Pair> {
        let mut stream = Seed::new(seed).stream();
        let mut drawn =
            |n: u64, rate: f64| [(0..n).filter(|_| stream.chance(rate)).count() as u64, n];
        (0..60)
            .map(|case| match case % 2 {
                0 => [drawn(4, 0.5 + more), drawn(10, 0.5)],
                _ => [drawn(10, 0.1 + more), drawn(10, 0.1)],
            })
            .collect()
    }

    #[test]
    fn cases_of_unlike_numbers_make_no_difference_of_themselves() {
        let rejected = |more: f64| {
            let p = |seed: u64| permutation_test(&crowded(seed, more), Seed::new(seed));
            (0..60).filter(|&seed| p(seed) < 0.05).count()
        };
        // 5% of 60 are 3; 9 or more come in one of 300 such draws.
        assert!(rejected(0.0) < 9, "{}", rejected(0.0));
        assert!(rejected(0.2) > 50, "{}", rejected(0.2));
    }
}
