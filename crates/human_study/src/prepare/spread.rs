//! Which picture is changed how much, so that a fault's versions are spread evenly over visual
//! change although no fault reaches as far in every picture.

use faultlens_core::Seed;

/// The min and the max visual change of a fault in one picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reach {
    pub(super) min: f64,
    pub(super) max: f64,
}

/// Bins of a tolerance are as wide, and count only with more answers than this.
const BIN: f64 = 0.01;
const TOO_FEW: usize = 10;

/// By picture, the visual change that is wanted: even steps over the range that any of them
/// reaches. A step has as many pictures as it takes for its bin to count, so that few pictures
/// make few bins instead of none.
///
/// Greedy: the highest step is assigned first, to a picture that reaches it; steps that no picture
/// reaches stay unassigned, and remaining pictures get any step within their reach.
pub(super) fn wanted(reaches: &[Reach], answers: usize, seed: Seed) -> Vec<f64> {
    let mut stream = seed.stream();
    let per_step = TOO_FEW / answers.max(1) + 1;
    let top = reaches.iter().map(|reach| reach.max).fold(0.0, f64::max);
    let steps = (reaches.len() / per_step).max(1);
    let middles: Vec<f64> = (0..steps).map(|step| middle(step, steps, top)).collect();
    let mut wanted: Vec<Option<f64>> = vec![None; reaches.len()];
    for picture in (0..reaches.len()).rev() {
        let change = middles[(picture / per_step).min(steps - 1)];
        let able = |at: &usize| wanted[*at].is_none() && reaches[*at].holds(change);
        let able: Vec<usize> = (0..reaches.len()).filter(able).collect();
        if let Some(&at) = stream.pick(&able) {
            wanted[at] = Some(change);
        }
    }
    let left = wanted.into_iter().zip(reaches);
    left.map(|(wanted, reach)| {
        let within: Vec<f64> = middles.iter().copied().filter(|&at| reach.holds(at)).collect();
        let any = stream.between(reach.min, reach.max);
        wanted.or_else(|| stream.pick(&within).copied()).unwrap_or(any)
    })
    .collect()
}

impl Reach {
    fn holds(&self, change: f64) -> bool {
        (self.min..=self.max).contains(&change)
    }
}

/// The middle of the bin that a step falls into.
fn middle(step: usize, steps: usize, top: f64) -> f64 {
    let change = top * (step as f64 + 0.5) / steps as f64;
    ((change / BIN).floor() + 0.5) * BIN
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn some(count: usize) -> Vec<Reach> {
        let mut stream = Seed::new(5).stream();
        (0..count).map(|_| Reach { min: 0.0, max: 0.2 + 0.8 * stream.uniform() }).collect()
    }

    #[test]
    fn every_part_of_the_range_is_given_to_those_who_reach_it() {
        let reaches = some(200);
        let wanted = wanted(&reaches, 5, Seed::new(2));
        assert!(wanted.iter().zip(&reaches).all(|(change, reach)| reach.holds(*change)));
        let mut tenths = [0; 10];
        wanted.iter().for_each(|change| tenths[(change * 10.0) as usize] += 1);
        // An even share of 200 is 20; in the last tenth there are only those that reach it.
        assert!(tenths[..9].iter().all(|count| (12..=30).contains(count)), "{tenths:?}");
    }

    #[test]
    fn bins_have_more_than_ten_answers_however_few_pictures_there_are() {
        for (count, answers) in [(12, 5), (60, 5), (200, 5), (60, 3), (60, 20)] {
            let reaches = vec![Reach { min: 0.0, max: 1.0 }; count];
            let mut bins: BTreeMap<u64, usize> = BTreeMap::new();
            for change in wanted(&reaches, answers, Seed::new(2)) {
                *bins.entry((change * 100.0) as u64).or_default() += answers;
            }
            assert!(bins.values().all(|&answers| answers > 10), "{count} {answers}: {bins:?}");
            assert!(bins.len() >= (count * answers / 15).min(60), "{count} {answers}: {bins:?}");
        }
    }

    #[test]
    fn what_nobody_reaches_is_not_asked_for() {
        let flat = Reach { min: 0.3, max: 0.3 };
        assert_eq!(wanted(&[flat; 3], 5, Seed::new(1)), [0.3; 3]);
        assert!(wanted(&[], 5, Seed::new(1)).is_empty());
    }
}
