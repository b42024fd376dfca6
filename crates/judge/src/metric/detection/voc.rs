//! Average precision as PASCAL VOC defines it.

use super::curve::Curve;
use super::{Scene, ScoredBox, TruthBox};
use faultlens_core::Detection;
use std::collections::BTreeSet;

/// Average precision of one class, read off its curve in VOC's two ways.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VocPrecision {
    /// The area under the curve, as since 2010.
    pub all_points: f64,
    /// The mean over 11 recalls, as until 2009.
    pub eleven_points: f64,
}

/// Average precision of a class over many images, where a detection is right if it overlaps an
/// object by `iou` at least; `None` where no object of the class counts.
///
/// A detection is matched with the object that it overlaps most, even where one with a higher score
/// has it already: it is then wrong. Difficult objects and crowds count neither way.
pub fn voc_average_precision(scenes: &[Scene], class: usize, iou: f64) -> Option<VocPrecision> {
    let mut found: Vec<(usize, ScoredBox)> = Vec::new();
    let mut known: Vec<Vec<(TruthBox, bool)>> = Vec::with_capacity(scenes.len());
    for (at, scene) in scenes.iter().enumerate() {
        let mine = scene.detections.iter().filter(|found| found.class == class);
        found.extend(mine.map(|found| (at, *found)));
        let mine = scene.objects.iter().filter(|known| known.class == class);
        known.push(mine.map(|known| (*known, false)).collect());
    }
    let objects =
        known.iter().flatten().filter(|(known, _)| !known.crowd && !known.difficult).count();
    (objects > 0).then(|| {
        found.sort_by(|(_, a), (_, b)| ScoredBox::by_descending_score(a, b));
        let judged = found.iter().filter_map(|(at, found)| right(found, &mut known[*at], iou));
        let curve = Curve::new(judged, objects);
        VocPrecision { all_points: curve.area(), eleven_points: curve.at_11_recalls() }
    })
}

/// Whether a detection is right; `None` where it counts neither way. Notes which object it takes.
fn right(found: &ScoredBox, known: &mut [(TruthBox, bool)], iou: f64) -> Option<bool> {
    // Of equal overlaps a free object, so that two equal boxes are found by two equal detections.
    let mut best: Option<(f64, bool, usize)> = None;
    for (at, (known, taken)) in known.iter().enumerate().filter(|(_, (known, _))| !known.crowd) {
        let overlap = found.rect.iou(&known.rect);
        let better = best.is_none_or(|(largest, free, _)| (overlap, !taken) > (largest, free));
        if overlap >= iou && better {
            best = Some((overlap, !taken, at));
        }
    }
    let Some((_, free, at)) = best else {
        let on_crowd =
            known.iter().any(|(known, _)| known.crowd && found.rect.part_in(&known.rect) >= iou);
        return if on_crowd { None } else { Some(false) };
    };
    known[at].1 = true;
    (!known[at].0.difficult).then_some(free)
}

/// The mean over golden's classes of VOC's average precision (all points), with golden as what is
/// known; 1 where nothing was and nothing is found, 0 where only golden found nothing.
///
/// What oracles of metamorphic tests look at. It does not see detections of classes that golden
/// has none of, nor unsure ones behind the last right one; [`object_changes`] does.
///
/// [`object_changes`]: crate::object_changes
pub fn voc_ap(golden: &[Detection], observed: &[Detection], iou: f64) -> f64 {
    let classes: BTreeSet<usize> = golden.iter().map(|found| found.class).collect();
    if classes.is_empty() {
        return if observed.is_empty() { 1.0 } else { 0.0 };
    }
    let scene = Scene {
        objects: golden
            .iter()
            .map(|found| {
                let ScoredBox { class, rect, .. } = found.into();
                TruthBox { class, rect, area: rect.area(), crowd: false, difficult: false }
            })
            .collect(),
        detections: observed.iter().map(ScoredBox::from).collect(),
    };
    let count = classes.len() as f64;
    classes
        .into_iter()
        .filter_map(|class| voc_average_precision(std::slice::from_ref(&scene), class, iou))
        .map(|found| found.all_points)
        .sum::<f64>()
        / count
}

#[cfg(test)]
mod tests {
    use super::super::Rect;
    use super::*;
    use faultlens_core::Bounds;

    fn rect(left: f64) -> Rect {
        Rect { left, top: 0.0, width: 10.0, height: 10.0 }
    }

    fn known(left: f64, crowd: bool, difficult: bool) -> TruthBox {
        TruthBox { class: 0, rect: rect(left), area: 100.0, crowd, difficult }
    }

    fn plain(left: f64) -> TruthBox {
        known(left, false, false)
    }

    fn found(score: f64, left: f64) -> ScoredBox {
        ScoredBox { class: 0, rect: rect(left), score }
    }

    fn detection(class: usize, score: f32, left: f32) -> Detection {
        let bounds = Bounds { left, top: 0.0, right: left + 10.0, bottom: 10.0 };
        Detection { class, score, bounds }
    }

    #[test]
    fn an_answer_is_as_precise_as_itself() {
        for count in 0..9 {
            let all: Vec<Detection> =
                (0..count).map(|at| detection(0, 0.5, at as f32 * 20.0)).collect();
            assert_eq!(voc_ap(&all, &all, 0.5), 1.0, "{count}");
        }
    }

    #[test]
    fn who_counts() {
        let cases = [
            ("found", vec![plain(0.0)], vec![found(0.9, 1.0)], Some(1.0)),
            ("nothing there", vec![], vec![found(0.9, 1.0)], None),
            ("only difficult", vec![known(0.0, false, true)], vec![], None),
            (
                "the nearest has a better one: wrong, though another is near",
                vec![plain(0.0), plain(3.0)],
                vec![found(0.9, 0.0), found(0.8, 1.0)],
                Some(0.5),
            ),
            (
                "equal boxes are found one by one",
                vec![plain(0.0), plain(0.0)],
                vec![found(0.9, 0.0), found(0.8, 0.0)],
                Some(1.0),
            ),
            (
                "difficult ones and crowds count neither way",
                vec![plain(0.0), known(50.0, false, true), known(90.0, true, false)],
                vec![found(0.9, 50.0), found(0.9, 50.0), found(0.8, 91.0), found(0.1, 0.0)],
                Some(1.0),
            ),
        ];
        for (what, objects, detections, wanted) in cases {
            let got = voc_average_precision(&[Scene { objects, detections }], 0, 0.5);
            let got = got.map(|got| got.all_points);
            assert!(
                got.zip(wanted).map_or(got == wanted, |(a, b): (f64, f64)| (a - b).abs() < 1e-12),
                "{what}: {got:?}"
            );
        }
    }

    #[test]
    fn golden_is_what_is_known() {
        let golden = [detection(0, 0.9, 0.0), detection(0, 0.8, 0.0), detection(7, 0.7, 50.0)];
        let cases = [
            ("the same", golden.to_vec(), 1.0),
            ("one class lost", golden[..2].to_vec(), 0.5),
            ("half a class lost", golden[1..].to_vec(), 0.75),
            ("a new class", [&golden[..], &[detection(3, 0.9, 0.0)]].concat(), 1.0),
            ("nothing left", vec![], 0.0),
        ];
        for (what, observed, wanted) in cases {
            let got = voc_ap(&golden, &observed, 0.5);
            assert!((got - wanted).abs() < 1e-12, "{what}: {got}");
        }
        assert_eq!((voc_ap(&[], &[], 0.5), voc_ap(&[], &golden, 0.5)), (1.0, 0.0));
    }
}
