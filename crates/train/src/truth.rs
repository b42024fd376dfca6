//! What cases must say for each task: the same for what is learned from them and for what is
//! measured on them.

use crate::error::TrainError;
use crate::task::Task;
use faultlens_core::{Bounds, Case, Object, Tensor};
use faultlens_data::DataSet;
use faultlens_vision::{ElementType, InputDescription};

fn unlabelled(case: &Case, task: Task, missing: impl Into<String>) -> TrainError {
    TrainError::Unlabelled { case: case.name.clone(), missing: missing.into(), task: task.name() }
}

/// The class of the image, one of `classes`.
pub(crate) fn label(case: &Case, classes: usize) -> Result<usize, TrainError> {
    let label = case.label.ok_or_else(|| unlabelled(case, Task::Classify, "no class"))?;
    if label >= classes {
        let missing = format!("class {label}, where the model knows {classes}");
        return Err(unlabelled(case, Task::Classify, missing));
    }
    Ok(label)
}

/// The class of each of `pixels`, one of `classes`.
pub(crate) fn segments(case: &Case, pixels: usize, classes: usize) -> Result<&[u8], TrainError> {
    if case.segments.len() != pixels {
        let missing = format!("{} labelled pixels, not {pixels}", case.segments.len());
        return Err(unlabelled(case, Task::Segment, missing));
    }
    if let Some(class) = case.segments.iter().find(|&&class| usize::from(class) >= classes) {
        let missing = format!("a pixel of class {class}, where the model knows {classes}");
        return Err(unlabelled(case, Task::Segment, missing));
    }
    Ok(&case.segments)
}

/// So many numbers to answer.
pub(crate) fn values(case: &Case, count: usize) -> Result<&[f32], TrainError> {
    if case.values.len() != count {
        let missing = format!("{} numbers, not {count}", case.values.len());
        return Err(unlabelled(case, Task::Regress, missing));
    }
    Ok(&case.values)
}

/// Objects of `classes` with their boxes; there may be none.
pub(crate) fn objects(case: &Case, classes: usize) -> Result<&[Object], TrainError> {
    if let Some(object) = case.objects.iter().find(|object| object.class >= classes) {
        let class = object.class;
        let missing = format!("an object of class {class}, where the model knows {classes}");
        return Err(unlabelled(case, Task::Detect, missing));
    }
    Ok(&case.objects)
}

/// The images as the model sees them, but from 0 (black) to 1 (white) whatever it is fed.
pub(crate) fn pictures(cases: &[Case], input: &InputDescription) -> Result<Tensor, TrainError> {
    let images: Vec<_> = cases.iter().map(|case| case.image.clone()).collect();
    let InputDescription { resize, filter, antialias, layout, .. } = *input;
    let plain = InputDescription::plain(input.size, input.channels, ElementType::F32);
    let plain = InputDescription { resize, filter, antialias, layout, ..plain };
    Ok(plain.tensor(&images)?)
}

/// Refuses a set without a single object that a detector could find.
pub(crate) fn some_objects(data: &DataSet) -> Result<(), TrainError> {
    for at in 0..data.len() {
        if data.case(at)?.objects.iter().any(|object| !object.crowd) {
            return Ok(());
        }
    }
    Err(TrainError::NoObjects)
}

/// A box in pixels of a picture, after the picture's rows and columns went from one size to
/// another.
pub(crate) fn resized(bounds: Bounds, from: [usize; 2], to: [usize; 2]) -> Bounds {
    let [y, x] = [0, 1].map(|axis| to[axis] as f32 / from[axis] as f32);
    let Bounds { left, top, right, bottom } = bounds;
    Bounds { left: left * x, top: top * y, right: right * x, bottom: bottom * y }
}

/// Rows and columns of the case's image.
pub(crate) fn size(case: &Case) -> [usize; 2] {
    [case.image.height(), case.image.width()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Image;
    use faultlens_vision::Channels;

    fn case() -> Case {
        let bounds = Bounds { left: 1.0, top: 2.0, right: 3.0, bottom: 4.0 };
        let object = Object { class: 2, bounds, mask: None, crowd: false };
        let image = Image::from_rgb(2, 1, vec![0; 6]).unwrap();
        let label = Some(2);
        let objects = vec![object];
        let segments = vec![0, 2];
        let values = vec![0.5];
        Case { label, objects, segments, values, ..Case::new("a", image) }
    }

    #[test]
    fn what_a_case_lacks_is_named() {
        let full = case();
        let bare = Case::new("b", case().image);
        let text = |found: Result<(), TrainError>| found.err().map(|error| error.to_string());
        let cases = [
            (text(label(&full, 3).map(drop)), None),
            (text(label(&full, 2).map(drop)), Some("a has class 2, where the model knows 2")),
            (text(label(&bare, 2).map(drop)), Some("b has no class")),
            (text(segments(&full, 2, 3).map(drop)), None),
            (text(segments(&full, 2, 2).map(drop)), Some("a pixel of class 2")),
            (text(segments(&full, 4, 3).map(drop)), Some("2 labelled pixels, not 4")),
            (text(values(&full, 1).map(drop)), None),
            (text(values(&bare, 1).map(drop)), Some("0 numbers, not 1")),
            (text(objects(&full, 3).map(drop)), None),
            (text(objects(&bare, 3).map(drop)), None),
            (text(objects(&full, 2).map(drop)), Some("an object of class 2")),
            (text(some_objects(&DataSet::new(vec![], vec![bare.clone(), full]))), None),
            (text(some_objects(&DataSet::new(vec![], vec![bare]))), Some("no case has objects")),
        ];
        for (found, wanted) in cases {
            match (&found, wanted) {
                (None, None) => {}
                (Some(found), Some(wanted)) => assert!(found.contains(wanted), "{found}"),
                _ => panic!("{found:?} instead of {wanted:?}"),
            }
        }
    }

    #[test]
    fn pictures_are_what_is_seen_between_black_and_white() {
        let image = Image::from_rgb(2, 1, vec![0, 51, 255, 255, 102, 0]).unwrap();
        let plain = InputDescription::plain([1, 2], Channels::Bgr, ElementType::F32);
        // The preprocessing must not matter; which pixels there are, and their order, does.
        let fed = InputDescription { mean: vec![0.5], std: vec![0.25], scale: 2.0, ..plain };
        let found = pictures(&[Case::new("a", image)], &fed).unwrap();
        assert_eq!(found.shape(), [1, 3, 1, 2]);
        let wanted = [1.0, 0.0, 0.2, 0.4, 0.0, 1.0f32];
        for (found, wanted) in found.as_f32().unwrap().iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-6, "{found} instead of {wanted}");
        }
    }

    #[test]
    fn boxes_follow_rows_and_columns() {
        let bounds = case().objects[0].bounds;
        let wanted = Bounds { left: 3.0, top: 1.0, right: 9.0, bottom: 2.0 };
        assert_eq!(resized(bounds, [20, 10], [10, 30]), wanted);
        assert_eq!(resized(wanted, [10, 30], [20, 10]), bounds);
    }
}
