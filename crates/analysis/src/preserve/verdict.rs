//! The reliability distance and what follows from it.

use super::score::Scored;
use super::{
    BatchMean, BatchNumbers, Diagnosis, Distance, Named, NothingToDraw, Pool, Preserved,
    PreservedReason,
};
use crate::verdict::Verdict;
use faultlens_core::Seed;
use faultlens_spec::{Metric, Preservation, Preserves};
use faultlens_stats::{
    Batches, Reliability, Required, Spread, StatsError, Version, Versions, reliability,
};

/// The share of the least changed versions, which predictions are compared with.
const LEAST_CHANGED: f64 = 0.05;

/// Two draws agree where their distances differ by no more than this.
const AGREE: f64 = 0.02;

/// The suggested number of batches makes two draws agree to this.
const SETTLED_TO: f64 = 0.01;

/// The share of the tolerated range that must have been tried before anything is met.
const ENOUGH: f64 = 0.8;

/// Draws batches and compares; [`reason`] and [`verdict`] interpret the result.
pub(crate) fn checked(
    one: &Preservation,
    named: &Named<'_>,
    pool: &Pool,
    seed: u64,
) -> Result<Preserved, StatsError> {
    let (images, outside) = inside(pool, named.tolerated.at_most);
    let required = match one.what {
        Preserves::Correctness => Required::Originals,
        Preserves::Prediction => Required::LeastChanged(LEAST_CHANGED),
    };
    let batches = Batches { number: one.batches, size: one.batch_size };
    let seed = Seed::new(seed).child("preserve").child(one.what.name()).child(named.fault);
    let draw = |again: u64| {
        let mut stream = seed.at(again).stream();
        reliability(&images, required, batches, move || stream.next_u64())
    };
    // A second draw shows whether there are enough batches.
    let found = if images.is_empty() { None } else { Some((draw(0)?, draw(1)?)) };
    let found = found.as_ref();
    Ok(Preserved {
        name: one.name.clone(),
        requirement: one.to_string(),
        what: one.what.name().to_owned(),
        target: named.target.to_owned(),
        fault: named.fault.to_owned(),
        metric: named.metric.name().to_owned(),
        tolerance: one.tolerance.clone(),
        source: named.tolerance.source.to_string(),
        tolerated: named.tolerated.at_most,
        tolerated_interval: named.tolerated.interval,
        required: found.map(|(found, _)| spread(found.required)),
        reached: found.map(|(found, _)| spread(found.reached)),
        distance: found.map(|(found, again)| distance(found, again, one.alpha)),
        margin: one.margin,
        alpha: one.alpha,
        batches: BatchNumbers {
            number: one.batches as u64,
            size: one.batch_size as u64,
            suggested: found.map_or(0, |(found, _)| found.batches_for(SETTLED_TO)),
        },
        versions: images.iter().map(|image| image.changed.len() as u64).sum(),
        tried_up_to: images
            .iter()
            .flat_map(|image| image.changed.iter().map(|version| version.visual_change))
            .fold(0.0, f64::max),
        images_outside: (pool.versions.len() - images.len()) as u64,
        images: images.len() as u64,
        outside,
        out_of_reach: pool.out_of_reach,
        unknown_change: pool.unknown_change,
        verdict: Verdict::Inconclusive,
        reason: PreservedReason::RunIncomplete,
        ranks: None,
        diagnosis: Diagnosis::default(),
    })
}

/// Images with the versions that people tolerate, and how many versions they do not.
fn inside(pool: &Pool, at_most: f64) -> (Vec<Versions>, u64) {
    let mut images = Vec::new();
    let mut outside = 0;
    for versions in pool.versions.values() {
        let (inside, beyond): (Vec<&Scored>, Vec<&Scored>) =
            versions.iter().partition(|version| version.visual_change <= at_most);
        outside += beyond.len() as u64;
        let Some(first) = inside.first() else { continue };
        let versions = inside
            .iter()
            .map(|version| Version { visual_change: version.visual_change, score: version.after });
        images.push(Versions { original: first.before, changed: versions.collect() });
    }
    (images, outside)
}

fn spread(Spread { mean, deviation }: Spread) -> BatchMean {
    BatchMean { mean, deviation }
}

fn distance(found: &Reliability, again: &Reliability, alpha: f64) -> Distance {
    Distance {
        value: found.distance(),
        deviation: found.deviation(),
        low: found.at_least(alpha),
        high: found.at_most(alpha),
        again: again.distance(),
        settled: (found.distance() - again.distance()).abs() <= AGREE,
    }
}

/// Why the requirement is met or not, or why that is not known.
pub(super) fn reason(
    preserved: &Preserved,
    one: &Preservation,
    metric: Metric,
    whole: bool,
) -> PreservedReason {
    if one.metric.is_some_and(|asked| asked != metric) {
        return PreservedReason::OtherMetric;
    }
    if !one.classes.is_empty() && metric != Metric::Accuracy {
        return PreservedReason::ClassesWithoutAccuracy;
    }
    let Some(distance) = preserved.distance else {
        return PreservedReason::NothingToDraw(nothing_to_draw(preserved, one.what));
    };
    if !whole {
        PreservedReason::RunIncomplete
    } else if distance.high <= preserved.margin {
        if preserved.tried_up_to < ENOUGH * preserved.tolerated {
            PreservedReason::PartOfRangeTried
        } else {
            PreservedReason::WithinMargin
        }
    } else if distance.low > preserved.margin {
        PreservedReason::BeyondMargin
    } else {
        PreservedReason::StraddlesMargin
    }
}

/// The verdict that follows from a reason.
pub(super) fn verdict(reason: PreservedReason) -> Verdict {
    match reason {
        PreservedReason::WithinMargin => Verdict::Met,
        PreservedReason::BeyondMargin => Verdict::NotMet,
        PreservedReason::OtherMetric
        | PreservedReason::ClassesWithoutAccuracy
        | PreservedReason::NothingToDraw(_)
        | PreservedReason::RunIncomplete
        | PreservedReason::PartOfRangeTried
        | PreservedReason::StraddlesMargin => Verdict::Inconclusive,
    }
}

fn nothing_to_draw(preserved: &Preserved, what: Preserves) -> NothingToDraw {
    if preserved.outside + preserved.out_of_reach > 0 {
        NothingToDraw::OutsideTolerance
    } else if preserved.unknown_change > 0 {
        NothingToDraw::VisualChangeUnknown
    } else if what == Preserves::Correctness {
        NothingToDraw::NoTruth
    } else {
        NothingToDraw::NoScore
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_judge::Tolerance;
    use faultlens_judge::tolerance::Tolerated;

    fn one(what: Preserves) -> Preservation {
        Preservation {
            name: None,
            what,
            tolerance: "imagenet-car".to_owned(),
            faults: Vec::new(),
            classes: Vec::new(),
            metric: None,
            alpha: 0.05,
            margin: 0.0,
            batches: 200,
            batch_size: 50,
        }
    }

    const ACCURACY: Metric = Metric::Accuracy;

    /// Images of which this share is right before, and this share after.
    fn pool(before: f64, after: f64) -> Pool {
        let score = |at: u32, share: f64| f64::from(u8::from(f64::from(at) < 400.0 * share));
        let image = |at: u32| {
            let version = |visual_change: f64| Scored {
                visual_change,
                before: score(at, before),
                after: score(at, after),
                label: None,
            };
            (at, vec![version(0.45), version(0.9)])
        };
        Pool { versions: (0..400).map(image).collect(), ..Pool::default() }
    }

    fn check(one: &Preservation, pool: &Pool, at_most: f64, metric: Metric) -> Preserved {
        let tolerance = Tolerance::named("imagenet-car").unwrap();
        let tolerated = Tolerated { at_most, interval: None, curve: Vec::new() };
        let named =
            Named { target: "a", fault: "b", metric, tolerance: &tolerance, tolerated: &tolerated };
        let mut preserved = checked(one, &named, pool, 1).unwrap();
        preserved.reason = reason(&preserved, one, metric, true);
        preserved.verdict = verdict(preserved.reason);
        preserved
    }

    #[test]
    fn better_is_met_worse_is_not_and_the_same_is_not_known() {
        let verdict = |what, before, after, margin| {
            let one = Preservation { margin, ..one(what) };
            check(&one, &pool(before, after), 0.5, Metric::Accuracy)
        };
        let better = verdict(Preserves::Correctness, 0.5, 0.9, 0.0);
        assert_eq!((better.verdict, better.images), (Verdict::Met, 400));
        assert_eq!((better.versions, better.outside), (400, 400));
        let worse = verdict(Preserves::Correctness, 0.9, 0.5, 0.0);
        assert_eq!(worse.verdict, Verdict::NotMet);
        assert!((worse.distance.unwrap().value - 0.4).abs() < 0.02);
        assert!(worse.distance.unwrap().settled);
        let same = verdict(Preserves::Correctness, 0.8, 0.8, 0.0);
        assert_eq!(same.verdict, Verdict::Inconclusive);
        // That no answer changed is no proof that none does, but that few do.
        assert_eq!(verdict(Preserves::Correctness, 1.0, 1.0, 0.0).verdict, Verdict::Inconclusive);
        assert_eq!(verdict(Preserves::Correctness, 1.0, 1.0, 0.01).verdict, Verdict::Met);
        assert_eq!(verdict(Preserves::Prediction, 1.0, 1.0, 0.01).verdict, Verdict::Met);
    }

    #[test]
    fn what_cannot_be_drawn_or_scored_is_said() {
        let what = one(Preserves::Correctness);
        let pool = pool(1.0, 1.0);
        let none = check(&what, &pool, 0.1, Metric::Accuracy);
        assert_eq!((none.verdict, none.outside), (Verdict::Inconclusive, 800));
        assert_eq!(none.images_outside, 400);
        let outside = PreservedReason::NothingToDraw(NothingToDraw::OutsideTolerance);
        assert_eq!(none.reason, outside);
        let better = check(&Preservation { margin: 0.1, ..what.clone() }, &pool, 0.8, ACCURACY);
        assert_eq!(better.verdict, Verdict::Inconclusive);
        assert_eq!(better.reason, PreservedReason::PartOfRangeTried);
        assert_eq!((better.tried_up_to, better.tolerated), (0.45, 0.8));
        let asked = Preservation { metric: Some(Metric::Ap), ..what.clone() };
        let other = check(&asked, &pool, 0.5, Metric::Accuracy);
        assert_eq!(other.reason, PreservedReason::OtherMetric);
        let classes = Preservation { classes: vec!["a".to_owned()], ..what.clone() };
        let classes = check(&classes, &pool, 0.5, Metric::Iou);
        assert_eq!(classes.reason, PreservedReason::ClassesWithoutAccuracy);
        let empty = Pool { unknown_change: 3, ..Pool::default() };
        let unknown = check(&what, &empty, 0.5, Metric::Accuracy);
        let reason = PreservedReason::NothingToDraw(NothingToDraw::VisualChangeUnknown);
        assert_eq!((unknown.verdict, unknown.reason), (Verdict::Inconclusive, reason));
    }
}
