//! How good an answer with objects or areas is, and how similar to the golden one: shares from 0
//! to 1, since the headline of such an answer says neither.

use faultlens_core::{Case, Object, Response, Segments};
use faultlens_judge::{changed_objects, mean_average_precision, mean_class_iou};
use faultlens_record::keys::{LIKENESS, QUALITY, QUALITY_BEFORE};
use std::collections::BTreeMap;

/// The overlap from which two boxes are of the same object.
const SAME: f64 = 0.5;

/// The scores of an answer against the golden one and against the truth; none for answers without
/// objects or areas. `truths` maps classes of the data set to classes of the target; `moved` says
/// that things no longer stand where the truth has them.
pub(super) fn scores(
    case: &Case,
    truths: &[Option<usize>],
    (golden, observed): (&Response, Option<&Response>),
    moved: bool,
) -> BTreeMap<String, String> {
    let mut scores = BTreeMap::new();
    if let Some(score) = observed.and_then(|observed| similarity(golden, observed)) {
        scores.insert(LIKENESS.to_owned(), format!("{score:.6}"));
    }
    if !moved && let Some(before) = quality(case, truths, golden) {
        scores.insert(QUALITY_BEFORE.to_owned(), format!("{before:.6}"));
        if let Some(after) = observed.and_then(|observed| quality(case, truths, observed)) {
            scores.insert(QUALITY.to_owned(), format!("{after:.6}"));
        }
    }
    scores
}

/// The share of objects that both answers have (intersection over union of the two sets), or the
/// mean intersection over union of areas.
fn similarity(golden: &Response, observed: &Response) -> Option<f64> {
    match (golden, observed) {
        (Response::Detections(golden), Response::Detections(observed)) => {
            let (gone, new) = changed_objects(&golden.found, &observed.found, SAME);
            let all = golden.found.len() + new;
            // Two empty answers are the same.
            Some(if all == 0 { 1.0 } else { (golden.found.len() - gone) as f64 / all as f64 })
        }
        (Response::Segments(golden), Response::Segments(observed)) => {
            let same_size = (golden.width, golden.height) == (observed.width, observed.height);
            same_size.then(|| mean_class_iou(&golden.classes, &observed.classes))?
        }
        _ => None,
    }
}

/// COCO average precision at an overlap of one half for objects, mean intersection over union for
/// areas; `None` where the truth is not known.
fn quality(case: &Case, truths: &[Option<usize>], answer: &Response) -> Option<f64> {
    match answer {
        Response::Detections(detections) => {
            let mut objects = Vec::new();
            for object in &case.objects {
                if let Some(class) = truths.get(object.class).copied().flatten() {
                    objects.push(Object { class, ..object.clone() });
                }
            }
            mean_average_precision(&[(detections.found.clone(), objects)], SAME)
        }
        Response::Segments(segments) => {
            let truth = truth_of(case, segments)?;
            mean_class_iou(&truth, &segments.classes)
        }
        _ => None,
    }
}

/// The true class of every pixel of an answer: that of the image's pixel under its centre, since an
/// answer may have another size than the image and cover only part of it.
fn truth_of(case: &Case, segments: &Segments) -> Option<Vec<u16>> {
    let width = case.image.width();
    let height = case.image.height();
    if case.segments.len() != width * height {
        return None;
    }
    let covers = segments.covers;
    let mut truth = Vec::with_capacity(segments.classes.len());
    for at in 0..segments.classes.len() {
        let row = at / segments.width;
        let column = at % segments.width;
        let x = under_centre(column, segments.width, (covers.left, covers.right), width);
        let y = under_centre(row, segments.height, (covers.top, covers.bottom), height);
        truth.push(u16::from(case.segments[y * width + x]));
    }
    Some(truth)
}

/// The pixel of an image's side under the centre of one of `pixels` that cover a range of it.
fn under_centre(at: usize, pixels: usize, (from, to): (f32, f32), side: usize) -> usize {
    let place = from + (at as f32 + 0.5) / pixels as f32 * (to - from);
    (place.max(0.0) as usize).min(side - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::{Bounds, Detection, Detections, Image, Names};

    fn detections(lefts: &[f32]) -> Response {
        let found = lefts.iter().map(|&left| Detection {
            class: 1,
            score: 0.9,
            bounds: Bounds { left, top: 0.0, right: left + 10.0, bottom: 10.0 },
        });
        let names = Names::Letters;
        Response::Detections(Detections { found: found.collect(), names, finite: true })
    }

    fn number(scores: &BTreeMap<String, String>, name: &str) -> Option<f64> {
        scores.get(name).and_then(|text| text.parse().ok())
    }

    #[test]
    fn objects_are_scored_against_the_truth_and_against_golden() {
        let mut case = Case::new("a", Image::from_rgb(100, 20, vec![0; 6000]).unwrap());
        let object = |left: f32| Object {
            class: 0,
            bounds: Bounds { left, top: 0.0, right: left + 10.0, bottom: 10.0 },
            mask: None,
            crowd: false,
        };
        case.objects = vec![object(0.0), object(40.0)];
        let golden = detections(&[0.0, 40.0]);
        let observed = detections(&[0.0, 80.0]);
        // The set's class 0 is the target's class 1.
        let scores_of = scores(&case, &[Some(1)], (&golden, Some(&observed)), false);
        assert_eq!(number(&scores_of, QUALITY_BEFORE), Some(1.0));
        // One of two found with the first of two answers: 51 of 101 recalls at full precision.
        assert!((number(&scores_of, QUALITY).unwrap() - 51.0 / 101.0).abs() < 1e-6);
        // One shared, one gone, one new.
        assert!((number(&scores_of, LIKENESS).unwrap() - 1.0 / 3.0).abs() < 1e-6);
        let moved = scores(&case, &[Some(1)], (&golden, Some(&observed)), true);
        assert_eq!(moved.keys().collect::<Vec<_>>(), [LIKENESS]);
        let nothing = detections(&[]);
        let scores_of = scores(&case, &[None], (&nothing, Some(&nothing)), false);
        assert_eq!((number(&scores_of, LIKENESS), scores_of.len()), (Some(1.0), 1));
    }

    #[test]
    fn areas_are_scored_at_the_pixels_of_the_answer() {
        let mut case = Case::new("a", Image::from_rgb(4, 2, vec![0; 24]).unwrap());
        case.segments = vec![0, 0, 1, 1, 0, 0, 1, 1];
        let segments = |classes: Vec<u16>| {
            Response::Segments(Segments {
                width: 2,
                height: 1,
                classes,
                covers: Bounds { left: 0.0, top: 0.0, right: 4.0, bottom: 2.0 },
                names: Names::Letters,
                finite: true,
            })
        };
        let right = segments(vec![0, 1]);
        let wrong = segments(vec![0, 0]);
        let scores_of = scores(&case, &[], (&right, Some(&wrong)), false);
        assert_eq!(number(&scores_of, QUALITY_BEFORE), Some(1.0));
        // Class 0: one of two pixels; class 1: none.
        assert_eq!(number(&scores_of, QUALITY), Some(0.25));
        assert_eq!(number(&scores_of, LIKENESS), Some(0.25));
    }
}
