//! Objects that an answer has lost, invented, relabelled or moved.

use faultlens_core::Response;
use faultlens_judge::voc_ap;
use faultlens_record::DetectionDiff;

/// How the objects of an answer differ from the golden ones, where boxes that overlap by `iou` are
/// of the same object; `None` where nothing differs, and for answers without objects.
pub(super) fn detection_diff(
    golden: &Response,
    observed: &Response,
    iou: f64,
) -> Option<DetectionDiff> {
    let (Response::Detections(golden), Response::Detections(observed)) = (golden, observed) else {
        return None;
    };
    let diff = DetectionDiff::between(golden, observed, iou);
    (!diff.is_empty()).then_some(diff)
}

/// The mean average precision as PASCAL VOC has it, with the golden objects for the truth; `None`
/// where it is 1, and for answers without objects.
pub(super) fn precision(golden: &Response, observed: &Response, iou: f64) -> Option<f64> {
    let (Response::Detections(golden), Response::Detections(observed)) = (golden, observed) else {
        return None;
    };
    let precision = voc_ap(&golden.found, &observed.found, iou);
    (precision < 1.0).then_some(precision)
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::{Bounds, Detection, Detections, Names};

    fn detections(found: &[(usize, f32)]) -> Response {
        let found = found.iter().map(|&(class, left)| Detection {
            class,
            score: 0.9,
            bounds: Bounds { left, top: 0.0, right: left + 10.0, bottom: 10.0 },
        });
        let names = Names::Listed(["car; van", "dog"].map(str::to_owned).into());
        Response::Detections(Detections { found: found.collect(), names, finite: true })
    }

    #[test]
    fn every_change_is_kept_with_its_label() {
        let golden = detections(&[(0, 0.0), (0, 50.0), (1, 100.0), (1, 150.0)]);
        let observed = detections(&[(0, 0.0), (1, 50.0), (1, 106.0), (0, 200.0)]);
        let diff = detection_diff(&golden, &observed, 0.5).unwrap();
        let counts = diff.counts();
        assert_eq!(
            [counts.relabelled, counts.misplaced, counts.missed, counts.spurious],
            [1, 1, 1, 1]
        );
        assert_eq!((&*diff.spurious[0].label, diff.spurious[0].score), ("car; van", 0.9));
        // One of two cars with the first of two answers; no dog of two.
        assert_eq!(precision(&golden, &observed, 0.5), Some(0.25));
        assert_eq!(detection_diff(&golden, &golden, 0.5), None);
        assert_eq!(precision(&golden, &golden, 0.5), None);
    }
}
