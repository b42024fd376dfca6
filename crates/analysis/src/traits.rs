//! Rates and accuracy by what tells targets apart, such as depth and width of networks.

use super::attribute::Context;
use super::tally::{Counts, Of, Precision};
use super::{Rate, TargetSummary, Trait, TraitLine, TraitRow};
use faultlens_record::store::ManifestTarget;
use faultlens_stats::StatsError;
use std::collections::BTreeMap;

/// A section for each trait that targets differ in.
pub(super) fn traits(
    context: &Context,
    targets: &[TargetSummary],
    counts: &BTreeMap<u32, Counts>,
    precision: &Precision,
) -> Result<Vec<Trait>, StatsError> {
    let mut sections = Vec::new();
    for name in context.traits() {
        let values = values(name, &context.manifest.targets);
        if values.len() < 2 {
            continue;
        }
        let row = |(value, which): &(&str, Vec<u32>)| {
            let mut all = Counts::default();
            which.iter().filter_map(|at| counts.get(at)).for_each(|own| all.merge(own));
            let accuracy = accuracy(which, targets, precision)?;
            let (value, rate) = ((*value).to_owned(), all.rate(precision, Of::Whole)?);
            Ok(TraitRow { value, targets: which.len() as u64, rate, accuracy })
        };
        let numbers = values.iter().all(|(value, _)| number(value).is_some());
        sections.push(Trait {
            name: name.to_owned(),
            rows: values.iter().map(row).collect::<Result<_, StatsError>>()?,
            lines: if numbers { lines(name, &context.manifest.targets, targets) } else { vec![] },
        });
    }
    Ok(sections)
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
    let known = which.iter().filter_map(|at| targets.get(*at as usize)?.accuracy);
    let (right, n) = known.fold((0, 0), |(right, n), own| (right + own.events, n + own.n));
    (n > 0).then(|| precision.rate(right, n)).transpose()
}

/// A line for each choice of the other traits that has at least two points.
fn lines(name: &str, manifest: &[ManifestTarget], targets: &[TargetSummary]) -> Vec<TraitLine> {
    let mut lines: BTreeMap<String, Vec<(f64, Rate)>> = BTreeMap::new();
    for (target, summary) in manifest.iter().zip(targets) {
        let place = target.traits.get(name).and_then(|value| number(value));
        let Some(place) = place else { continue };
        let others = target.traits.iter().filter(|(other, _)| *other != name);
        let others: Vec<String> = others.map(|(name, value)| format!("{name} {value}")).collect();
        lines.entry(others.join(", ")).or_default().push((place, summary.tally.rate));
    }
    lines.retain(|_, points| points.len() > 1);
    let line = |(name, mut points): (String, Vec<(f64, Rate)>)| {
        points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        TraitLine { name, points }
    };
    lines.into_iter().map(line).collect()
}
