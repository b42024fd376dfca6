//! COCO's numbers of all classes together.

use super::coco::{ClassScores, SizeScores, mean};

/// COCO's twelve numbers; `None` where there is no object to find.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CocoSummary {
    /// Average precision over classes and thresholds 0.5, 0.55 … 0.95.
    pub ap: Option<f64>,
    /// Average precision where boxes overlap by half.
    pub ap50: Option<f64>,
    /// Average precision where boxes overlap by three quarters.
    pub ap75: Option<f64>,
    /// `ap` of objects of less than 32² pixels.
    pub ap_small: Option<f64>,
    /// `ap` of objects in between.
    pub ap_medium: Option<f64>,
    /// `ap` of objects of more than 96² pixels.
    pub ap_large: Option<f64>,
    /// Average recall with 1 detection per image and class.
    pub ar1: Option<f64>,
    /// Average recall with 10 detections per image and class.
    pub ar10: Option<f64>,
    /// Average recall with 100 detections per image and class.
    pub ar100: Option<f64>,
    /// `ar100` of small objects.
    pub ar_small: Option<f64>,
    /// `ar100` of medium objects.
    pub ar_medium: Option<f64>,
    /// `ar100` of large objects.
    pub ar_large: Option<f64>,
}

impl CocoSummary {
    /// The means over classes of what [`coco_scores`](crate::coco_scores) found.
    pub fn of(classes: &[ClassScores]) -> Self {
        // Thresholds are 0.5, 0.55 …: place 0 is 0.5, place 5 is 0.75.
        Self {
            ap: class_mean(classes, |class| class.ap(0)),
            ap50: class_mean(classes, |class| class.ap_at(0)),
            ap75: class_mean(classes, |class| class.ap_at(5)),
            ap_small: class_mean(classes, |class| class.ap(1)),
            ap_medium: class_mean(classes, |class| class.ap(2)),
            ap_large: class_mean(classes, |class| class.ap(3)),
            ar1: class_mean(classes, |class| class.top_recall(0)),
            ar10: class_mean(classes, |class| class.top_recall(1)),
            ar100: class_mean(classes, |class| class.ar(0)),
            ar_small: class_mean(classes, |class| class.ar(1)),
            ar_medium: class_mean(classes, |class| class.ar(2)),
            ar_large: class_mean(classes, |class| class.ar(3)),
        }
    }
}

/// The mean over the classes that have a value.
fn class_mean(classes: &[ClassScores], value: impl Fn(&ClassScores) -> Option<f64>) -> Option<f64> {
    mean(classes.iter().filter_map(value))
}

impl ClassScores {
    /// Average precision over thresholds, of a size: 0 all, 1 small, 2 medium, 3 large.
    pub fn ap(&self, size: usize) -> Option<f64> {
        self.of_size(size).and_then(|reached| mean(reached.precision.iter().copied()))
    }

    /// Average recall over thresholds, of a size.
    pub fn ar(&self, size: usize) -> Option<f64> {
        self.of_size(size).and_then(|reached| mean(reached.recall.iter().copied()))
    }

    /// Average precision at one of the thresholds, by its place.
    pub fn ap_at(&self, iou: usize) -> Option<f64> {
        self.of_size(0)?.precision.get(iou).copied()
    }

    /// Average recall over thresholds of the best 1 (place 0) or 10 (place 1) detections per image.
    fn top_recall(&self, place: usize) -> Option<f64> {
        mean(self.top_recalls.as_ref()?[place].iter().copied())
    }

    fn of_size(&self, size: usize) -> Option<&SizeScores> {
        self.sizes.get(size)?.as_ref()
    }
}
