//! Non-maximum suppression: of several boxes on one object, the highest score stays.

use super::Detection;
use std::cmp::Ordering;

/// Keeps the highest-scoring detection of those of one class that overlap by more than `iou`, and
/// sorts by score. This is greedy per-class suppression as in torchvision's `batched_nms`.
///
/// Detectors report the same object many times over; targets whose output is not suppressed yet
/// need this before anything is counted. A box with NaN overlaps with nothing and stays.
pub fn non_maximum_suppression(detections: &mut Vec<Detection>, iou: f32) {
    detections.sort_by(Detection::by_descending_score);
    let mut kept = 0;
    for at in 0..detections.len() {
        let one = detections[at];
        let is_suppressed = detections[..kept].iter().any(|other| {
            other.class == one.class && other.bounds.iou(&one.bounds) > f64::from(iou)
        });
        if !is_suppressed {
            detections[kept] = one;
            kept += 1;
        }
    }
    detections.truncate(kept);
}

impl Detection {
    /// Highest score first, NaN last; a stable sort keeps the order of equal scores.
    pub fn by_descending_score(a: &Self, b: &Self) -> Ordering {
        match (a.score.is_nan(), b.score.is_nan()) {
            (false, false) => b.score.partial_cmp(&a.score).unwrap_or(Ordering::Equal),
            (a_nan, b_nan) => a_nan.cmp(&b_nan),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bounds;

    fn found(class: usize, score: f32, left: f32) -> Detection {
        let bounds = Bounds { left, top: 0.0, right: left + 10.0, bottom: 10.0 };
        Detection { class, score, bounds }
    }

    #[test]
    fn the_surest_of_each_class_stays() {
        let mut all = vec![
            found(0, 0.5, 0.0),
            found(0, 0.9, 1.0),
            found(1, 0.7, 0.0),
            // Suppressed boxes suppress nothing: 0.4 meets 0.5 but not 0.9.
            found(0, 0.4, -4.0),
            found(0, f32::NAN, 1.0),
            found(0, 0.1, f32::NAN),
        ];
        non_maximum_suppression(&mut all, 0.5);
        let left: Vec<(usize, f32)> = all.iter().map(|d| (d.class, d.score)).collect();
        assert_eq!(left, [(0, 0.9), (1, 0.7), (0, 0.4), (0, 0.1)]);
    }

    #[test]
    fn an_overlap_at_the_threshold_stays() {
        let half = Bounds { left: 0.0, top: 0.0, right: 10.0, bottom: 5.0 };
        let mut all = vec![found(0, 0.9, 0.0), Detection { bounds: half, ..found(0, 0.8, 0.0) }];
        non_maximum_suppression(&mut all, 0.5);
        assert_eq!(all.len(), 2);
    }
}
