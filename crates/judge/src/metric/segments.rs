//! Segmentation metrics: confusion counts, intersection over union, pixel accuracy.

use faultlens_core::UNEXPECTED;
use thiserror::Error;

/// Why pixels cannot be compared.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum SegmentError {
    /// Comparing what is there would judge pixels that do not belong together.
    #[error(
        "{predicted} predicted pixels cannot be compared with {truth}; scale the prediction to the image"
    )]
    Lengths {
        /// How many pixels were predicted.
        predicted: usize,
        /// How many are known.
        truth: usize,
    },
}

/// Counts of (true class, predicted class) over pixels: all segmentation metrics follow from it,
/// and counts of several images or threads can be summed.
///
/// True classes that the list does not have, such as 255 for "void", are left out. Predicted ones
/// that it does not have count as wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confusion {
    classes: usize,
    /// A row per true class: predicted classes, then predictions outside of the list.
    counts: Vec<u64>,
}

impl Confusion {
    /// Nothing counted yet.
    pub fn new(classes: usize) -> Self {
        Self { classes, counts: vec![0; classes * (classes + 1)] }
    }

    /// Counts one image.
    pub fn add(&mut self, predicted: &[u8], truth: &[u8]) -> Result<(), SegmentError> {
        if predicted.len() != truth.len() {
            let predicted = predicted.len();
            let truth = truth.len();
            return Err(SegmentError::Lengths { predicted, truth });
        }
        for (&predicted, &truth) in predicted.iter().zip(truth) {
            let predicted = usize::from(predicted);
            let truth = usize::from(truth);
            if truth < self.classes {
                self.counts[truth * (self.classes + 1) + predicted.min(self.classes)] += 1;
            }
        }
        Ok(())
    }

    /// How many pixels of class `truth` were taken for class `predicted`.
    pub fn count(&self, truth: usize, predicted: usize) -> u64 {
        if truth < self.classes && predicted < self.classes {
            self.counts[truth * (self.classes + 1) + predicted]
        } else {
            0
        }
    }

    /// For each class, the pixels that both have over those that either has; `None` for classes
    /// that neither has, which say nothing about the target.
    pub fn iou(&self) -> Vec<Option<f64>> {
        (0..self.classes)
            .map(|class| {
                let both = self.count(class, class);
                let row = class * (self.classes + 1);
                let truth: u64 = self.counts[row..row + self.classes + 1].iter().sum();
                let predicted: u64 = (0..self.classes).map(|truth| self.count(truth, class)).sum();
                let either = truth + predicted - both;
                (either > 0).then(|| both as f64 / either as f64)
            })
            .collect()
    }

    /// The mean over classes that occur, so that small classes weigh as much as large ones.
    pub fn mean_iou(&self) -> Option<f64> {
        let known: Vec<f64> = self.iou().into_iter().flatten().collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    }

    /// The share of pixels whose class is right, which large classes dominate.
    pub fn pixel_accuracy(&self) -> Option<f64> {
        let all: u64 = self.counts.iter().sum();
        let right: u64 = (0..self.classes).map(|class| self.count(class, class)).sum();
        (all > 0).then(|| right as f64 / all as f64)
    }
}

/// [`Confusion::iou`] of one image.
pub fn segment_iou(
    predicted: &[u8],
    truth: &[u8],
    classes: usize,
) -> Result<Vec<Option<f64>>, SegmentError> {
    let mut confusion = Confusion::new(classes);
    confusion.add(predicted, truth)?;
    Ok(confusion.iou())
}

/// The mean over classes, of those that either image has, of the pixels that both have over those
/// that either has. Pixels of which the first expects nothing are left out. `None` for images
/// without a pixel or of different sizes.
pub fn mean_class_iou(a: &[u16], b: &[u16]) -> Option<f64> {
    if a.len() != b.len() {
        return None;
    }
    let expected: Vec<(u16, u16)> =
        a.iter().copied().zip(b.iter().copied()).filter(|&(a, _)| a != UNEXPECTED).collect();
    let classes = usize::from(expected.iter().map(|&(a, b)| a.max(b)).max()?) + 1;
    // For each class, pixels that both have, and that each has.
    let mut both = vec![0u64; classes];
    let mut each = vec![0u64; classes];
    for (a, b) in expected {
        both[usize::from(a)] += u64::from(a == b);
        each[usize::from(a)] += 1;
        each[usize::from(b)] += 1;
    }
    let known = each.iter().zip(&both).filter(|&(&each, _)| each > 0);
    let parts: Vec<f64> = known.map(|(&each, &both)| both as f64 / (each - both) as f64).collect();
    Some(parts.iter().sum::<f64>() / parts.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide(image: &[u8]) -> Vec<u16> {
        image.iter().map(|&class| class.into()).collect()
    }

    #[test]
    fn where_nothing_is_expected_nothing_is_wrong() {
        let moved = [UNEXPECTED, 1, 1, 2];
        assert_eq!(mean_class_iou(&moved, &[7, 1, 1, 2]), Some(1.0));
        assert_eq!(mean_class_iou(&moved, &[7, 1, 2, 2]), Some(0.5));
        assert_eq!(mean_class_iou(&[UNEXPECTED], &[7]), None);
    }

    #[test]
    fn the_mean_of_two_images_is_that_of_the_counts() {
        let cases: [(&[u8], &[u8]); 5] = [
            (&[0, 1, 2, 1], &[0, 1, 2, 1]),
            (&[0, 0, 1, 1], &[0, 1, 1, 2]),
            (&[3, 3, 3], &[1, 1, 1]),
            (&[0, 5, 5, 0, 2], &[5, 5, 0, 0, 2]),
            (&[7], &[7]),
        ];
        for (a, b) in cases {
            let mut counts = Confusion::new(8);
            counts.add(a, b).unwrap();
            let got = mean_class_iou(&wide(a), &wide(b));
            let wanted = counts.mean_iou();
            assert!(got.zip(wanted).is_some_and(|(a, b)| (a - b).abs() < 1e-12), "{a:?} {b:?}");
        }
        assert_eq!(mean_class_iou(&[65535, 0], &[65535, 0]), Some(1.0));
        assert_eq!((mean_class_iou(&[], &[]), mean_class_iou(&[1], &[1, 1])), (None, None));
    }

    #[test]
    fn counts_sum_over_images() {
        let mut confusion = Confusion::new(4);
        confusion.add(&[0, 0, 1, 1], &[0, 1, 1, 255]).unwrap();
        confusion.add(&[9, 2], &[1, 2]).unwrap();
        // Class 0: 1 of 2. Class 1: 1 right, 1 taken for 0, 1 for what is no class. Class 2: 1 of 1.
        assert_eq!(confusion.iou(), [Some(0.5), Some(1.0 / 3.0), Some(1.0), None]);
        assert_eq!(confusion.mean_iou(), Some((0.5 + 1.0 / 3.0 + 1.0) / 3.0));
        assert_eq!(confusion.pixel_accuracy(), Some(3.0 / 5.0));
        assert_eq!((confusion.count(1, 0), confusion.count(9, 0)), (1, 0));
    }

    #[test]
    fn nothing_and_different_sizes() {
        assert_eq!(Confusion::new(3).mean_iou(), None);
        assert_eq!(Confusion::new(0).pixel_accuracy(), None);
        assert_eq!(
            segment_iou(&[0], &[0, 1], 2),
            Err(SegmentError::Lengths { predicted: 1, truth: 2 })
        );
        assert_eq!(segment_iou(&[0, 1], &[0, 1], 2), Ok(vec![Some(1.0); 2]));
    }
}
