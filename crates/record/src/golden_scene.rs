//! The objects of an undisturbed case: those that its data set knows, and those that the target
//! finds. They are kept because average precision over many cases cannot be computed from numbers
//! of single cases, and because reports never open the data set.

use crate::measures::{FoundObject, decimal};
use faultlens_core::{Case, Object, Response};
use faultlens_judge::{Rect, Scene, ScoredBox, TruthBox};

/// The objects of a case before any fault.
#[derive(Debug, Clone, PartialEq)]
pub struct GoldenScene {
    /// The ground truth, as far as the target has a class for it. Never empty.
    pub known: Vec<KnownObject>,
    /// What the undisturbed target finds.
    pub found: Vec<FoundObject>,
}

/// An object of the ground truth, in the target's classes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KnownObject {
    /// The class, by its place in the target's list.
    pub class: usize,
    /// Whether the box holds a crowd instead of a single object, as COCO marks it.
    pub crowd: bool,
    /// Where it starts, in columns.
    pub left: f32,
    /// Where it starts, in rows.
    pub top: f32,
    /// How many columns it has.
    pub width: f32,
    /// How many rows it has.
    pub height: f32,
}

impl GoldenScene {
    /// The scene of an undisturbed answer; `None` for answers without objects, and where no object
    /// is known. `classes` maps the data set's classes to the target's.
    pub fn new(case: &Case, classes: &[Option<usize>], answer: &Response) -> Option<Self> {
        let Response::Detections(detections) = answer else { return None };
        let mut known = Vec::new();
        for (class, object) in known_objects(case, classes) {
            let rect = Rect::from(&object.bounds);
            known.push(KnownObject {
                class,
                crowd: object.crowd,
                left: rect.left as f32,
                top: rect.top as f32,
                width: rect.width as f32,
                height: rect.height as f32,
            });
        }
        (!known.is_empty()).then(|| Self { known, found: FoundObject::all_of(detections) })
    }

    /// Whether [`new`](Self::new) would return a scene.
    pub fn exists(case: &Case, classes: &[Option<usize>], answer: &Response) -> bool {
        matches!(answer, Response::Detections(_)) && known_objects(case, classes).next().is_some()
    }

    /// The scene as metrics of detections take it.
    pub fn to_metric(&self) -> Scene {
        Scene {
            objects: self.known.iter().copied().map(TruthBox::from).collect(),
            detections: self.found.iter().copied().map(ScoredBox::from).collect(),
        }
    }
}

impl From<KnownObject> for TruthBox {
    fn from(object: KnownObject) -> Self {
        let rect = Rect {
            left: decimal(object.left),
            top: decimal(object.top),
            width: decimal(object.width),
            height: decimal(object.height),
        };
        let area = rect.area();
        Self { class: object.class, rect, area, crowd: object.crowd, difficult: false }
    }
}

/// The objects of a case for which the target has a class, with that class.
fn known_objects<'c>(
    case: &'c Case,
    classes: &'c [Option<usize>],
) -> impl Iterator<Item = (usize, &'c Object)> {
    case.objects.iter().filter_map(|object| {
        let class = classes.get(object.class).copied().flatten()?;
        Some((class, object))
    })
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
        let found = found.collect();
        Response::Detections(Detections {
            found,
            names: Names::Letters,
            finite: true,
            min_score: None,
        })
    }

    fn object(class: usize, crowd: bool) -> Object {
        let bounds = Bounds { left: 0.1, top: 1.5, right: 10.1, bottom: 11.5 };
        Object { class, bounds, mask: None, crowd }
    }

    #[test]
    fn objects_have_the_classes_of_the_target() {
        let mut case = Case::new("a", Image::from_rgb(1, 1, vec![0; 3]).unwrap());
        let golden = answer(&[(usize::MAX, 0.75, 0.1), (2, f32::NAN, f32::NAN)]);
        assert_eq!(GoldenScene::new(&case, &[Some(4)], &golden), None);
        case.objects = vec![object(0, false), object(1, true), object(2, false)];
        let classes = [Some(4), Some(usize::MAX), None];
        let scene = GoldenScene::new(&case, &classes, &golden).unwrap().to_metric();
        let known: Vec<_> = scene.objects.iter().map(|known| (known.class, known.crowd)).collect();
        assert_eq!(known, [(4, false), (usize::MAX, true)]);
        let [first, second] = &scene.detections[..] else { panic!("{scene:?}") };
        assert_eq!((first.class, first.score), (usize::MAX, 0.75));
        assert!(first.rect.iou(&scene.objects[0].rect) > 0.999);
        assert!(second.score.is_nan() && second.rect.left.is_nan());
        assert_eq!(GoldenScene::new(&case, &[None, None, None], &golden), None);
        assert!(!GoldenScene::exists(&case, &[None], &golden));
        assert!(GoldenScene::exists(&case, &[Some(4)], &golden));
        assert!(!GoldenScene::exists(&case, &[Some(4)], &Response::Values(vec![1.0])));
    }
}
