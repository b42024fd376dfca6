use std::collections::BTreeMap;

use super::bins::{Bins, Count, place};
use super::error::ThresholdError;
use crate::bootstrap::index_below;

/// One answer on an undisturbed image. Images and labels are numbers that the caller gave them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Original {
    /// Which image.
    pub image: u32,
    /// What was answered.
    pub answer: u32,
    /// What would have been right, where that is known.
    pub truth: Option<u32>,
}

/// One answer on a changed image.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Changed {
    /// Which image it was made from.
    pub image: u32,
    /// How much it was changed.
    pub visual_change: f64,
    /// What was answered.
    pub answer: u32,
    /// What would have been right, where that is known.
    pub truth: Option<u32>,
}

/// What people say about undisturbed images.
#[derive(Debug, Clone, Default)]
pub struct Originals {
    images: BTreeMap<u32, OfImage>,
}

#[derive(Debug, Clone, Default)]
struct OfImage {
    /// Labels in the order in which they were first given, with how often.
    answers: Vec<(u32, u64)>,
    /// Answers of known truth.
    n: u64,
    right: u64,
}

impl Originals {
    /// Collects answers, in the order of the input.
    #[must_use]
    pub fn new(answers: impl IntoIterator<Item = Original>) -> Self {
        let mut images: BTreeMap<u32, OfImage> = BTreeMap::new();
        for one in answers {
            let of = images.entry(one.image).or_default();
            match of.answers.iter_mut().find(|(label, _)| *label == one.answer) {
                Some((_, count)) => *count += 1,
                None => of.answers.push((one.answer, 1)),
            }
            of.n += u64::from(one.truth.is_some());
            of.right += u64::from(one.truth == Some(one.answer));
        }
        Self { images }
    }

    /// Whether nobody was asked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.images.is_empty()
    }

    /// Right answers, and all of known truth.
    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        let of = self.images.values();
        of.fold((0, 0), |(right, n), image| (right + image.right, n + image.n))
    }

    /// What most say about an image; of labels that are given equally often, the first.
    #[must_use]
    pub fn majority(&self, image: u32) -> Option<u32> {
        let answers = &self.images.get(&image)?.answers;
        // The last of equal maxima is taken, hence backwards.
        answers.iter().rev().max_by_key(|(_, count)| *count).map(|(label, _)| *label)
    }

    /// Right answers and all, of each image that has any.
    pub(super) fn by_image(&self) -> Vec<(u64, u64)> {
        self.images.values().filter(|of| of.n > 0).map(|of| (of.right, of.n)).collect()
    }
}

/// Answers to one question, by image: where they belong, and whether they are hits. Answers on
/// one image agree more than others do, so that images are what is redrawn.
#[derive(Debug, Clone)]
pub(super) struct Images(Vec<Vec<(u8, bool)>>);

impl Images {
    /// Whether answers are right; those of unknown truth are left out.
    pub(super) fn correctness(answers: &[Changed]) -> Result<Self, ThresholdError> {
        Self::new(answers, |one| one.truth.map(|truth| truth == one.answer))
    }

    /// Whether answers are as most on the original; those without one are left out.
    pub(super) fn prediction(
        answers: &[Changed],
        originals: &Originals,
    ) -> Result<Self, ThresholdError> {
        Self::new(answers, |one| originals.majority(one.image).map(|most| most == one.answer))
    }

    fn new(
        answers: &[Changed],
        hit: impl Fn(&Changed) -> Option<bool>,
    ) -> Result<Self, ThresholdError> {
        let mut images: BTreeMap<u32, Vec<(u8, bool)>> = BTreeMap::new();
        for one in answers {
            let at = place(one.visual_change)?;
            if let Some(hit) = hit(one) {
                images.entry(one.image).or_default().push((at, hit));
            }
        }
        Ok(Self(images.into_values().collect()))
    }

    /// All answers in their bins.
    pub(super) fn bins(&self) -> Bins {
        counted(&self.0)
    }

    /// As many images, drawn with replacement, with all their answers.
    pub(super) fn redraw(&self, draw: &mut dyn FnMut() -> u64) -> Bins {
        let n = self.0.len();
        counted((0..n).map(|_| &self.0[index_below(n, draw())]))
    }
}

fn counted<'a>(images: impl IntoIterator<Item = &'a Vec<(u8, bool)>>) -> Bins {
    let mut count = Count::default();
    for &(at, hit) in images.into_iter().flatten() {
        count.add(at, 1, u64::from(hit));
    }
    count.bins()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tolerance::Bin;
    use crate::tolerance::tests::random;

    fn original(image: u32, answer: u32, truth: u32) -> Original {
        Original { image, answer, truth: Some(truth) }
    }

    fn changed(image: u32, visual_change: f64, answer: u32, truth: u32) -> Changed {
        Changed { image, visual_change, answer, truth: Some(truth) }
    }

    fn bin(hundredths: u8, n: u64, hits: u64) -> Bin {
        Bin { hundredths, n, hits }
    }

    #[test]
    fn the_majority_is_what_most_say_and_then_what_came_first() {
        let answers = [(1, 7), (1, 8), (1, 8), (2, 9), (2, 7), (2, 7), (2, 9), (3, 8), (3, 7)];
        let originals = Originals::new(answers.map(|(image, answer)| original(image, answer, 8)));
        let most = [1, 2, 3, 4].map(|image| originals.majority(image));
        assert_eq!(most, [Some(8), Some(9), Some(8), None]);
        assert_eq!(originals.counts(), (3, 9));
        assert_eq!(originals.by_image(), [(2, 3), (0, 4), (1, 2)]);
        let untold = Originals::new([Original { image: 1, answer: 7, truth: None }]);
        assert_eq!((untold.counts(), untold.majority(1)), ((0, 0), Some(7)));
    }

    #[test]
    fn hits_are_right_answers_or_those_of_the_majority() {
        let originals = Originals::new([original(1, 7, 8), original(2, 8, 8)]);
        let answers = [
            changed(1, 0.101, 7, 8),
            changed(2, 0.11, 8, 8),
            changed(3, 0.11, 8, 8),
            Changed { truth: None, ..changed(2, 0.3, 7, 8) },
        ];
        let right = Images::correctness(&answers).unwrap();
        assert_eq!(right.bins().all(), [bin(11, 3, 2)]);
        let same = Images::prediction(&answers, &originals).unwrap();
        assert_eq!(same.bins().all(), [bin(11, 2, 2), bin(30, 1, 0)]);
        assert!(Images::correctness(&[changed(1, 1.5, 7, 7)]).is_err());
    }

    #[test]
    fn images_are_redrawn_whole() {
        let answers: Vec<Changed> =
            (0..30).map(|i| changed(i / 5, f64::from(i / 5) / 10.0, 1, 1)).collect();
        let images = Images::correctness(&answers).unwrap();
        let mut draw = random();
        for _ in 0..20 {
            let bins = images.redraw(&mut draw);
            assert_eq!(bins.answers(), 30);
            assert!(bins.all().iter().all(|bin| bin.n % 5 == 0), "{bins:?}");
        }
    }
}
