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
    /// How much more often; the interval is over cases.
    pub difference: Mean,
    /// How likely such a difference is where placing does not matter: both ways of a case swapped;
    /// corrected (Holm) for all that the run compares.
    pub p_value: f64,
}

/// Changed and judged scenes by case.
pub(super) type ByCase = BTreeMap<u32, [u64; 2]>;

/// How often cases are drawn again, or swapped.
const DRAWS: usize = 2000;

/// Changed and judged scenes of all cases.
pub(super) fn counts(cases: &ByCase) -> [u64; 2] {
    cases.values().fold([0, 0], |[a, b], [changed, n]| [a + changed, b + n])
}

/// Both ways of placing, over the cases that have both; of a target and the label of the point that
/// puts objects anywhere.
pub(super) fn beside(
    (target, label): (&str, &str),
    [guided, random]: [&ByCase; 2],
    precision: &Precision,
) -> Result<Option<Placed>, StatsError> {
    let both = guided.iter();
    let both: Vec<[[u64; 2]; 2]> =
        both.filter_map(|(case, own)| Some([*own, *random.get(case)?])).collect();
    if both.is_empty() {
        return Ok(None);
    }
    let rate = |of: usize, at: &mut dyn Iterator<Item = usize>| {
        let [changed, n] = at.fold([0, 0], |[a, b], i| [a + both[i][of][0], b + both[i][of][1]]);
        changed as f64 / (n as f64).max(1.0)
    };
    let difference =
        |at: &[usize]| rate(0, &mut at.iter().copied()) - rate(1, &mut at.iter().copied());
    let seed = Seed::new(0).child("placing");
    let mut stream = seed.child("cases").stream();
    let estimate = Bootstrap::new(DRAWS, precision.intervals.level)?.percentile(
        both.len(),
        || stream.next_u64(),
        difference,
    )?;
    let [guided, random] = [guided, random].map(counts);
    Ok(Some(Placed {
        target: target.to_owned(),
        fault: words_but(label, "placing=random"),
        guided: precision.rate(guided[0], guided[1])?,
        random: precision.rate(random[0], random[1])?,
        difference: Mean::of(estimate),
        p_value: swapped(&both, seed.child("swapped")),
    }))
}

/// The label without one of its words.
fn words_but(label: &str, word: &str) -> String {
    label.split(' ').filter(|own| *own != word).collect::<Vec<_>>().join(" ")
}

/// How often a difference at least as large comes of swapping the two ways of cases at random.
fn swapped(both: &[[[u64; 2]; 2]], seed: Seed) -> f64 {
    let difference = |swap: &mut dyn FnMut() -> bool| {
        let mut sums = [[0u64; 2]; 2];
        for pair in both {
            let turned = usize::from(swap());
            for way in 0..2 {
                for i in 0..2 {
                    sums[way][i] += pair[way ^ turned][i];
                }
            }
        }
        let [a, b] = sums.map(|[changed, n]| changed as f64 / (n as f64).max(1.0));
        (a - b).abs()
    };
    let observed = difference(&mut || false);
    let mut stream = seed.stream();
    let as_far =
        (0..DRAWS).filter(|_| difference(&mut || stream.chance(0.5)) >= observed - 1e-12).count();
    (as_far + 1) as f64 / (DRAWS + 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Intervals, Method};
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
}
