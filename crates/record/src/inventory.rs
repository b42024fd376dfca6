//! What was found in a case and what is known of it, as texts that a run keeps: average precision
//! over many cases does not follow from numbers of single ones, and reports open no data set.

use faultlens_core::{Case, Object, Response};
use faultlens_judge::{Rect, Scene, ScoredBox, TruthBox};
use std::collections::BTreeMap;

/// What a record calls the objects that were found, where the case's own are known: for each its
/// class, score and box.
pub const FOUND: &str = "found";

/// Parts objects from each other.
const NEXT: char = ';';

/// Parts what is known from what was found.
const AGAINST: char = '|';

/// What the data set knows of a case, in the target's classes, and what the undisturbed target
/// found in it; `None` for other answers, and where no object is known. `truths` are the target's
/// classes, by the data set's.
pub fn golden(case: &Case, truths: &[Option<usize>], answer: &Response) -> Option<String> {
    let found = found(answer)?;
    let known: Vec<String> = known(case, truths)
        .map(|(class, object)| {
            let rect = side_texts(&Rect::from(&object.bounds));
            format!("{class} {} {rect}", u8::from(object.crowd))
        })
        .collect();
    let known = known.join(&NEXT.to_string());
    (!known.is_empty()).then(|| format!("{known}{AGAINST}{found}"))
}

/// Whether [`golden`] has something to say.
pub fn is_known(case: &Case, truths: &[Option<usize>], answer: &Response) -> bool {
    matches!(answer, Response::Detections(_)) && known(case, truths).next().is_some()
}

/// The objects of a case that have a class in the target's list.
fn known<'c>(
    case: &'c Case,
    truths: &'c [Option<usize>],
) -> impl Iterator<Item = (usize, &'c Object)> {
    let objects = case.objects.iter();
    objects.filter_map(|object| Some((truths.get(object.class).copied().flatten()?, object)))
}

/// What a target found under a fault: nothing where it did not answer.
pub fn observed(answer: Option<&Response>) -> BTreeMap<String, String> {
    let text = answer.map_or(Some(String::new()), found);
    text.map(|text| (FOUND.to_owned(), text)).into_iter().collect()
}

fn found(answer: &Response) -> Option<String> {
    let Response::Detections(detections) = answer else { return None };
    let each = detections
        .found
        .iter()
        .map(|one| format!("{} {} {}", one.class, one.score, side_texts(&Rect::from(&one.bounds))));
    Some(each.collect::<Vec<_>>().join(&NEXT.to_string()))
}

fn side_texts(rect: &Rect) -> String {
    // 32 bits are what answers have.
    let [left, top, width, height] =
        [rect.left, rect.top, rect.width, rect.height].map(|side| side as f32);
    format!("{left} {top} {width} {height}")
}

/// The scene that [`golden`] wrote; `None` for a text that it did not write.
pub fn read(text: &str) -> Option<Scene> {
    let (known, found) = text.split_once(AGAINST)?;
    Some(Scene { objects: read_known(known)?, detections: read_found(found)? })
}

/// The detections that [`observed`] wrote.
pub fn read_found(text: &str) -> Option<Vec<ScoredBox>> {
    let parts = text.split(NEXT).filter(|part| !part.is_empty());
    let one = |part: &str| {
        let (class, score, rect) = numbers(part)?;
        Some(ScoredBox { class, rect, score })
    };
    parts.map(one).collect()
}

fn read_known(text: &str) -> Option<Vec<TruthBox>> {
    let one = |part: &str| {
        let (class, crowd, rect) = numbers(part)?;
        Some(TruthBox { class, rect, area: rect.area(), crowd: crowd > 0.0, difficult: false })
    };
    text.split(NEXT).map(one).collect()
}

/// A class, a number and a box.
fn numbers(part: &str) -> Option<(usize, f64, Rect)> {
    let (class, rest) = part.split_once(' ')?;
    let rest: Vec<f64> = rest.split(' ').map(|text| text.parse().ok()).collect::<Option<_>>()?;
    let [number, left, top, width, height] = rest[..] else { return None };
    Some((class.parse().ok()?, number, Rect { left, top, width, height }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::{Bounds, Detection, Detections, Image, Names};

    fn answer(found: &[(usize, f32, f32)]) -> Response {
        let found = found.iter().map(|&(class, score, left)| Detection {
            class,
            score,
            bounds: Bounds { left, top: 1.5, right: left + 10.0, bottom: 11.5 },
        });
        let (found, names) = (found.collect(), Names::Letters);
        Response::Detections(Detections { found, names, finite: true })
    }

    #[test]
    fn texts_hold_what_was_found_and_known() {
        let mut case = Case::new("a", Image::from_rgb(1, 1, vec![0; 3]).unwrap());
        let object = |class, crowd| Object {
            class,
            bounds: Bounds { left: 0.1, top: 1.5, right: 10.1, bottom: 11.5 },
            mask: None,
            crowd,
        };
        let golden_answer = answer(&[(usize::MAX, 0.75, 0.1), (2, f32::NAN, f32::NAN)]);
        assert_eq!(golden(&case, &[Some(4)], &golden_answer), None);
        case.objects = vec![object(0, false), object(1, true), object(2, false)];
        let text = golden(&case, &[Some(4), Some(usize::MAX), None], &golden_answer).unwrap();
        let scene = read(&text).unwrap();
        let about: Vec<_> = scene.objects.iter().map(|known| (known.class, known.crowd)).collect();
        assert_eq!(about, [(4, false), (usize::MAX, true)]);
        let [first, second] = &scene.detections[..] else { panic!("{text}") };
        assert_eq!((first.class, first.score), (usize::MAX, 0.75));
        assert!(first.rect.iou(&scene.objects[0].rect) > 0.999);
        assert!(second.score.is_nan() && second.rect.left.is_nan());
        assert_eq!(golden(&case, &[None, None, None], &golden_answer), None);
        assert!(
            !is_known(&case, &[None], &golden_answer)
                && is_known(&case, &[Some(4)], &golden_answer)
        );
        let nothing = &observed(Some(&answer(&[])))[FOUND];
        assert_eq!((nothing.as_str(), read_found(nothing)), ("", Some(vec![])));
        assert_eq!(observed(None)[FOUND], "");
        let text = observed(Some(&answer(&[(1, 0.5, 3.0)])));
        assert_eq!(text[FOUND], "1 0.5 3 1.5 10 10");
    }

    #[test]
    fn other_texts_are_not_read() {
        for text in ["", "1 2", "a 0 1 2 3 4", "1 0 1 2 3 x", "1 0 1 2 3"] {
            assert_eq!(read(&format!("{text}|")), None, "{text}");
        }
        assert_eq!(read("1 0 1 2 3 4"), None);
        assert_eq!(read_found("1 0.5 1 2 3 4;x"), None);
    }
}
