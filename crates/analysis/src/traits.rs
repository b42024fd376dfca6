//! Rates and accuracy by the traits in which targets differ, such as depth and width of networks.

use crate::context::Context;
use crate::estimate::{Precision, Rate, Scope};
use crate::tally::Counts;
use crate::target::TargetSummary;
use faultlens_record::store::ManifestTarget;
use faultlens_stats::StatsError;
use serde::Serialize;
use std::collections::BTreeMap;

/// Rates and accuracy by one trait of targets.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trait {
    /// The trait. From outside; escape it.
    pub name: String,
    /// Its values: numbers in their order.
    pub rows: Vec<TraitRow>,
    /// Along a trait that is a number: a line for each choice of the other traits.
    pub lines: Vec<TraitLine>,
}

/// Targets that have a trait in common.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TraitRow {
    /// The trait's value. From outside; escape it.
    pub value: String,
    /// How many targets have it.
    pub targets: u64,
    /// How often the prediction changed.
    pub rate: Rate,
    /// How many clean predictions are right, where that is known.
    pub accuracy: Option<Rate>,
}

/// Targets that differ in one trait alone.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TraitLine {
    /// What they have in common. From outside; escape it.
    pub name: String,
    /// The value of the trait, and how often the prediction changed.
    pub points: Vec<(f64, Rate)>,
}

/// Every trait in which targets differ.
pub(crate) fn traits(
    context: &Context,
    targets: &[TargetSummary],
    counts: &BTreeMap<u32, Counts>,
    precision: &Precision,
) -> Result<Vec<Trait>, StatsError> {
    let mut traits = Vec::new();
    for name in context.traits() {
        let values = values(name, &context.manifest.targets);
        if values.len() < 2 {
            continue;
        }
        let numbers = values.iter().all(|(value, _)| number(value).is_some());
        let mut rows = Vec::new();
        for (value, which) in values {
            let mut all = Counts::default();
            which.iter().filter_map(|at| counts.get(at)).for_each(|own| all.merge(own));
            rows.push(TraitRow {
                value: value.to_owned(),
                targets: which.len() as u64,
                rate: all.rate(precision, Scope::Whole)?,
                accuracy: accuracy(&which, targets, precision)?,
            });
        }
        let lines =
            if numbers { lines(name, &context.manifest.targets, targets) } else { Vec::new() };
        traits.push(Trait { name: name.to_owned(), rows, lines });
    }
    Ok(traits)
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// The values of a trait with the targets that have them: numbers in their order, before others.
fn values<'a>(name: &str, targets: &'a [ManifestTarget]) -> Vec<(&'a str, Vec<u32>)> {
    let mut values: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (at, target) in (0..).zip(targets) {
        if let Some(value) = target.traits.get(name) {
            values.entry(value).or_default().push(at);
        }
    }
    let mut values: Vec<(&str, Vec<u32>)> = values.into_iter().collect();
    values.sort_by(|(a, _), (b, _)| match (number(a), number(b)) {
        (Some(x), Some(y)) => x.total_cmp(&y).then_with(|| a.cmp(b)),
        (x, y) => y.is_some().cmp(&x.is_some()).then_with(|| a.cmp(b)),
    });
    values
}

fn accuracy(
    which: &[u32],
    targets: &[TargetSummary],
    precision: &Precision,
) -> Result<Option<Rate>, StatsError> {
    let mut right = 0;
    let mut n = 0;
    for accuracy in which.iter().filter_map(|at| targets.get(*at as usize)?.accuracy) {
        right += accuracy.events;
        n += accuracy.n;
    }
    precision.known_rate(right, n)
}

/// A line for each choice of the other traits that has at least two points.
fn lines(name: &str, manifest: &[ManifestTarget], targets: &[TargetSummary]) -> Vec<TraitLine> {
    let mut lines: BTreeMap<String, Vec<(f64, Rate)>> = BTreeMap::new();
    for (target, summary) in manifest.iter().zip(targets) {
        let value = target.traits.get(name).and_then(|value| number(value));
        let Some(value) = value else { continue };
        let others = target.traits.iter().filter(|(other, _)| *other != name);
        let others: Vec<String> = others.map(|(name, value)| format!("{name} {value}")).collect();
        lines.entry(others.join(", ")).or_default().push((value, summary.tally.rate));
    }
    lines.retain(|_, points| points.len() > 1);
    let mut sorted = Vec::new();
    for (name, mut points) in lines {
        points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        sorted.push(TraitLine { name, points });
    }
    sorted
}
