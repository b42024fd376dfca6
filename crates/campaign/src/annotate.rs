//! Draws answers with objects onto their images, so that changes stand out.

use crate::object_comparison::places;
use faultlens_core::{Bounds, Detection, Image, Response, framed};
use faultlens_judge::{ObjectChange, object_changes};

/// What is as it was.
const SAME: [u8; 3] = [0, 200, 83];
/// What is gone, new, elsewhere or called otherwise.
const CHANGED: [u8; 3] = [229, 28, 35];
/// The object that was inserted into the scene or removed from it.
const TOUCHED: [u8; 3] = [41, 98, 255];

/// The undisturbed image with golden's objects, and the changed one with those of the answer; what
/// differs from what is `expected` of it stands out. `None` for answers without objects.
pub(crate) fn annotate_both(
    (before, golden): (&Image, &Response),
    expected: &Response,
    (after, observed): (&Image, &Response),
    touched: Option<Bounds>,
    iou: f64,
) -> Option<[Image; 2]> {
    let (Response::Detections(golden), Response::Detections(expected)) = (golden, expected) else {
        return None;
    };
    let Response::Detections(observed) = observed else { return None };
    let changes = object_changes(&expected.found, &observed.found, iou);
    let mut lost = Vec::new();
    let mut new = Vec::new();
    // What a fault moves is still where it was in the undisturbed image.
    let places = places(&golden.found, &expected.found);
    for change in changes {
        let (from, to) = match change {
            ObjectChange::Missed { golden } => (Some(golden), None),
            ObjectChange::Spurious { observed } => (None, Some(observed)),
            ObjectChange::Label { golden, observed }
            | ObjectChange::Localisation { golden, observed } => (Some(golden), Some(observed)),
        };
        lost.extend(from.and_then(|at| places[at]).map(|at| golden.found[at]));
        new.extend(to.map(|at| observed.found[at]));
    }
    Some([
        annotate(before, &golden.found, &lost, None),
        annotate(after, &observed.found, &new, touched),
    ])
}

/// The undisturbed answer as [`annotate_both`] draws it where nothing changed; other answers as they are
/// drawn. `None` for those that are better put into words.
pub(crate) fn annotate_golden(on: &Image, golden: &Response) -> Option<Image> {
    match golden {
        Response::Detections(golden) => Some(annotate(on, &golden.found, &[], None)),
        other => other.drawn(on),
    }
}

fn annotate(
    on: &Image,
    found: &[Detection],
    changed: &[Detection],
    touched: Option<Bounds>,
) -> Image {
    let mut frames: Vec<(Bounds, [u8; 3])> = Vec::with_capacity(found.len() + 1);
    for object in found {
        let colour = if changed.contains(object) { CHANGED } else { SAME };
        frames.push((object.bounds, colour));
    }
    // What changed lies on top.
    frames.sort_by_key(|(_, colour)| *colour == CHANGED);
    frames.extend(touched.map(|bounds| (bounds, TOUCHED)));
    framed(on, &frames)
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::{Detections, Names};

    fn detections(lefts: &[f32]) -> Response {
        scored(&lefts.iter().map(|&left| (left, 0.9)).collect::<Vec<_>>())
    }

    fn scored(lefts: &[(f32, f32)]) -> Response {
        let found = lefts.iter().map(|&(left, score)| Detection {
            class: 0,
            score,
            bounds: Bounds { left, top: 0.0, right: left + 4.0, bottom: 4.0 },
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
    fn what_changed_stands_out() {
        let road = Image::from_rgb(30, 4, vec![0; 360]).unwrap();
        let golden = detections(&[0.0, 10.0]);
        let observed = detections(&[0.0, 20.0]);
        let touched = Some(Bounds { left: 25.0, top: 0.0, right: 29.0, bottom: 4.0 });
        let both =
            annotate_both((&road, &golden), &golden, (&road, &observed), touched, 0.5).unwrap();
        let at = |image: &Image, x: usize| image.rgb().as_chunks::<3>().0[x];
        assert_eq!([0, 10].map(|x| at(&both[0], x)), [SAME, CHANGED]);
        assert_eq!([0, 20, 25].map(|x| at(&both[1], x)), [SAME, CHANGED, TOUCHED]);
        // The same, mirrored: what is gone stands out where it was.
        let expected = detections(&[26.0, 16.0]);
        let observed = detections(&[26.0]);
        let mirrored =
            annotate_both((&road, &golden), &expected, (&road, &observed), None, 0.5).unwrap();
        assert_eq!([0, 10].map(|x| at(&mirrored[0], x)), [SAME, CHANGED]);
    }

    #[test]
    fn what_is_missed_stands_out_where_it_was_before_something_left_the_image() {
        let road = Image::from_rgb(30, 4, vec![0; 360]).unwrap();
        let golden = scored(&[(0.0, 0.9), (10.0, 0.8), (20.0, 0.7)]);
        // Everything moves to the left by five pixels: the first object is out of the image.
        let expected = scored(&[(5.0, 0.8), (15.0, 0.7)]);
        let observed = scored(&[(5.0, 0.8)]);
        let both =
            annotate_both((&road, &golden), &expected, (&road, &observed), None, 0.5).unwrap();
        let at = |image: &Image, x: usize| image.rgb().as_chunks::<3>().0[x];
        assert_eq!([0, 10, 20].map(|x| at(&both[0], x)), [SAME, SAME, CHANGED]);
        assert_eq!(at(&both[1], 5), SAME);
    }
}
