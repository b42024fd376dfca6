//! The difference between what is reached and what is required, and what follows from it.

use super::batches::batch_rule;
use super::score::Scored;
use super::{
    AtEnd, BatchRule, Diagnosis, Named, NothingToDraw, Pool, Preserved, PreservedReason,
    ScoreDifference,
};
use crate::missing::Missing;
use crate::verdict::Verdict;
use faultlens_core::Seed;
use faultlens_spec::{Metric, Preservation, PreserveRule, Preserves};
use faultlens_stats::{
    ImageDifference, Level, Required, StatsError, Version, Versions, difference_by_image,
};

/// The share of the least changed versions, which predictions are compared with.
const LEAST_CHANGED: f64 = 0.05;

/// The share of the tolerated range that must have been tried before anything is met.
const ENOUGH: f64 = 0.8;

/// Fewer images say nothing about new ones.
const MIN_IMAGES: usize = 10;

/// Compares scores by image and over batches, at what people tolerate and at both ends of its
/// interval, and says what follows.
pub(crate) fn checked(
    one: &Preservation,
    named: &Named<'_>,
    pool: &Pool,
    seed: u64,
    missing: Option<Missing>,
) -> Result<Preserved, StatsError> {
    let seed = Seed::new(seed).child("preserve").child(one.what.name()).child(named.fault);
    let found = Measured::of(one, pool, named.tolerated.at_most, seed)?;
    let mut ends = Vec::new();
    for at_most in named.tolerated.ends().into_iter().flatten() {
        ends.push(Measured::of(one, pool, at_most, seed)?.at_end(one));
    }
    let mut reason = reason(&found, one, named.metric, pool, missing);
    if one.both_ends && ends.iter().any(|end| decided_otherwise(end, reason)) {
        reason = PreservedReason::EndsDiffer;
    }
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
        ends,
        both_ends: one.both_ends,
        population: match one.rule {
            PreserveRule::Images => "new_images",
            PreserveRule::Batches => "batches",
        },
        rule: one.rule.name(),
        required: found.scores.map(|scores| scores.required),
        reached: found.scores.map(|scores| scores.reached),
        difference: found.difference(),
        margin: one.margin,
        alpha: one.alpha,
        batch_rule: found.batch_rule,
        tried_up_to: found.tried_up_to,
        images: found.images,
        images_outside: pool.versions.len() as u64 - found.images,
        versions: found.versions,
        outside: found.outside,
        out_of_reach: pool.out_of_reach,
        unknown_change: pool.unknown_change,
        missing: missing.unwrap_or_default(),
        verdict: verdict(reason),
        reason,
        ranks: None,
        diagnosis: Diagnosis::default(),
    })
}

/// Whether an end calls a requirement met or not met that has another verdict there.
fn decided_otherwise(end: &AtEnd, reason: PreservedReason) -> bool {
    let decided = verdict(reason);
    decided != Verdict::Inconclusive && end.verdict != decided
}

/// What the versions up to a visual change say.
struct Measured {
    at_most: f64,
    /// Images with such a version.
    images: u64,
    versions: u64,
    /// Versions that are changed more.
    outside: u64,
    tried_up_to: f64,
    /// `None` without images.
    scores: Option<ImageDifference>,
    batch_rule: Option<BatchRule>,
}

impl Measured {
    fn of(one: &Preservation, pool: &Pool, at_most: f64, seed: Seed) -> Result<Self, StatsError> {
        let (images, outside) = inside(pool, at_most);
        let required = match one.what {
            Preserves::Correctness => Required::Originals,
            Preserves::Prediction => Required::LeastChanged(LEAST_CHANGED),
        };
        // The requirement's own error where images decide, else that of a 95% interval.
        let alpha = match one.rule {
            PreserveRule::Images => one.alpha,
            PreserveRule::Batches => PreserveRule::Images.default_alpha(),
        };
        let mut scores = None;
        let mut batches = None;
        if !images.is_empty() {
            let level = Level::new(1.0 - 2.0 * alpha)?;
            scores = Some(difference_by_image(&images, required, level)?);
            batches = Some(batch_rule(one, &images, required, seed)?);
        }
        let versions = images.iter().flat_map(|image| &image.changed);
        Ok(Self {
            at_most,
            images: images.len() as u64,
            versions: versions.clone().count() as u64,
            outside,
            tried_up_to: versions.map(|version| version.visual_change).fold(0.0, f64::max),
            scores,
            batch_rule: batches,
        })
    }

    /// The difference, with an interval where there are enough images for one.
    fn difference(&self) -> Option<ScoreDifference> {
        let ImageDifference { value, low, high, images, .. } = self.scores?;
        let enough = images >= MIN_IMAGES as u64;
        let low = enough.then_some(low);
        let high = enough.then_some(high);
        Some(ScoreDifference { value, low, high })
    }

    /// Whether the margin is kept; `None` without a version that counts.
    fn decided(&self, one: &Preservation) -> Option<PreservedReason> {
        let difference = self.difference()?;
        let reason = match one.rule {
            PreserveRule::Images => by_image(difference, one.margin),
            PreserveRule::Batches => by_batches(self.batch_rule.as_ref()?),
        };
        Some(match reason {
            PreservedReason::WithinMargin if self.tried_up_to < ENOUGH * self.at_most => {
                PreservedReason::PartOfRangeTried
            }
            reason => reason,
        })
    }

    /// What would follow if this were what people tolerate.
    fn at_end(&self, one: &Preservation) -> AtEnd {
        let reason = self.decided(one);
        AtEnd {
            at_most: self.at_most,
            tried_up_to: self.tried_up_to,
            difference: self.difference(),
            verdict: reason.map_or(Verdict::Inconclusive, verdict),
            part_tried: reason == Some(PreservedReason::PartOfRangeTried),
        }
    }
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

/// Why the requirement is met or not, or why that is not known.
fn reason(
    found: &Measured,
    one: &Preservation,
    metric: Metric,
    pool: &Pool,
    missing: Option<Missing>,
) -> PreservedReason {
    if one.metric.is_some_and(|asked| asked != metric) {
        return PreservedReason::OtherMetric;
    }
    if !one.classes.is_empty() && metric != Metric::Accuracy {
        return PreservedReason::ClassesWithoutAccuracy;
    }
    match found.decided(one) {
        None => PreservedReason::NothingToDraw(nothing_to_draw(found, pool, one.what)),
        Some(reason) => match missing {
            None => PreservedReason::RunIncomplete,
            Some(missing) if missing.is_too_much() => PreservedReason::TooManyMissing,
            Some(_) => reason,
        },
    }
}

/// The test of non-inferiority: the interval of the difference against minus the margin.
fn by_image(difference: ScoreDifference, margin: f64) -> PreservedReason {
    let Some((low, high)) = difference.low.zip(difference.high) else {
        return PreservedReason::TooFewImages;
    };
    if low > -margin {
        PreservedReason::WithinMargin
    } else if high < -margin {
        PreservedReason::BeyondMargin
    } else {
        PreservedReason::StraddlesMargin
    }
}

fn by_batches(rule: &BatchRule) -> PreservedReason {
    match rule.verdict {
        Verdict::Met => PreservedReason::WithinMargin,
        Verdict::NotMet => PreservedReason::BeyondMargin,
        Verdict::Inconclusive => PreservedReason::StraddlesMargin,
    }
}

/// The verdict that follows from a reason.
fn verdict(reason: PreservedReason) -> Verdict {
    match reason {
        PreservedReason::WithinMargin => Verdict::Met,
        PreservedReason::BeyondMargin => Verdict::NotMet,
        PreservedReason::OtherMetric
        | PreservedReason::ClassesWithoutAccuracy
        | PreservedReason::NothingToDraw(_)
        | PreservedReason::RunIncomplete
        | PreservedReason::TooManyMissing
        | PreservedReason::TooFewImages
        | PreservedReason::EndsDiffer
        | PreservedReason::PartOfRangeTried
        | PreservedReason::StraddlesMargin => Verdict::Inconclusive,
    }
}

fn nothing_to_draw(found: &Measured, pool: &Pool, what: Preserves) -> NothingToDraw {
    if found.outside + pool.out_of_reach > 0 {
        NothingToDraw::OutsideTolerance
    } else if pool.unknown_change > 0 {
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
    use faultlens_core::{Outcome, Reason};
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
            rule: PreserveRule::Images,
            alpha: 0.025,
            margin: 0.02,
            both_ends: true,
            batches: 200,
            batch_size: 50,
            max_skipped: 0.05,
        }
    }

    const ACCURACY: Metric = Metric::Accuracy;

    /// So many images, of which this share is right before, and this share after.
    fn images(n: u32, before: f64, after: f64) -> Pool {
        let score =
            |at: u32, share: f64| f64::from(u8::from(f64::from(at) + 0.5 < f64::from(n) * share));
        let image = |at: u32| {
            let version = |visual_change: f64| Scored {
                visual_change,
                before: score(at, before),
                after: score(at, after),
                label: None,
            };
            (at, vec![version(0.45), version(0.9)])
        };
        Pool { versions: (0..n).map(image).collect(), ..Pool::default() }
    }

    fn pool(before: f64, after: f64) -> Pool {
        images(400, before, after)
    }

    fn check(one: &Preservation, pool: &Pool, at_most: f64, metric: Metric) -> Preserved {
        check_within(one, pool, at_most, None, metric)
    }

    fn check_within(
        one: &Preservation,
        pool: &Pool,
        at_most: f64,
        interval: Option<(f64, f64)>,
        metric: Metric,
    ) -> Preserved {
        let tolerance = Tolerance::named("imagenet-car").unwrap();
        let tolerated = Tolerated { at_most, interval, curve: Vec::new() };
        let named =
            Named { target: "a", fault: "b", metric, tolerance: &tolerance, tolerated: &tolerated };
        let missing = pool.evident.missing(0, one.max_skipped);
        checked(one, &named, pool, 1, Some(missing)).unwrap()
    }

    /// Where versions up to 0.45 keep everything and those at 0.9 lose everything, what people
    /// tolerate decides the verdict; where that is uncertain, there is none.
    #[test]
    fn a_verdict_holds_at_both_ends_of_what_people_tolerate() {
        let mut pool = pool(1.0, 1.0);
        for versions in pool.versions.values_mut() {
            versions[1].after = 0.0;
        }
        let one = one(Preserves::Correctness);
        let at = |at_most, interval| check_within(&one, &pool, at_most, interval, ACCURACY);
        let sure = at(0.5, Some((0.46, 0.55)));
        assert_eq!((sure.verdict, sure.ends.len()), (Verdict::Met, 2));
        assert_eq!(at(0.95, Some((0.9, 1.0))).verdict, Verdict::NotMet);
        let unsure = at(0.5, Some((0.46, 0.95)));
        assert_eq!(unsure.reason, PreservedReason::EndsDiffer);
        let ends: Vec<Verdict> = unsure.ends.iter().map(|end| end.verdict).collect();
        assert_eq!(ends, [Verdict::Met, Verdict::NotMet]);
        // Asked for as published, the value alone decides, and the ends are still reported.
        let stated = Preservation { both_ends: false, ..one.clone() };
        let stated = check_within(&stated, &pool, 0.5, Some((0.46, 0.95)), ACCURACY);
        assert_eq!((stated.verdict, stated.ends.len()), (Verdict::Met, 2));
        // Nothing was tried where people may still tolerate it.
        for versions in pool.versions.values_mut() {
            versions.truncate(1);
        }
        let part = check_within(&one, &pool, 0.5, Some((0.46, 0.8)), ACCURACY);
        assert_eq!(part.reason, PreservedReason::EndsDiffer);
        assert!(part.ends[1].part_tried && !part.ends[0].part_tried);
        // No version is changed as little as the lower end.
        let none = check_within(&one, &pool, 0.5, Some((0.1, 0.5)), ACCURACY);
        assert_eq!((none.reason, none.ends[0].difference), (PreservedReason::EndsDiffer, None));
    }

    #[test]
    fn too_many_missing_trials_decide_nothing() {
        let one = one(Preserves::Correctness);
        let mut pool = pool(0.5, 0.9);
        for _ in 0..800 {
            pool.evident.count(&Outcome::Unchanged);
        }
        for _ in 0..42 {
            pool.evident.count(&Outcome::Skipped(Reason::NoResponse));
        }
        assert_eq!(check(&one, &pool, 0.5, ACCURACY).verdict, Verdict::Met);
        pool.evident.count(&Outcome::Skipped(Reason::CaseUnreadable));
        let found = check(&one, &pool, 0.5, ACCURACY);
        assert_eq!(found.reason, PreservedReason::TooManyMissing);
        assert_eq!((found.verdict, found.missing.skipped), (Verdict::Inconclusive, 43));
        let patient = Preservation { max_skipped: 0.1, ..one };
        assert_eq!(check(&patient, &pool, 0.5, ACCURACY).verdict, Verdict::Met);
    }

    #[test]
    fn better_is_met_worse_is_not_and_a_little_worse_is_within_the_margin() {
        let verdict = |what, before, after, margin| {
            let one = Preservation { margin, ..one(what) };
            check(&one, &pool(before, after), 0.5, Metric::Accuracy)
        };
        let better = verdict(Preserves::Correctness, 0.5, 0.9, 0.0);
        assert_eq!((better.verdict, better.images), (Verdict::Met, 400));
        assert_eq!((better.versions, better.outside), (400, 400));
        assert_eq!((better.population, better.rule), ("new_images", "images"));
        let worse = verdict(Preserves::Correctness, 0.9, 0.5, 0.02);
        assert_eq!(worse.verdict, Verdict::NotMet);
        assert!((worse.difference.unwrap().value + 0.4).abs() < 1e-9);
        let batches = worse.batch_rule.unwrap();
        assert!((batches.distance.value - 0.4).abs() < 0.02 && batches.distance.settled);
        assert_eq!((batches.verdict, batches.margin), (Verdict::NotMet, 0.0));
        // No image of 400 lost anything, so that at most 0.9% do; nobody can show that none does.
        assert_eq!(verdict(Preserves::Correctness, 0.8, 0.8, 0.0).verdict, Verdict::Inconclusive);
        assert_eq!(verdict(Preserves::Correctness, 0.8, 0.8, 0.02).verdict, Verdict::Met);
        assert_eq!(verdict(Preserves::Prediction, 1.0, 1.0, 0.02).verdict, Verdict::Met);
    }

    /// Losses of 10.9, 8.2 and 4.8 points among 200 images lie 5.5, 4.3 and 3.4 standard errors
    /// from 0, and the batch rule cannot tell them from nothing.
    #[test]
    fn what_two_hundred_images_show_is_decided() {
        for loss in [0.13, 0.085, 0.055] {
            let found =
                check(&one(Preserves::Correctness), &images(200, 0.93, 0.93 - loss), 0.5, ACCURACY);
            assert_eq!(found.verdict, Verdict::NotMet, "{found:?}");
            if loss < 0.1 {
                let published = found.batch_rule.unwrap();
                assert_eq!(published.verdict, Verdict::Inconclusive, "{published:?}");
            }
        }
    }

    #[test]
    fn the_batch_rule_decides_where_it_is_asked_to() {
        let rule = PreserveRule::Batches;
        let asked = Preservation { rule, alpha: 0.05, margin: 0.0, ..one(Preserves::Correctness) };
        let found = check(&asked, &images(200, 0.93, 0.85), 0.5, ACCURACY);
        assert_eq!((found.verdict, found.population), (Verdict::Inconclusive, "batches"));
        assert_eq!(found.reason, PreservedReason::StraddlesMargin);
    }

    #[test]
    fn few_images_say_nothing_about_new_ones() {
        let few = check(&one(Preserves::Correctness), &images(9, 1.0, 0.0), 0.5, ACCURACY);
        assert_eq!(
            (few.verdict, few.reason),
            (Verdict::Inconclusive, PreservedReason::TooFewImages)
        );
        let ScoreDifference { value, low, high } = few.difference.unwrap();
        assert_eq!((value, low, high), (-1.0, None, None));
        let ten = check(&one(Preserves::Correctness), &images(10, 1.0, 0.0), 0.5, ACCURACY);
        assert_eq!(ten.verdict, Verdict::NotMet);
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
