//! Objects that an answer has lost, invented, relabelled or moved, and its average precision with
//! the golden objects for the truth.

use faultlens_core::{Detections, Object, Response};
use faultlens_judge::{mean_average_precision, voc_ap};
use faultlens_record::{DetectionDiff, Measures};

/// Measures how the objects of an answer differ from the expected ones, where boxes that overlap by
/// `iou` are of the same object. Answers without objects have nothing to measure.
pub(super) fn measure(measures: &mut Measures, expected: &Response, observed: &Response, iou: f64) {
    let (Response::Detections(expected), Response::Detections(observed)) = (expected, observed)
    else {
        return;
    };
    measures.ap = coco_ap(expected, observed);
    let voc_ap = voc_ap(&expected.found, &observed.found, iou);
    measures.voc_ap = (voc_ap < 1.0).then_some(voc_ap);
    let diff = DetectionDiff::between(expected, observed, iou);
    measures.detections = (!diff.is_empty()).then_some(diff);
}

/// COCO's average precision at an overlap of one half, averaged over classes.
fn coco_ap(expected: &Detections, observed: &Detections) -> Option<f64> {
    if expected.found.is_empty() {
        // Without any true object, every detection is false; without detections, too, there is
        // nothing to measure.
        return (!observed.found.is_empty()).then_some(0.0);
    }
    let mut truth = Vec::with_capacity(expected.found.len());
    for object in &expected.found {
        let bounds = object.bounds;
        truth.push(Object { class: object.class, bounds, mask: None, crowd: false });
    }
    mean_average_precision(&[(observed.found.clone(), truth)], 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::{Bounds, Detection, Names};

    fn detections(found: &[(usize, f32)]) -> Response {
        let found = found.iter().map(|&(class, left)| Detection {
            class,
            score: 0.9,
            bounds: Bounds { left, top: 0.0, right: left + 10.0, bottom: 10.0 },
        });
        let names = Names::Listed(["car; van", "dog"].map(str::to_owned).into());
        Response::Detections(Detections {
            found: found.collect(),
            names,
            finite: true,
            min_score: None,
        })
    }

    #[test]
    fn every_change_is_kept_with_its_label() {
        let golden = detections(&[(0, 0.0), (0, 50.0), (1, 100.0), (1, 150.0)]);
        let observed = detections(&[(0, 0.0), (1, 50.0), (1, 106.0), (0, 200.0)]);
        let mut measures = Measures::default();
        measure(&mut measures, &golden, &observed, 0.5);
        let diff = measures.detections.unwrap();
        let counts = diff.counts();
        assert_eq!(
            [counts.relabelled, counts.misplaced, counts.missed, counts.spurious],
            [1, 1, 1, 1]
        );
        assert_eq!((&*diff.spurious[0].label, diff.spurious[0].score), ("car; van", 0.9));
        // One of two cars with the first of two answers; no dog of two.
        assert_eq!(measures.voc_ap, Some(0.25));
        let mut same = Measures::default();
        measure(&mut same, &golden, &golden, 0.5);
        assert_eq!(same, Measures { ap: Some(1.0), ..Measures::default() });
    }
}
