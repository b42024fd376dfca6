//! Ranks of targets under the same requirement and fault.

use super::{Preserved, Ranks};
use crate::context::Context;
use std::collections::BTreeMap;

/// Ranks targets by difference and by plain accuracy on all originals; `all` are
/// requirements by their index in the campaign.
pub(crate) fn rank(all: &mut [(usize, Preserved)], context: &Context) {
    let mut accuracy: BTreeMap<&str, f64> = BTreeMap::new();
    for (at, target) in (0..).zip(&context.manifest.targets) {
        let (right, n) = context.clean_accuracy(at);
        if n > 0 {
            accuracy.insert(&target.name, right as f64 / n as f64);
        }
    }
    for members in groups(all).into_values() {
        // The lowest value has rank 1: a small loss, a high accuracy.
        let mut losses = Vec::new();
        let mut errors = Vec::new();
        for &at in &members {
            let one = &all[at].1;
            losses.push(one.difference.map(|difference| -difference.value));
            errors.push(accuracy.get(one.target.as_str()).map(|right| -right));
        }
        for (place, &at) in members.iter().enumerate() {
            all[at].1.ranks = Some(Ranks {
                difference: rank_of(&losses, place).unwrap_or(0),
                accuracy: rank_of(&errors, place),
                of: members.len() as u64,
            });
        }
    }
}

/// Targets with a difference, by requirement and fault.
fn groups(all: &[(usize, Preserved)]) -> BTreeMap<(usize, String), Vec<usize>> {
    let mut groups: BTreeMap<(usize, String), Vec<usize>> = BTreeMap::new();
    for (at, (requirement, one)) in all.iter().enumerate() {
        if one.difference.is_some() {
            groups.entry((*requirement, one.fault.clone())).or_default().push(at);
        }
    }
    groups
}

/// One more than the number of lower values, so that equal values share a rank; `None` where the
/// value is unknown.
fn rank_of(values: &[Option<f64>], at: usize) -> Option<u64> {
    let own = values[at]?;
    let lower = values.iter().filter(|value| value.is_some_and(|value| value < own));
    Some(1 + lower.count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_share_a_rank_and_the_unknown_have_none() {
        let values = [Some(0.3), Some(-0.1), None, Some(0.3), Some(0.5)];
        let ranks: Vec<_> = (0..values.len()).map(|at| rank_of(&values, at)).collect();
        assert_eq!(ranks, [Some(2), Some(1), None, Some(2), Some(4)]);
    }
}
