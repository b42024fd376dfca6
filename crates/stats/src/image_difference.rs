use crate::clustered::{Clustered, Formula};
use crate::error::StatsError;
use crate::estimate::{Estimate, Level};
use crate::mean::Mean;
use crate::preservation::{Required, Version, Versions, quantile};

/// How far the scores of changed images lie from what is required, among images like these: the
/// images are the sample, however many changed versions each of them has.
///
/// Compare `low` with minus the margin of a non-inferiority test: where it lies above, the changed
/// images are not worse by more than the margin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ImageDifference {
    /// What is required, a mean over images.
    pub required: f64,
    /// What changed versions reach, a mean over images.
    pub reached: f64,
    /// What is reached less what is required: below 0 where changed images score less.
    pub value: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The images behind it.
    pub images: u64,
}

/// The difference by image, with its interval.
///
/// Against the originals it is a mean of paired differences, one per image: Student's interval with
/// images − 1 degrees of freedom. Losses are rare, and a sample in which none happened to be has no
/// variance, so that Student's lower end alone lies above the truth far more often than its level
/// says (81% instead of 2.5% for ten images of which 2% are lost). It is therefore never above
/// Gaffke's bound, which needs no variance ([`Clustered::lower_bound`]); with fewer than 50 images
/// the upper end is bounded alike.
///
/// Against the least changed versions, two means are compared that have intervals by image of their
/// own: the one just described, and that of [`Clustered::estimate`]. The interval of the difference
/// is put together from them by recovering the variances at both ends (Zou and Donner 2008,
/// Statistics in Medicine 27:1693–1702).
///
/// # Errors
/// [`StatsError::Empty`] without images or with one that has no version, and scores that are not
/// finite.
///
/// ```
/// use faultlens_stats::{Level, Required, Version, Versions, difference_by_image};
///
/// // Two hundred images; twenty are right on the original and wrong once changed.
/// let images: Vec<Versions> = (0..200)
///     .map(|at| {
///         let score = if at < 20 { 0.0 } else { 1.0 };
///         Versions { original: 1.0, changed: vec![Version { visual_change: 0.5, score }] }
///     })
///     .collect();
/// let found = difference_by_image(&images, Required::Originals, Level::default())?;
/// assert!((found.value + 0.1).abs() < 1e-12 && found.high < -0.05);
/// # Ok::<(), faultlens_stats::StatsError>(())
/// ```
pub fn difference_by_image(
    images: &[Versions],
    required: Required,
    level: Level,
) -> Result<ImageDifference, StatsError> {
    if images.is_empty() || images.iter().any(|image| image.changed.is_empty()) {
        return Err(StatsError::Empty);
    }
    match required {
        Required::Originals => from_originals(images, level),
        Required::LeastChanged(share) => from_least_changed(images, share, level),
    }
}

fn from_originals(images: &[Versions], level: Level) -> Result<ImageDifference, StatsError> {
    let mut originals = 0.0;
    let mut changed = 0.0;
    let mut differences = Vec::with_capacity(images.len());
    for image in images {
        let score = mean_score(&image.changed);
        originals += image.original;
        changed += score;
        differences.push(score - image.original);
    }
    let found = mean_between(&differences, -1.0, level)?;
    let n = images.len() as f64;
    Ok(ImageDifference {
        required: originals / n,
        reached: changed / n,
        value: (changed - originals) / n,
        low: found.low,
        high: found.high,
        images: images.len() as u64,
    })
}

fn from_least_changed(
    images: &[Versions],
    share: f64,
    level: Level,
) -> Result<ImageDifference, StatsError> {
    let changes = images.iter().flat_map(|image| &image.changed).map(|one| one.visual_change);
    let limit = quantile(changes.collect(), share)?;
    let mut least = Clustered::default();
    let mut scores = Vec::with_capacity(images.len());
    for (image, versions) in (0..).zip(images) {
        // Every image counts once, as it does where one of its versions is drawn.
        let weight = 1.0 / versions.changed.len() as f64;
        for version in &versions.changed {
            if version.visual_change <= limit {
                add_share(&mut least, image, weight, version.score)?;
            }
        }
        scores.push(mean_score(&versions.changed));
    }
    let required = least.estimate(Formula::ClopperPearson, level)?;
    let reached = mean_between(&scores, 0.0, level)?;
    let wanted = required.value.ok_or(StatsError::Empty)?;
    let got = reached.value.ok_or(StatsError::Empty)?;
    let below = (got - reached.low).hypot(required.high - wanted);
    let above = (reached.high - got).hypot(wanted - required.low);
    Ok(ImageDifference {
        required: wanted,
        reached: got,
        value: got - wanted,
        low: (got - wanted - below).max(-1.0),
        high: (got - wanted + above).min(1.0),
        images: images.len() as u64,
    })
}

/// With so many images Student's upper end holds: a loss is what is common, and a gain what may be
/// missing from the sample. Below, a model that is right nine times out of ten has too few wrong
/// originals that could gain.
const ENOUGH: usize = 50;

/// The mean of one value per image, from `least` to 1, with Student's interval whose lower end is
/// never above Gaffke's bound, and for few images the upper one never below its counterpart.
fn mean_between(values: &[f64], least: f64, level: Level) -> Result<Estimate, StatsError> {
    let mut mean = Mean::default();
    let mut shares = Clustered::default();
    for (image, value) in (0..).zip(values) {
        mean.add(*value)?;
        add_share(&mut shares, image, 1.0, (value - least) / (1.0 - least))?;
    }
    let student = mean.estimate(level);
    let gaffke = least + (1.0 - least) * shares.lower_bound(level)?;
    let low = student.low.min(gaffke).max(least);
    let mut high = student.high.min(1.0);
    if values.len() < ENOUGH {
        high = high.max(least + (1.0 - least) * shares.upper_bound(level)?);
    }
    Ok(Estimate { low, high, ..student })
}

/// Counts a score from 0 to 1 as that part of an event.
fn add_share(to: &mut Clustered, image: u64, weight: f64, score: f64) -> Result<(), StatsError> {
    if !score.is_finite() {
        return Err(StatsError::NotFinite(score));
    }
    let event = score.clamp(0.0, 1.0) * weight;
    for (part, is_event) in [(event, true), (weight - event, false)] {
        if part > 0.0 {
            to.add(image, part, is_event)?;
        }
    }
    Ok(())
}

fn mean_score(versions: &[Version]) -> f64 {
    versions.iter().map(|version| version.score).sum::<f64>() / versions.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn images(scores: &[(f64, &[f64])]) -> Vec<Versions> {
        let mut all = Vec::new();
        for (original, changed) in scores {
            let changed = changed.iter().map(|&score| Version { visual_change: 0.5, score });
            all.push(Versions { original: *original, changed: changed.collect() });
        }
        all
    }

    /// Sixty images with two versions each: 9 lose both, 12 lose one, 3 gain both.
    fn mixed() -> Vec<Versions> {
        let mut scores: Vec<(f64, &[f64])> = Vec::new();
        scores.extend([(1.0, [0.0, 0.0].as_slice()); 9]);
        scores.extend([(1.0, [1.0, 0.0].as_slice()); 12]);
        scores.extend([(0.0, [1.0, 1.0].as_slice()); 3]);
        scores.extend([(1.0, [1.0, 1.0].as_slice()); 36]);
        images(&scores)
    }

    /// R 4.2: `t.test(c(rep(-1, 9), rep(-.5, 12), rep(1, 3), rep(0, 36)))` has a mean of −0.2 and
    /// the interval [−0.3193795, −0.0806205].
    #[test]
    fn differences_have_students_interval_as_in_r() {
        let found = difference_by_image(&mixed(), Required::Originals, Level::default()).unwrap();
        assert!((found.value + 0.2).abs() < 1e-12, "{found:?}");
        assert!((found.high + R_HIGH).abs() < 1e-6, "{found:?}");
        assert!((found.required - 0.95).abs() < 1e-12 && (found.reached - 0.75).abs() < 1e-12);
        // Gaffke's bound lies a little below Student's.
        assert!(found.low < -R_LOW && found.low > -R_LOW - 0.03, "{found:?}");
    }

    const R_LOW: f64 = 0.319_379_5;
    const R_HIGH: f64 = 0.080_620_5;

    /// Where nothing was lost, what can be lost is what Clopper and Pearson leave: 1 − 0.025^(1/n).
    #[test]
    fn no_loss_among_few_images_proves_little() {
        for (n, wanted) in [(10, 0.308_497), (200, 0.018_276)] {
            let same = images(&vec![(1.0, [1.0, 1.0].as_slice()); n]);
            let found = difference_by_image(&same, Required::Originals, Level::default()).unwrap();
            let above = if n < 50 { wanted } else { 0.0 };
            assert!((found.low + wanted).abs() < 1e-5, "{n}: {found:?}");
            assert!(found.value == 0.0 && (found.high - above).abs() < 1e-5, "{n}: {found:?}");
        }
    }

    #[test]
    fn predictions_are_held_against_those_that_hardly_changed() {
        let version = |visual_change, score| Version { visual_change, score };
        let image = |at: u32| Versions {
            original: 1.0,
            changed: vec![
                version(0.01, 1.0),
                version(0.5, if at.is_multiple_of(4) { 0.0 } else { 1.0 }),
            ],
        };
        let images: Vec<Versions> = (0..80).map(image).collect();
        let required = Required::LeastChanged(0.5);
        let found = difference_by_image(&images, required, Level::default()).unwrap();
        assert_eq!((found.required, found.reached), (1.0, 0.875));
        assert!((found.value + 0.125).abs() < 1e-12);
        // Student's half width of twenty scores of 0.5 and sixty of 1 is 0.048485 (R's t.test). 80 of
        // 80 may be 95.493% (Clopper and Pearson), which raises the upper end; the least changed
        // cannot be better than perfect, so that they do not lower the lower one.
        let above = 0.048_485_f64.hypot(1.0 - 0.954_93);
        assert!((found.high - (above - 0.125)).abs() < 1e-5, "{found:?}");
        assert!(found.low < -0.125 - 0.0484 && found.low > -0.20, "{found:?}");
    }

    #[test]
    fn nothing_to_compare_is_an_error() {
        let none = difference_by_image(&[], Required::Originals, Level::default());
        assert_eq!(none, Err(StatsError::Empty));
        let empty = [Versions { original: 1.0, changed: Vec::new() }];
        let none = difference_by_image(&empty, Required::Originals, Level::default());
        assert_eq!(none, Err(StatsError::Empty));
        let odd = images(&[(1.0, &[f64::NAN]), (1.0, &[1.0])]);
        assert!(difference_by_image(&odd, Required::Originals, Level::default()).is_err());
    }
}
