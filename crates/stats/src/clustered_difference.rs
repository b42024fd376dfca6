use crate::clustered::{ClusterSums, Clustered, Formula};
use crate::crossed::Crossed;
use crate::error::StatsError;
use crate::estimate::{Estimate, Level};
use crate::permutation::{permutation, sign_flip};
use std::collections::BTreeMap;

/// The second rate less the first, with an interval for new clusters (images): that of Newcombe
/// (1998, Stat. Med. 17:2635–2650), from the ends of both clustered rates and their correlation
/// (MOVER: Zou and Donner 2008).
///
/// Clusters that both have tell how the rates move together: two targets that fail on the same
/// images differ by less than their own intervals suggest. Samples without a common cluster are
/// independent.
///
/// # Errors
/// More than 10¹⁰ trials.
pub fn clustered_difference(
    first: &Clustered,
    second: &Clustered,
    level: Level,
) -> Result<Estimate, StatsError> {
    let a = first.estimate(Formula::Wilson, level)?;
    let b = second.estimate(Formula::Wilson, level)?;
    let n = a.n + b.n;
    let (Some(from), Some(to)) = (a.value, b.value) else {
        return Ok(Estimate { value: None, low: -1.0, high: 1.0, n });
    };
    let together = correlation(first, second, from, to);
    let below = distance(to - b.low, a.high - from, together);
    let above = distance(b.high - to, from - a.low, together);
    let value = to - from;
    let low = (value - below).max(-1.0);
    let high = (value + above).min(1.0);
    Ok(Estimate { value: Some(value), low, high, n })
}

/// The same where trials share permanent faults with those of other images: how far the difference
/// may lie off by image and by fault adds up as independent errors do, which makes the interval
/// rather too wide.
///
/// # Errors
/// More than 10¹⁰ trials.
pub fn crossed_difference(
    first: &Crossed,
    second: &Crossed,
    level: Level,
) -> Result<Estimate, StatsError> {
    let by_image = clustered_difference(first.first(), second.first(), level)?;
    let by_fault = clustered_difference(first.second(), second.second(), level)?;
    let (Some(value), Some(shared)) = (by_image.value, by_fault.value) else {
        return Ok(by_image);
    };
    let below = (value - by_image.low).hypot(shared - by_fault.low);
    let above = (by_image.high - value).hypot(by_fault.high - shared);
    let low = (value - below).max(-1.0);
    let high = (value + above).min(1.0);
    Ok(Estimate { low, high, ..by_image })
}

/// How far a difference may lie off, where its parts may lie off so far and move together.
fn distance(one: f64, other: f64, together: f64) -> f64 {
    // Rounding may leave a hair less than nothing.
    (one * one - 2.0 * together * one * other + other * other).max(0.0).sqrt()
}

/// The correlation of two rates from cluster to cluster, by linearisation.
fn correlation(first: &Clustered, second: &Clustered, from: f64, to: f64) -> f64 {
    let mut product = 0.0;
    let mut squares = [0.0, 0.0];
    for (a, b) in side_by_side(first, second) {
        let a = a.map_or(0.0, |sums| sums.events - from * sums.weights);
        let b = b.map_or(0.0, |sums| sums.events - to * sums.weights);
        product += a * b;
        squares[0] += a * a;
        squares[1] += b * b;
    }
    let scale = (squares[0] * squares[1]).sqrt();
    if scale > 0.0 { (product / scale).clamp(-1.0, 1.0) } else { 0.0 }
}

/// Every cluster of either sample with its trials in both.
fn side_by_side(
    first: &Clustered,
    second: &Clustered,
) -> Vec<(Option<ClusterSums>, Option<ClusterSums>)> {
    let mut pairs: BTreeMap<u64, (Option<ClusterSums>, Option<ClusterSums>)> = BTreeMap::new();
    for (cluster, sums) in first.clusters() {
        pairs.entry(cluster).or_default().0 = Some(sums);
    }
    for (cluster, sums) in second.clusters() {
        pairs.entry(cluster).or_default().1 = Some(sums);
    }
    pairs.into_values().collect()
}

/// The chance that two rates differ as much where neither is higher, for clusters (images) as the
/// sample: [`sign_flip`] over the differences within clusters that both have, or [`permutation`] of
/// clusters where they have none in common. 1 without anything to compare.
pub fn clustered_test(first: &Clustered, second: &Clustered, draw: impl FnMut() -> u64) -> f64 {
    let mut differences = Vec::new();
    let mut apart = [Vec::new(), Vec::new()];
    for pair in side_by_side(first, second) {
        match pair {
            (Some(a), Some(b)) => {
                // A cluster with few trials on one side says little, whatever the other side has.
                let weight = a.weights * b.weights / (a.weights + b.weights);
                differences.push(weight * (b.events / b.weights - a.events / a.weights));
            }
            (Some(a), None) => apart[0].push(a.events / a.weights),
            (None, Some(b)) => apart[1].push(b.events / b.weights),
            (None, None) => {}
        }
    }
    if differences.is_empty() {
        return permutation(&apart[0], &apart[1], draw);
    }
    sign_flip(&differences, draw)
}
