//! Whether answers stay as good, or the same, under changes that people tolerate (Hu et al. 2022,
//! section 6), and how they compare with people's over the whole range of changes (Hu et al. 2024).

use crate::bootstrap::index_below;
use crate::error::StatsError;
use crate::special::normal_quantile;

/// One image: what its original scores, and every changed version of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Versions {
    /// How good the answer to the original is, from 0 to 1.
    pub original: f64,
    /// The versions that count; at least one.
    pub changed: Vec<Version>,
}

/// A changed version of an image.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Version {
    /// How much people notice of the change, from 0 to 1.
    pub visual_change: f64,
    /// How good the answer is, or how like that to the original, from 0 to 1.
    pub score: f64,
}

/// What the scores of changed versions are held against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Required {
    /// The scores of the originals: answers must stay as good.
    Originals,
    /// The scores of the versions that are changed least, this share of all: answers must stay
    /// the same, as far as they do so under changes that hardly anybody sees.
    LeastChanged(f64),
}

/// How many batches of how many images are drawn, with replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batches {
    /// How many batches.
    pub number: usize,
    /// Images in each.
    pub size: usize,
}

/// Mean and standard deviation over batches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The standard deviation from batch to batch.
    pub deviation: f64,
}

/// How far the scores of changed versions stay behind, over batches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reliability {
    /// What is required (m₀ or s₀).
    pub required: Spread,
    /// What is reached (mₜ or sₜ).
    pub reached: Spread,
    /// The visual change below which a version counts as one that is changed least.
    pub least_change: Option<f64>,
}

impl Reliability {
    /// The reliability distance: what is required less what is reached.
    #[must_use]
    pub fn distance(&self) -> f64 {
        self.required.mean - self.reached.mean
    }

    /// Its standard deviation.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        self.required.deviation.hypot(self.reached.deviation)
    }

    /// The batch rule of Hu et al.: the distance is below this where it is reached with a
    /// confidence of 1 − `alpha`. σ is how much batches of this size differ, whatever the number of
    /// images behind them, so that the rule says little about new images; for those see
    /// [`difference_by_image`](crate::difference_by_image).
    #[must_use]
    pub fn at_most(&self, alpha: f64) -> f64 {
        self.distance() - normal_quantile(alpha) * self.deviation()
    }

    /// The counterpart of [`at_most`](Self::at_most) from below.
    #[must_use]
    pub fn at_least(&self, alpha: f64) -> f64 {
        self.distance() + normal_quantile(alpha) * self.deviation()
    }

    /// How many batches make two runs with different random numbers agree on the distance to
    /// within `difference`, nineteen times in twenty.
    #[must_use]
    pub fn batches_for(&self, difference: f64) -> u64 {
        let errors = normal_quantile(0.975) * self.deviation() / difference;
        (2.0 * errors * errors).ceil().max(1.0) as u64
    }
}

/// Draws batches of images, and of each image one version, and scores them.
///
/// # Errors
/// [`StatsError::Empty`] where there is no image, a batch is empty, or no batch has a version that
/// is changed least.
pub fn reliability(
    images: &[Versions],
    required: Required,
    batches: Batches,
    mut draw: impl FnMut() -> u64,
) -> Result<Reliability, StatsError> {
    if images.iter().any(|image| image.changed.is_empty()) || images.is_empty() {
        return Err(StatsError::Empty);
    }
    // Each batch draws images with replacement, and of each image one version.
    let mut all: Vec<Vec<(f64, Version)>> = Vec::with_capacity(batches.number);
    for _ in 0..batches.number {
        let mut batch = Vec::with_capacity(batches.size);
        for _ in 0..batches.size {
            let image = &images[index_below(images.len(), draw())];
            let version = image.changed[index_below(image.changed.len(), draw())];
            batch.push((image.original, version));
        }
        all.push(batch);
    }
    let least_change = match required {
        Required::Originals => None,
        Required::LeastChanged(share) => Some(quantile(
            all.iter().flatten().map(|(_, version)| version.visual_change).collect(),
            share,
        )?),
    };
    let wanted = all.iter().filter_map(|batch| match least_change {
        None => mean(batch.iter().map(|(original, _)| *original)),
        Some(limit) => {
            let least = batch.iter().filter(|(_, version)| version.visual_change <= limit);
            mean(least.map(|(_, version)| version.score))
        }
    });
    let reached = all.iter().filter_map(|batch| mean(batch.iter().map(|(_, v)| v.score)));
    let required = spread(wanted)?;
    let reached = spread(reached)?;
    Ok(Reliability { required, reached, least_change })
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut sum = 0.0;
    let mut n = 0_u32;
    for value in values {
        sum += value;
        n += 1;
    }
    if n > 0 { Some(sum / f64::from(n)) } else { None }
}

fn spread(values: impl Iterator<Item = f64>) -> Result<Spread, StatsError> {
    let values: Vec<f64> = values.collect();
    let mean = mean(values.iter().copied()).ok_or(StatsError::Empty)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = (squares / (values.len() - 1).max(1) as f64).sqrt();
    Ok(Spread { mean, deviation })
}

/// The smallest value that at least this share of all values does not exceed.
pub(crate) fn quantile(mut values: Vec<f64>, share: f64) -> Result<f64, StatsError> {
    values.sort_by(f64::total_cmp);
    let rank = (share * values.len() as f64 - 1e-9).ceil().max(1.0) as usize;
    values.get(rank - 1).copied().ok_or(StatsError::Empty)
}

/// A range of visual change with the scores of people and of a model on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreSegment {
    /// The length of the range.
    pub width: f64,
    /// The score of people.
    pub human: f64,
    /// The score of the model.
    pub model: f64,
}

/// How a model's scores over visual change compare with people's (Hu et al. 2024).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HumanComparison {
    /// The share of what people achieve that the model achieves too (HMRI): 1 where it is nowhere
    /// below them.
    pub reached: f64,
    /// The share of what the model achieves that is beyond people (MRSI).
    pub beyond: f64,
}

/// Compares the areas below the curves of people and of a model: the Human-Relative Model Robustness
/// Index and the Model Robustness Superiority Index of Hu et al. (2024). `None` where people achieve
/// nothing.
#[must_use]
pub fn compare_with_humans(segments: &[ScoreSegment]) -> Option<HumanComparison> {
    let mut human = 0.0;
    let mut model = 0.0;
    let mut below = 0.0;
    let mut above = 0.0;
    for segment in segments {
        human += segment.width * segment.human;
        model += segment.width * segment.model;
        below += segment.width * (segment.human - segment.model).max(0.0);
        above += segment.width * (segment.model - segment.human).max(0.0);
    }
    let beyond = if model > 0.0 { above / model } else { 0.0 };
    (human > 0.0).then(|| HumanComparison { reached: 1.0 - below / human, beyond })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Level, difference_by_image};

    fn random(mut state: u64) -> impl FnMut() -> u64 {
        // SplitMix64.
        move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        }
    }

    fn flat(mean: f64, deviation: f64) -> Spread {
        Spread { mean, deviation }
    }

    fn segment(human: f64, model: f64) -> ScoreSegment {
        ScoreSegment { width: 0.5, human, model }
    }

    #[test]
    fn the_papers_example_of_resnet_50_is_not_satisfied() {
        for (distance, deviation) in [(0.0045, 0.0061), (0.0011, 0.0045)] {
            let share = deviation / 2.0_f64.sqrt();
            let required = flat(0.95, share);
            let reached = flat(0.95 - distance, share);
            let found = Reliability { required, reached, least_change: None };
            assert!((found.at_most(0.05) - (distance + 1.645 * deviation)).abs() < 1e-5);
            assert!(found.at_most(0.05) > 0.0 && found.at_least(0.05) < 0.0);
        }
    }

    /// Figure 3: three images, each brightened a little and a lot. Right answers are one in three
    /// before and after; five of six answers stay, and all three of the weaker changes.
    #[test]
    fn the_papers_example_of_brightness_holds_for_correctness_alone() {
        let version = |visual_change, score| Version { visual_change, score };
        let correct = [(1.0, [1.0, 1.0]), (0.0, [0.0, 0.0]), (0.0, [0.0, 0.0])];
        let same = [[1.0, 1.0], [1.0, 1.0], [1.0, 0.0]];
        let images = |scores: Vec<(f64, [f64; 2])>| -> Vec<Versions> {
            scores
                .into_iter()
                .map(|(original, [weak, strong])| Versions {
                    original,
                    changed: vec![version(0.2, weak), version(0.6, strong)],
                })
                .collect()
        };
        let batches = Batches { number: 400, size: 3000 };
        let found = reliability(&images(correct.to_vec()), Required::Originals, batches, random(1))
            .unwrap();
        assert!((found.required.mean - 1.0 / 3.0).abs() < 2e-3, "{found:?}");
        assert!(found.distance().abs() < 1e-9);
        let kept = images(same.map(|scores| (1.0, scores)).to_vec());
        let found = reliability(&kept, Required::LeastChanged(0.45), batches, random(2)).unwrap();
        assert_eq!(found.required, flat(1.0, 0.0));
        assert!((found.reached.mean - 5.0 / 6.0).abs() < 2e-3, "{found:?}");
        // Three images prove nothing about others, and the batch rule does not see it.
        assert!(found.at_least(0.05) > 0.0);
        let required = Required::LeastChanged(0.45);
        let by_image = difference_by_image(&kept, required, Level::default()).unwrap();
        assert!(by_image.low < -0.5 && by_image.high > 0.0, "{by_image:?}");
    }

    #[test]
    fn batches_spread_as_binomials_do_and_more_of_them_agree_better() {
        let images: Vec<Versions> = (0..100)
            .map(|at| Versions {
                original: f64::from(u8::from(at < 90)),
                changed: vec![Version { visual_change: 0.1, score: f64::from(u8::from(at < 60)) }],
            })
            .collect();
        let batches = Batches { number: 4000, size: 50 };
        let found = reliability(&images, Required::Originals, batches, random(5)).unwrap();
        assert!((found.required.deviation - (0.9_f64 * 0.1 / 50.0).sqrt()).abs() < 1.5e-3);
        assert!((found.reached.deviation - (0.6_f64 * 0.4 / 50.0).sqrt()).abs() < 2.5e-3);
        assert!((found.distance() - 0.3).abs() < 5e-3);
        // 2 · (1.96 · 0.0812 / 0.01)².
        assert!((480..=530).contains(&found.batches_for(0.01)), "{}", found.batches_for(0.01));
    }

    #[test]
    fn nothing_to_draw_is_an_error() {
        let batches = Batches { number: 10, size: 5 };
        let none = reliability(&[], Required::Originals, batches, random(1));
        assert_eq!(none, Err(StatsError::Empty));
        let empty = [Versions { original: 1.0, changed: Vec::new() }];
        let none = reliability(&empty, Required::Originals, batches, random(1));
        assert_eq!(none, Err(StatsError::Empty));
    }

    #[test]
    fn areas_beside_people() {
        let same = compare_with_humans(&[segment(0.9, 0.9), segment(0.5, 0.5)]).unwrap();
        assert_eq!((same.reached, same.beyond), (1.0, 0.0));
        // People 0.9 and 0.5, the model 0.6 and 0.7: below by 0.3 of 1.4, above by 0.2 of 1.3.
        let mixed = compare_with_humans(&[segment(0.9, 0.6), segment(0.5, 0.7)]).unwrap();
        assert!((mixed.reached - (1.0 - 0.3 / 1.4)).abs() < 1e-12);
        assert!((mixed.beyond - 0.2 / 1.3).abs() < 1e-12);
        assert_eq!(compare_with_humans(&[]), None);
    }
}
