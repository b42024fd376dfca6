//! Objects that an answer has lost, invented, relabelled or moved.

use faultlens_core::Response;
use faultlens_judge::voc_ap;
use faultlens_record::DetectionDiff;

/// How the objects of an answer differ from the golden ones, where boxes that overlap by `iou` are
/// of the same object, and the mean average precision of PASCAL VOC with the golden ones for the
/// truth; `None` for answers without objects.
pub(super) fn changes(
    golden: &Response,
    observed: &Response,
    iou: f64,
) -> Option<(DetectionDiff, f64)> {
    let (Response::Detections(golden), Response::Detections(observed)) = (golden, observed) else {
        return None;
    };
    let diff = DetectionDiff::between(golden, observed, iou);
    Some((diff, voc_ap(&golden.found, &observed.found, iou)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::{Bounds, Detection, Detections, Names};
    use faultlens_record::Measures;

    fn detections(found: &[(usize, f32)]) -> Response {
        let found = found.iter().map(|&(class, left)| Detection {
            class,
            score: 0.9,
            bounds: Bounds { left, top: 0.0, right: left + 10.0, bottom: 10.0 },
        });
        let names = Names::Listed(["car", "dog"].map(str::to_owned).into());
        Response::Detections(Detections { found: found.collect(), names, finite: true })
    }

    #[test]
    fn every_change_is_counted_and_named() {
        let golden = detections(&[(0, 0.0), (0, 50.0), (1, 100.0), (1, 150.0)]);
        let observed = detections(&[(0, 0.0), (1, 50.0), (1, 106.0), (0, 200.0)]);
        let (diff, ap) = changes(&golden, &observed, 0.5).unwrap();
        let measures = Measures { detections: Some(diff), voc_ap: Some(ap), ..Measures::default() };
        let mut fields = measures.fields();
        fields.sort();
        let fields: Vec<(&str, &str)> =
            fields.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(
            fields,
            [
                (
                    "changes",
                    "relabelled car 0.90 at 50.0 0.0 60.0 10.0 to dog 0.90 at 50.0 0.0 60.0 10.0; \
                     misplaced dog 0.90 at 100.0 0.0 110.0 10.0 to dog 0.90 at 106.0 0.0 116.0 \
                     10.0; missed dog 0.90 at 150.0 0.0 160.0 10.0; spurious car 0.90 at 200.0 0.0 \
                     210.0 10.0"
                ),
                ("misplaced", "1"),
                ("missed", "1"),
                ("relabelled", "1"),
                ("spurious", "1"),
                // One of two cars with the first of two answers; no dog of two.
                ("voc_ap", "0.250000"),
            ]
        );
        for same in [golden, detections(&[(0, 0.0)])] {
            let (diff, ap) = changes(&same, &same, 0.5).unwrap();
            assert!(diff.is_empty() && ap >= 1.0, "all of all are found: {ap}");
        }
    }
}
