//! The reliability distance and what follows from it.

use super::super::Verdict;
use super::super::format::{count, points};
use super::score::Scored;
use super::{BatchMean, BatchNumbers, Diagnosis, Distance, Named, Pool, Preserved};
use faultlens_core::Seed;
use faultlens_spec::{Metric, Preservation, Preserves};
use faultlens_stats::{
    Batches, Reliability, Required, Spread, StatsError, Version, Versions, reliability,
};

/// The share of versions that are changed least: what predictions are held against.
const LEAST_CHANGED: f64 = 0.05;

/// Two draws agree where their distances differ by no more than this.
const AGREE: f64 = 0.02;

/// What the suggested number of batches settles the distance to.
const SETTLED_TO: f64 = 0.01;

/// The share of the tolerated range that must have been tried before anything is met.
const ENOUGH: f64 = 0.8;

/// Draws batches and compares; what it means is said by [`explain`].
pub(super) fn checked(
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
        untold: pool.untold,
        verdict: Verdict::Inconclusive,
        why: String::new(),
        ranks: None,
        diagnosis: Diagnosis::default(),
    })
}

/// Images with the versions that people tolerate, and how many versions they do not.
fn inside(pool: &Pool, at_most: f64) -> (Vec<Versions>, u64) {
    let (mut images, mut outside) = (Vec::new(), 0);
    for versions in pool.versions.values() {
        let (inside, beyond): (Vec<&Scored>, Vec<&Scored>) =
            versions.iter().partition(|version| version.visual_change <= at_most);
        outside += beyond.len() as u64;
        let Some(first) = inside.first() else { continue };
        let version = |s: &&Scored| Version { visual_change: s.visual_change, score: s.after };
        let changed = inside.iter().map(version).collect();
        images.push(Versions { original: first.before, changed });
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

/// Says what the numbers mean.
pub(super) fn explain(preserved: &mut Preserved, one: &Preservation, metric: Metric, whole: bool) {
    let limit = match preserved.margin {
        0.0 => "0".to_owned(),
        margin => format!("the margin of {:.1} points", 100.0 * margin),
    };
    (preserved.verdict, preserved.why) = match preserved.distance {
        _ if one.metric.is_some_and(|asked| asked != metric) => {
            let why = "the target's answers are scored in another way";
            (Verdict::Inconclusive, format!("{why}; leave out metric, or write {}", metric.name()))
        }
        _ if !one.classes.is_empty() && metric != Metric::Accuracy => {
            let why = "classes are for answers that are one class; leave them out";
            (Verdict::Inconclusive, why.to_owned())
        }
        None => (Verdict::Inconclusive, nothing(preserved).to_owned()),
        _ if !whole => (Verdict::Inconclusive, "the run is not complete".to_owned()),
        Some(Distance { high, .. })
            if high <= preserved.margin && preserved.tried_up_to < ENOUGH * preserved.tolerated =>
        {
            let Preserved { tried_up_to: tried, tolerated, .. } = preserved;
            let why = format!("only changes up to {tried:.2} of the tolerated {tolerated:.2}");
            (Verdict::Inconclusive, format!("{why} were tried; draw strengths up to that"))
        }
        Some(Distance { high, .. }) if high <= preserved.margin => {
            let high = points(high);
            (Verdict::Met, format!("the distance is at most {high} points, no more than {limit}"))
        }
        Some(Distance { low, .. }) if low > preserved.margin => {
            let low = points(low);
            (Verdict::NotMet, format!("the distance is at least {low} points, above {limit}"))
        }
        Some(Distance { low, high, .. }) => {
            let (low, high) = (points(low), points(high));
            let why = format!("the distance lies between {low} and {high} points, around {limit}");
            let more = "more images and larger batches would narrow it, and a margin would allow \
                        for what is left";
            (Verdict::Inconclusive, format!("{why}; {more}"))
        }
    };
    if preserved.distance.is_some_and(|distance| !distance.settled) {
        let batches = count(preserved.batches.suggested);
        preserved.why += &format!(
            "; other random numbers give another distance: set batches to {batches} or more"
        );
    }
}

/// Why there is nothing to draw.
fn nothing(preserved: &Preserved) -> &'static str {
    match () {
        () if preserved.outside + preserved.out_of_reach > 0 => {
            "no version of an image is changed as little as people tolerate; draw strengths with \
             within"
        }
        () if preserved.untold > 0 => {
            "nobody can tell how much the images are changed; they need sides of at least 9 pixels"
        }
        () if preserved.what == Preserves::Correctness.name() => {
            "no version of an image has a score; correctness needs a truth to hold answers against"
        }
        () => "no version of an image has a score",
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

    fn verdict(one: &Preservation, pool: &Pool, at_most: f64, metric: Metric) -> Preserved {
        let tolerance = Tolerance::named("imagenet-car").unwrap();
        let tolerated = Tolerated { at_most, interval: None, curve: Vec::new() };
        let (target, fault) = ("a", "b");
        let named = Named { target, fault, metric, tolerance: &tolerance, tolerated: &tolerated };
        let mut preserved = checked(one, &named, pool, 1).unwrap();
        explain(&mut preserved, one, metric, true);
        preserved
    }

    #[test]
    fn better_is_met_worse_is_not_and_the_same_is_not_known() {
        let verdict = |what, before, after, margin| {
            let one = Preservation { margin, ..one(what) };
            verdict(&one, &pool(before, after), 0.5, Metric::Accuracy)
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
        let (what, pool) = (one(Preserves::Correctness), pool(1.0, 1.0));
        let none = verdict(&what, &pool, 0.1, Metric::Accuracy);
        assert_eq!((none.verdict, none.outside), (Verdict::Inconclusive, 800));
        assert_eq!(none.images_outside, 400);
        assert!(none.why.contains("as little as people tolerate"), "{}", none.why);
        let better = verdict(&Preservation { margin: 0.1, ..what.clone() }, &pool, 0.8, ACCURACY);
        assert_eq!(better.verdict, Verdict::Inconclusive);
        assert!(better.why.contains("up to 0.45 of the tolerated 0.80"), "{}", better.why);
        let asked = Preservation { metric: Some(Metric::Ap), ..what.clone() };
        let why = verdict(&asked, &pool, 0.5, Metric::Accuracy).why;
        assert!(why.contains("or write accuracy"), "{why}");
        let classes = Preservation { classes: vec!["a".to_owned()], ..what.clone() };
        let why = verdict(&classes, &pool, 0.5, Metric::Iou).why;
        assert!(why.contains("answers that are one class"), "{why}");
        let empty = Pool { untold: 3, ..Pool::default() };
        let why = verdict(&what, &empty, 0.5, Metric::Accuracy).why;
        assert!(why.contains("at least 9 pixels"), "{why}");
    }
}
