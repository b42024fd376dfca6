//! Where in visual change a target falls below people, and which classes lose most.

use super::score::Scored;
use super::{ChangeBin, Diagnosis, Named, WorstClass};
use crate::estimate::{Mean, Precision};
use faultlens_judge::tolerance::Tolerated;
use faultlens_spec::{Metric, Preservation, Preserves};
use faultlens_stats::{self as stats, ScoreSegment, StatsError, compare_with_humans};
use std::collections::BTreeMap;

/// The number of bins of visual change.
const BINS: usize = 20;

/// How many classes are named, and the versions that a class needs for that.
const MOST_WORST: usize = 5;
const LEAST_VERSIONS: u64 = 5;

/// Where and for which classes scores are lost.
pub(crate) fn diagnose<'p>(
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
        let from = at as f64 / BINS as f64;
        let to = (at + 1) as f64 / BINS as f64;
        // The first bin includes its lower edge: versions that are not changed at all.
        let here = |change: f64| change <= to + 1e-9 && (change > from + 1e-9 || at == 0);
        let mut images: Vec<Vec<f64>> = Vec::new();
        for versions in pool.clone() {
            let own = versions.iter().filter(|version| here(version.visual_change));
            let scores: Vec<f64> = own.map(|version| version.after).collect();
            if !scores.is_empty() {
                images.push(scores);
            }
        }
        let people = if comparable { people(tolerated, originals, to, &here) } else { None };
        let n = images.iter().map(|own| own.len() as u64).sum();
        curve.push(ChangeBin { from, to, n, score: mean(&images, precision)?, people });
    }
    let mut segments = Vec::new();
    for bin in &curve {
        if let Some((model, human)) = bin.score.value.zip(bin.people) {
            segments.push(ScoreSegment { width: bin.to - bin.from, human, model });
        }
    }
    let compared = compare_with_humans(&segments);
    // Of twenty bins one is below by chance at the 95% level; two in a row are not.
    let below = curve.windows(2).find(|pair| pair.iter().all(is_below_people));
    Ok(Diagnosis {
        below_people_from: below.map(|pair| pair[0].from),
        hmri: compared.map(|compared| compared.reached),
        mrsi: compared.map(|compared| compared.beyond),
        worst: worst(one.what, pool.flatten(), tolerated.at_most),
        curve,
    })
}

/// Whether the whole interval of the target's score lies below the score of people.
fn is_below_people(bin: &ChangeBin) -> bool {
    bin.n > 0 && bin.people.is_some_and(|human| bin.score.high < human)
}

/// The score of people in a bin: by their curve, or, where only the threshold is known, as on the
/// originals up to it.
fn people(
    tolerated: &Tolerated,
    originals: Option<f64>,
    to: f64,
    here: &dyn Fn(f64) -> bool,
) -> Option<f64> {
    let mut sum = 0.0;
    let mut n = 0;
    for bin in tolerated.curve.iter().filter(|bin| here(bin.visual_change)) {
        sum += bin.fitted.clamp(0.0, 1.0) * bin.n as f64;
        n += bin.n;
    }
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
    Ok(Mean { value, ..Mean::from(mean.estimate_in(share, precision.intervals.level)) })
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
        *before += version.before;
        *after += version.after;
        *n += 1;
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
