//! Average precision as COCO defines it, step for step as pycocotools computes it.

use super::detection::coco::{EvaluationGrid, Size, mean, scores};
use super::detection::{Rect, Scene, ScoredBox, TruthBox};
use faultlens_core::{Detection, Object};
use std::collections::BTreeSet;

/// Whatever it covers: an endless box of a broken answer is wrong, not left out.
const ANY: Size = (0.0, f64::INFINITY);

/// Precision of one class, averaged over 101 recalls, where a detection is right if it overlaps
/// an object by `iou` at least; `None` where no object of the class is known.
///
/// The one number by which detectors are compared. Crowds count neither way: whoever detects part
/// of one is neither right nor wrong.
pub fn average_precision(
    cases: &[(Vec<Detection>, Vec<Object>)],
    class: usize,
    iou: f64,
) -> Option<f64> {
    of_classes(cases, &[class], iou).next()
}

/// The mean of [`average_precision`] over the classes of which an object is known.
pub fn mean_average_precision(cases: &[(Vec<Detection>, Vec<Object>)], iou: f64) -> Option<f64> {
    let known = cases.iter().flat_map(|(_, objects)| objects);
    let classes: BTreeSet<usize> = known.map(|object| object.class).collect();
    let classes: Vec<usize> = classes.into_iter().collect();
    mean(of_classes(cases, &classes, iou))
}

/// Average precision of classes that have objects; `classes` rise.
fn of_classes(
    cases: &[(Vec<Detection>, Vec<Object>)],
    classes: &[usize],
    iou: f64,
) -> impl Iterator<Item = f64> {
    let scenes: Vec<Scene> = cases.iter().map(|case| scene(case, classes)).collect();
    let grid = EvaluationGrid { ious: &[iou], sizes: &[ANY] };
    scores(&scenes, classes.len(), grid, 1).into_iter().filter_map(|class| class.ap(0))
}

/// A case in 64 bits; what is of none of the classes is left out.
fn scene((detections, objects): &(Vec<Detection>, Vec<Object>), classes: &[usize]) -> Scene {
    Scene {
        objects: objects
            .iter()
            .filter_map(|known| {
                let class = classes.binary_search(&known.class).ok()?;
                let rect = Rect::from(&known.bounds);
                Some(TruthBox { class, rect, area: 0.0, crowd: known.crowd, difficult: false })
            })
            .collect(),
        detections: detections
            .iter()
            .filter_map(|found| {
                let class = classes.binary_search(&found.class).ok()?;
                Some(ScoredBox { class, ..found.into() })
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Bounds;

    fn bounds(left: f32) -> Bounds {
        Bounds { left, top: 0.0, right: left + 10.0, bottom: 10.0 }
    }

    fn object(left: f32, crowd: bool) -> Object {
        Object { class: 0, bounds: bounds(left), mask: None, crowd }
    }

    fn found(score: f32, left: f32) -> Detection {
        Detection { class: 0, score, bounds: bounds(left) }
    }

    fn endless(score: f32) -> Detection {
        let from = f32::MIN;
        let to = f32::INFINITY;
        let bounds = Bounds { left: from, top: from, right: to, bottom: to };
        Detection { class: 0, score, bounds }
    }

    #[test]
    fn plain_situations() {
        let nan = f32::NAN;
        let cases = [
            ("all found", vec![found(0.9, 0.0)], vec![object(0.0, false)], Some(1.0)),
            ("nothing found", vec![], vec![object(0.0, false)], Some(0.0)),
            ("nothing there", vec![found(0.9, 0.0)], vec![], None),
            ("only a crowd", vec![found(0.9, 0.0)], vec![object(0.0, true)], None),
            (
                "found twice: the second is wrong but behind",
                vec![found(0.9, 0.0), found(0.8, 0.0)],
                vec![object(0.0, false)],
                Some(1.0),
            ),
            (
                "a wrong one in front",
                vec![found(0.9, 50.0), found(0.8, 0.0)],
                vec![object(0.0, false)],
                Some(0.5),
            ),
            (
                "a crowd in front counts neither way",
                vec![found(0.9, 50.0), found(0.95, 51.0), found(0.8, 0.0)],
                vec![object(0.0, false), object(50.0, true)],
                Some(1.0),
            ),
            (
                "broken answers are wrong",
                vec![found(0.9, nan), found(nan, 0.0)],
                vec![object(0.0, false)],
                Some(0.5),
            ),
            (
                "so are endless ones",
                vec![endless(0.9), found(0.8, 0.0)],
                vec![object(0.0, false)],
                Some(0.5),
            ),
        ];
        for (what, detections, objects, wanted) in cases {
            let got = average_precision(&[(detections, objects)], 0, 0.5);
            assert!(
                got.zip(wanted).map_or(got == wanted, |(a, b): (f64, f64)| (a - b).abs() < 1e-12),
                "{what}: {got:?}"
            );
        }
    }

    #[test]
    fn the_mean_is_over_known_classes() {
        let other = Object { class: 7, ..object(0.0, false) };
        let crowd = Object { class: 9, ..object(0.0, true) };
        let cases = [(vec![found(0.9, 0.0)], vec![object(0.0, false), other, crowd])];
        let mean = mean_average_precision(&cases, 0.5);
        assert!(mean.is_some_and(|mean| (mean - 0.5).abs() < 1e-12), "{mean:?}");
        assert_eq!(mean_average_precision(&[], 0.5), None);
    }
}
