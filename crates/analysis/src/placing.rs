//! Whether it matters where objects are put: close to others, or anywhere.

use super::tally::Precision;
use super::{Mean, Rate};
use faultlens_core::Seed;
use faultlens_stats::{Bootstrap, StatsError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Objects put close to others, beside objects put anywhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Placed {
    /// The target.
    pub target: String,
    /// The fault with its settings but for where objects are put.
    pub fault: String,
    /// Scenes that changed the answer, of objects close to others.
    pub guided: Rate,
    /// The same of objects anywhere.
    pub random: Rate,
    /// How much more often in the same case, the mean over cases weighted by what each tells; the
    /// interval is over cases.
    pub difference: Mean,
    /// How likely such a difference is where placing does not matter: both ways of a case swapped;
    /// corrected (Holm) for all that the run compares.
    pub p_value: f64,
}

/// Changed and judged scenes by case.
pub(super) type ByCase = BTreeMap<u32, [u64; 2]>;

/// Changed and judged scenes of one case: of objects close to others, and of objects anywhere.
type Pair = [[u64; 2]; 2];

/// How often cases are drawn again, or swapped.
const DRAWS: usize = 2000;

/// Fewer cases than this say nothing of cases in general.
const FEWEST: usize = 4;

/// Changed and judged scenes of all cases.
pub(super) fn counts(cases: &ByCase) -> [u64; 2] {
    cases.values().fold([0, 0], |[a, b], [changed, n]| [a + changed, b + n])
}

/// Both ways of placing, over the cases that have both; of a target and the label of the point that
/// puts objects anywhere. `None` where such cases are too few.
pub(super) fn beside(
    (target, label): (&str, &str),
    [guided, random]: [&ByCase; 2],
    precision: &Precision,
) -> Result<Option<Placed>, StatsError> {
    let both = guided.iter();
    let both: Vec<Pair> = both.filter_map(|(case, own)| Some([*own, *random.get(case)?])).collect();
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
    let rate = |way: usize| {
        let sum = |i: usize| both.iter().map(|pair| pair[way][i]).sum();
        precision.rate(sum(0), sum(1))
    };
    Ok(Some(Placed {
        target: target.to_owned(),
        fault: words_but(label, "placing=random"),
        guided: rate(0)?,
        random: rate(1)?,
        difference: Mean::of(estimate),
        p_value: swapped(&both, seed.child("swapped")),
    }))
}

/// How much more often objects close to others change an answer, within cases: a case with many
/// scenes of one kind and few of the other must not decide by that. Weighted as Mantel and Haenszel
/// weigh differences.
fn difference(pairs: impl Iterator<Item = Pair>) -> f64 {
    let (sum, weights) = pairs.fold((0.0, 0.0), |(sum, weights), [guided, random]| {
        let [n, m] = [guided[1] as f64, random[1] as f64];
        let weight = n * m / (n + m);
        let own = guided[0] as f64 / n - random[0] as f64 / m;
        (sum + weight * own, weights + weight)
    });
    sum / weights
}

/// The label without one of its words.
fn words_but(label: &str, word: &str) -> String {
    label.split(' ').filter(|own| *own != word).collect::<Vec<_>>().join(" ")
}

/// How often a difference at least as large comes of swapping the two ways of cases at random.
fn swapped(both: &[Pair], seed: Seed) -> f64 {
    let observed = difference(both.iter().copied()).abs();
    let mut stream = seed.stream();
    let mut turned = || {
        let pairs = both.iter().map(|&[a, b]| if stream.chance(0.5) { [b, a] } else { [a, b] });
        difference(pairs).abs()
    };
    let as_far = (0..DRAWS).filter(|_| turned() >= observed - 1e-12).count();
    (as_far + 1) as f64 / (DRAWS + 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_spec::{Intervals, Method};
    use faultlens_stats::Level;

    fn cases(changed: &[u64]) -> ByCase {
        (0..).zip(changed).map(|(case, changed)| (case, [*changed, 10])).collect()
    }

    fn precision() -> Precision {
        let intervals = Intervals { method: Method::Wilson, level: Level::new(0.95).unwrap() };
        Precision { intervals, sequential: false }
    }

    fn told(guided: &[u64], random: &[u64]) -> Placed {
        let of = ("eye", "insert_object placing=random towards=centre");
        beside(of, [&cases(guided), &cases(random)], &precision()).unwrap().unwrap()
    }

    #[test]
    fn a_difference_in_every_case_is_told() {
        let one = told(&[5; 12], &[2; 12]);
        assert_eq!(one.fault, "insert_object towards=centre");
        assert_eq!((one.guided.events, one.guided.n, one.random.events), (60, 120, 24));
        assert!((one.difference.value.unwrap() - 0.3).abs() < 1e-12);
        // Of 4,096 ways to swap twelve cases two are as far apart as this.
        assert!(one.p_value < 0.005, "{}", one.p_value);
        let same = told(&[5, 0, 3, 2], &[0, 5, 2, 3]);
        assert_eq!((same.difference.value, same.p_value), (Some(0.0), 1.0));
    }

    #[test]
    fn only_cases_with_both_are_compared() {
        let (guided, random) = (cases(&[5]), ByCase::from([(7, [1, 10])]));
        let none = beside(("eye", "insert_object"), [&guided, &random], &precision()).unwrap();
        assert_eq!(none, None);
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
            let p = |seed: u64| swapped(&crowded(seed, more), Seed::new(seed));
            (0..60).filter(|&seed| p(seed) < 0.05).count()
        };
        // 5% of 60 are 3; 9 or more come in one of 300 such draws.
        assert!(rejected(0.0) < 9, "{}", rejected(0.0));
        assert!(rejected(0.2) > 50, "{}", rejected(0.2));
    }
}
