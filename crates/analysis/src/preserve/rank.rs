//! Where targets stand among all under the same requirement and fault.

use super::super::attribute::Context;
use super::{Preserved, Ranks};
use std::collections::BTreeMap;

/// Gives places by reliability distance and by plain accuracy on all originals; `all` are
/// requirements by their place in the campaign.
pub(super) fn rank(all: &mut [(usize, Preserved)], context: &Context) {
    let accuracy: BTreeMap<&str, f64> = (0..)
        .zip(&context.manifest.targets)
        .filter_map(|(at, target)| {
            let known = context.goldens().filter(|golden| golden.target == at);
            let known: Vec<bool> = known.filter_map(|golden| golden.correct).collect();
            let right = known.iter().filter(|right| **right).count();
            (!known.is_empty()).then(|| (&*target.name, right as f64 / known.len() as f64))
        })
        .collect();
    for places in groups(all).into_values() {
        let distance = |at: usize| all[at].1.distance.map(|distance| distance.value);
        let plain = |at: usize| accuracy.get(all[at].1.target.as_str()).map(|right| -right);
        let ranks = places.iter().map(|&at| Ranks {
            distance: place(&places, at, &distance).unwrap_or(0),
            accuracy: place(&places, at, &plain),
            of: places.len() as u64,
        });
        let ranks: Vec<Ranks> = ranks.collect();
        for (&at, ranks) in places.iter().zip(ranks) {
            all[at].1.ranks = Some(ranks);
        }
    }
}

/// Targets with a distance, by requirement and fault.
fn groups(all: &[(usize, Preserved)]) -> BTreeMap<(usize, String), Vec<usize>> {
    let mut groups: BTreeMap<(usize, String), Vec<usize>> = BTreeMap::new();
    for (at, (requirement, one)) in all.iter().enumerate() {
        if one.distance.is_some() {
            groups.entry((*requirement, one.fault.clone())).or_default().push(at);
        }
    }
    groups
}

/// How many have less, and one.
fn place(all: &[usize], at: usize, of: &dyn Fn(usize) -> Option<f64>) -> Option<u64> {
    let own = of(at)?;
    let before = all.iter().filter(|&&other| of(other).is_some_and(|value| value < own));
    Some(1 + before.count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_share_a_place_and_the_unknown_have_none() {
        let values = [Some(0.3), Some(-0.1), None, Some(0.3), Some(0.5)];
        let all: Vec<usize> = (0..values.len()).collect();
        let places: Vec<_> = all.iter().map(|&at| place(&all, at, &|at| values[at])).collect();
        assert_eq!(places, [Some(2), Some(1), None, Some(2), Some(4)]);
    }
}
