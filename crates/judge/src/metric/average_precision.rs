//! Average precision as COCO defines it, step for step as pycocotools computes it.

use faultlens_core::{Detection, Object};
use std::collections::BTreeSet;

/// Of each class, only the surest detections of an image count, as COCO has it.
const MOST_DETECTIONS: usize = 100;

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
    let mut judged = Vec::new();
    let mut objects = 0;
    for (detections, known) in cases {
        let known: Vec<&Object> = known.iter().filter(|object| object.class == class).collect();
        objects += known.iter().filter(|object| !object.crowd).count();
        judged.extend(matched(&surest(detections, class), &known, iou));
    }
    (objects > 0).then(|| {
        judged.sort_by(|(a, _), (b, _)| Detection::surest_first(a, b));
        interpolated(judged.iter().map(|&(_, right)| right), objects)
    })
}

/// The mean of [`average_precision`] over the classes of which an object is known.
pub fn mean_average_precision(cases: &[(Vec<Detection>, Vec<Object>)], iou: f64) -> Option<f64> {
    let known = cases.iter().flat_map(|(_, objects)| objects);
    let classes: BTreeSet<usize> = known.map(|object| object.class).collect();
    let each: Vec<f64> =
        classes.into_iter().filter_map(|class| average_precision(cases, class, iou)).collect();
    (!each.is_empty()).then(|| each.iter().sum::<f64>() / each.len() as f64)
}

fn surest(detections: &[Detection], class: usize) -> Vec<Detection> {
    let mut mine = of_class(detections, class);
    mine.truncate(MOST_DETECTIONS);
    mine
}

/// All detections of a class, surest first.
fn of_class(detections: &[Detection], class: usize) -> Vec<Detection> {
    let mut mine: Vec<Detection> =
        detections.iter().filter(|found| found.class == class).copied().collect();
    mine.sort_by(Detection::surest_first);
    mine
}

/// Each detection of an image, surest first, with whether it is right; those on crowds are left
/// out. An object is found once, by the surest detection that overlaps it enough; a crowd any
/// number of times, but only by detections that find no object.
fn matched(found: &[Detection], known: &[&Object], iou: f64) -> Vec<(Detection, bool)> {
    let mut taken = vec![false; known.len()];
    let mut judged = Vec::new();
    for detection in found {
        let object = best(known, iou, |at, object| {
            (!object.crowd && !taken[at]).then(|| detection.bounds.iou(&object.bounds))
        });
        if let Some(at) = object {
            taken[at] = true;
            judged.push((*detection, true));
            continue;
        }
        let crowd = best(known, iou, |_, object| {
            object.crowd.then(|| detection.bounds.part_in(&object.bounds))
        });
        if crowd.is_none() {
            judged.push((*detection, false));
        }
    }
    judged
}

/// Where the largest overlap is, if it reaches `iou`; of equal ones the last, as in pycocotools.
fn best(
    known: &[&Object],
    iou: f64,
    overlap: impl Fn(usize, &Object) -> Option<f64>,
) -> Option<usize> {
    let mut least = iou.min(1.0 - 1e-10);
    let mut best = None;
    for (at, object) in known.iter().enumerate() {
        if let Some(overlap) = overlap(at, object).filter(|&overlap| overlap >= least) {
            least = overlap;
            best = Some(at);
        }
    }
    best
}

/// The mean over recalls 0, 0.01 … 1 of the best precision at that recall or beyond.
fn interpolated(judged: impl Iterator<Item = bool>, objects: usize) -> f64 {
    let (mut right, mut all) = (0.0, 0.0);
    let mut curve: Vec<(f64, f64)> = Vec::new();
    for hit in judged {
        right += f64::from(u8::from(hit));
        all += 1.0;
        curve.push((right / objects as f64, right / (all + f64::EPSILON)));
    }
    let mut best = 0.0f64;
    for (_, precision) in curve.iter_mut().rev() {
        best = best.max(*precision);
        *precision = best;
    }
    let at = |wanted: f64| {
        let first = curve.partition_point(|&(recall, _)| recall < wanted);
        curve.get(first).map_or(0.0, |&(_, precision)| precision)
    };
    (0..=100).map(|step| at(f64::from(step) * 0.01)).sum::<f64>() / 101.0
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
        ];
        for (what, detections, objects, wanted) in cases {
            let got = average_precision(&[(detections, objects)], 0, 0.5);
            let near = |(a, b): (f64, f64)| (a - b).abs() < 1e-12;
            assert!(got.zip(wanted).map_or(got == wanted, near), "{what}: {got:?}");
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
