//! Where in visual change a target falls below people, and which classes lose most.

use super::super::Mean;
use super::super::tally::Precision;
use super::score::Scored;
use super::{ChangeBin, Diagnosis, Named, WorstClass};
use faultlens_judge::tolerance::Tolerated;
use faultlens_spec::{Metric, Preservation, Preserves};
use faultlens_stats::{self as stats, ScoreSegment, StatsError, compare_with_humans};
use std::collections::BTreeMap;

/// How many stretches visual change is cut into.
const BINS: usize = 20;

/// Classes that are named, and versions that one needs for that.
const MOST_WORST: usize = 5;
const LEAST_VERSIONS: u64 = 5;

/// What is behind a verdict.
pub(super) fn diagnose<'p>(
    one: &Preservation,
    named: &Named<'_>,
    pool: impl Iterator<Item = &'p Vec<Scored>> + Clone,
    precision: &Precision,
) -> Result<Diagnosis, StatsError> {
    let Named { tolerance, tolerated, metric, .. } = named;
    // People chose between classes; other scores are not theirs.
    let comparable = *metric == Metric::Accuracy;
    let originals = tolerance.originals.filter(|_| one.what == Preserves::Correctness);
    let mut curve = Vec::new();
    for at in 0..BINS {
        let edge = |at: usize| at as f64 / BINS as f64;
        let (from, to) = (edge(at), edge(at + 1));
        // What does not change at all belongs to the first stretch.
        let here = |change: f64| change <= to + 1e-9 && (change > from + 1e-9 || at == 0);
        let images = pool.clone().map(|versions| {
            let own = versions.iter().filter(|version| here(version.visual_change));
            own.map(|version| version.after).collect::<Vec<f64>>()
        });
        let images: Vec<Vec<f64>> = images.filter(|own| !own.is_empty()).collect();
        let people = if comparable { people(tolerated, originals, to, &here) } else { None };
        let n = images.iter().map(|own| own.len() as u64).sum();
        curve.push(ChangeBin { from, to, n, score: mean(&images, precision)?, people });
    }
    let beside = |bin: &ChangeBin| {
        let (model, human) = (bin.score.value?, bin.people?);
        Some(ScoreSegment { width: bin.to - bin.from, human, model })
    };
    let beside = compare_with_humans(&curve.iter().filter_map(beside).collect::<Vec<_>>());
    let below =
        |bin: &ChangeBin| bin.n > 0 && bin.people.is_some_and(|human| bin.score.high < human);
    // One stretch of twenty is below by chance; two in a row are not.
    let falls = curve.windows(2).find(|pair| pair.iter().all(below));
    Ok(Diagnosis {
        below_people_from: falls.map(|pair| pair[0].from),
        hmri: beside.map(|beside| beside.reached),
        mrsi: beside.map(|beside| beside.beyond),
        worst: worst(one.what, pool.flatten(), tolerated.at_most),
        curve,
    })
}

/// What people score on a stretch: by their curve, or, where only the threshold is known, as on
/// the originals up to it.
fn people(
    tolerated: &Tolerated,
    originals: Option<f64>,
    to: f64,
    here: &dyn Fn(f64) -> bool,
) -> Option<f64> {
    let bins = tolerated.curve.iter().filter(|bin| here(bin.visual_change));
    let (sum, n) = bins.fold((0.0, 0), |(sum, n), bin| {
        (sum + bin.fitted.clamp(0.0, 1.0) * bin.n as f64, n + bin.n)
    });
    match n {
        0 if tolerated.curve.is_empty() => originals.filter(|_| to <= tolerated.at_most + 1e-9),
        0 => None,
        n => Some(sum / n as f64),
    }
}

/// The mean over versions, with an interval that takes an image for one observation: versions of
/// one image succeed and fail together.
fn mean(images: &[Vec<f64>], precision: &Precision) -> Result<Mean, StatsError> {
    let all: Vec<f64> = images.iter().flatten().copied().collect();
    let value = (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64);
    if all.iter().all(|score| [0.0, 1.0].contains(score)) {
        let n = images.len() as u64;
        let rate = precision.rate((value.unwrap_or(0.0) * n as f64).round() as u64, n)?;
        return Ok(Mean { value, low: rate.low, high: rate.high, n });
    }
    let mut mean = stats::Mean::default();
    images.iter().try_for_each(|own| mean.add(own.iter().sum::<f64>() / own.len() as f64))?;
    let share = stats::Range::Between(0.0, 1.0);
    Ok(Mean { value, ..Mean::of(mean.estimate_in(share, precision.intervals.level)) })
}

fn worst<'p>(
    what: Preserves,
    versions: impl Iterator<Item = &'p Scored>,
    at_most: f64,
) -> Vec<WorstClass> {
    let mut classes: BTreeMap<&str, (f64, f64, u64)> = BTreeMap::new();
    let tolerated = versions.filter(|version| version.visual_change <= at_most);
    for version in tolerated {
        let Some(label) = &version.label else { continue };
        let (before, after, n) = classes.entry(label).or_default();
        (*before, *after, *n) = (*before + version.before, *after + version.after, *n + 1);
    }
    classes.retain(|_, (_, _, n)| *n >= LEAST_VERSIONS);
    let mut worst: Vec<WorstClass> = classes
        .into_iter()
        .map(|(class, (before, after, n))| WorstClass {
            class: class.to_owned(),
            n,
            before: (what == Preserves::Correctness).then_some(before / n as f64),
            after: after / n as f64,
        })
        .collect();
    let lost = |class: &WorstClass| class.before.unwrap_or(1.0) - class.after;
    worst.retain(|class| lost(class) > 0.0);
    worst.sort_by(|a, b| lost(b).total_cmp(&lost(a)));
    worst.truncate(MOST_WORST);
    worst
}
