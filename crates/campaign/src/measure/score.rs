//! How good an answer with objects or areas is, and how similar to the golden one: shares from 0
//! to 1, since the headline of such an answer says neither.

use faultlens_core::{Case, Object, Response, Segments};
use faultlens_judge::{changed_objects, mean_average_precision, mean_class_iou};
use faultlens_record::{FoundObject, GoldenScene, Measures};

/// The overlap from which two boxes are of the same object.
const SAME: f64 = 0.5;

/// Measures how good an answer with objects or areas is against the truth, how similar to the
/// expected one, and which objects were found where the true ones are known. `classes` maps classes
/// of the data set to classes of the target; `expected` is what replaces the golden answer where the
/// fault has moved things; `answer` is `None` where the target did not answer.
pub(super) fn measure(
    measures: &mut Measures,
    case: &Case,
    classes: &[Option<usize>],
    golden: &Response,
    expected: Option<&Response>,
    answer: Option<&Response>,
) {
    let reference = expected.unwrap_or(golden);
    measures.similarity = answer.and_then(|answer| similarity(reference, answer));
    // Once things have moved, the truth no longer says where they stand.
    if expected.is_some() {
        return;
    }
    measures.truth_score_before = quality(case, classes, golden);
    if measures.truth_score_before.is_some() {
        measures.truth_score = answer.and_then(|answer| quality(case, classes, answer));
    }
    if GoldenScene::exists(case, classes, golden) {
        measures.found = match answer {
            Some(Response::Detections(detections)) => Some(FoundObject::all_of(detections)),
            Some(_) => None,
            None => Some(Vec::new()),
        };
    }
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
        Response::Detections(Detections {
            found: found.collect(),
            names,
            finite: true,
            min_score: None,
        })
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
        let mut measures = Measures::default();
        measure(&mut measures, &case, &[Some(1)], &golden, None, Some(&observed));
        assert_eq!(measures.truth_score_before, Some(1.0));
        // One of two found with the first of two answers: 51 of 101 recalls at full precision.
        assert!((measures.truth_score.unwrap() - 51.0 / 101.0).abs() < 1e-6);
        // One shared, one gone, one new.
        assert!((measures.similarity.unwrap() - 1.0 / 3.0).abs() < 1e-6);
        assert_eq!(measures.found.unwrap().len(), 2);
        let similarity = measures.similarity;
        let mut moved = Measures::default();
        measure(&mut moved, &case, &[Some(1)], &golden, Some(&golden), Some(&observed));
        assert_eq!(moved, Measures { similarity, ..Measures::default() });
        let nothing = detections(&[]);
        let mut unknown = Measures::default();
        measure(&mut unknown, &case, &[None], &nothing, None, Some(&nothing));
        assert_eq!(unknown, Measures { similarity: Some(1.0), ..Measures::default() });
        let mut lost = Measures::default();
        measure(&mut lost, &case, &[Some(1)], &golden, None, None);
        assert_eq!((lost.found, lost.similarity, lost.truth_score), (Some(vec![]), None, None));
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
        let mut measures = Measures::default();
        measure(&mut measures, &case, &[], &right, None, Some(&wrong));
        assert_eq!(measures.truth_score_before, Some(1.0));
        // Class 0: one of two pixels; class 1: none.
        assert_eq!(measures.truth_score, Some(0.25));
        assert_eq!(measures.similarity, Some(0.25));
    }
}
