//! How good an answer with objects or areas is, and how like golden: shares from 0 to 1 that
//! records keep, since an answer in a word does not tell.

use faultlens_core::{Case, Object, Response, Segments};
use faultlens_judge::{changed_objects, mean_average_precision, mean_class_iou};
use faultlens_record::keys::{LIKENESS, QUALITY, QUALITY_BEFORE};
use std::collections::BTreeMap;

/// The overlap from which two boxes are of the same object.
const SAME: f64 = 0.5;

/// All that records say of an answer's scores; nothing for answers without objects or areas.
/// `truths` are the target's classes, by the data set's; `moved` says that things no longer stand
/// where the truth has them.
pub(crate) fn scores(
    case: &Case,
    truths: &[Option<usize>],
    (golden, observed): (&Response, Option<&Response>),
    moved: bool,
) -> BTreeMap<String, String> {
    let mut scores = BTreeMap::new();
    let mut say = |name: &str, score: Option<f64>| {
        scores.extend(score.map(|score| (name.to_owned(), format!("{score:.6}"))));
    };
    say(LIKENESS, observed.and_then(|observed| likeness(golden, observed)));
    if !moved && let Some(before) = quality(case, truths, golden) {
        say(QUALITY_BEFORE, Some(before));
        say(QUALITY, observed.and_then(|observed| quality(case, truths, observed)));
    }
    scores
}

fn likeness(golden: &Response, observed: &Response) -> Option<f64> {
    match (golden, observed) {
        (Response::Detections(golden), Response::Detections(observed)) => {
            let (gone, new) = changed_objects(&golden.found, &observed.found, SAME);
            let all = golden.found.len() + new;
            // Nothing where nothing was is the same.
            Some(if all == 0 { 1.0 } else { (golden.found.len() - gone) as f64 / all as f64 })
        }
        (Response::Segments(golden), Response::Segments(observed)) => {
            let same_size = (golden.width, golden.height) == (observed.width, observed.height);
            same_size.then(|| mean_class_iou(&golden.classes, &observed.classes))?
        }
        _ => None,
    }
}

fn quality(case: &Case, truths: &[Option<usize>], answer: &Response) -> Option<f64> {
    match answer {
        Response::Detections(detections) => {
            let known = |object: &Object| {
                let class = truths.get(object.class).copied().flatten()?;
                Some(Object { class, ..object.clone() })
            };
            let objects: Vec<Object> = case.objects.iter().filter_map(known).collect();
            mean_average_precision(&[(detections.found.clone(), objects)], SAME)
        }
        Response::Segments(segments) => {
            let truth = truth_of(case, segments)?;
            mean_class_iou(&truth, &segments.classes)
        }
        _ => None,
    }
}

/// The true class of every pixel of an answer.
fn truth_of(case: &Case, segments: &Segments) -> Option<Vec<u16>> {
    let (width, height) = (case.image.width(), case.image.height());
    if case.segments.len() != width * height {
        return None;
    }
    let across = |at: usize, pixels: usize, from: f32, to: f32, most: usize| {
        let place = from + (at as f32 + 0.5) / pixels as f32 * (to - from);
        (place.max(0.0) as usize).min(most - 1)
    };
    let covers = segments.covers;
    let pixel = |at: usize| {
        let (row, column) = (at / segments.width, at % segments.width);
        let x = across(column, segments.width, covers.left, covers.right, width);
        let y = across(row, segments.height, covers.top, covers.bottom, height);
        u16::from(case.segments[y * width + x])
    };
    Some((0..segments.classes.len()).map(pixel).collect())
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
        let (found, names) = (found.collect(), Names::Letters);
        Response::Detections(Detections { found, names, finite: true })
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
        let (golden, observed) = (detections(&[0.0, 40.0]), detections(&[0.0, 80.0]));
        // The set's class 0 is the target's class 1.
        let told = scores(&case, &[Some(1)], (&golden, Some(&observed)), false);
        assert_eq!(number(&told, QUALITY_BEFORE), Some(1.0));
        // One of two found with the first of two answers: 51 of 101 recalls at full precision.
        assert!((number(&told, QUALITY).unwrap() - 51.0 / 101.0).abs() < 1e-6);
        // One shared, one gone, one new.
        assert!((number(&told, LIKENESS).unwrap() - 1.0 / 3.0).abs() < 1e-6);
        let moved = scores(&case, &[Some(1)], (&golden, Some(&observed)), true);
        assert_eq!(moved.keys().collect::<Vec<_>>(), [LIKENESS]);
        let nothing = detections(&[]);
        let told = scores(&case, &[None], (&nothing, Some(&nothing)), false);
        assert_eq!((number(&told, LIKENESS), told.len()), (Some(1.0), 1));
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
        let (right, wrong) = (segments(vec![0, 1]), segments(vec![0, 0]));
        let told = scores(&case, &[], (&right, Some(&wrong)), false);
        assert_eq!(number(&told, QUALITY_BEFORE), Some(1.0));
        // Class 0: one of two pixels; class 1: none.
        assert_eq!(number(&told, QUALITY), Some(0.25));
        assert_eq!(number(&told, LIKENESS), Some(0.25));
    }
}
