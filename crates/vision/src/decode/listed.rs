//! Detectors that list what they found: boxes, scores and labels, each an output of its own.

use super::{DecodeError, DecodeOptions, Decoded, Head, Part, Units};
use faultlens_core::{Bounds, Detection};

/// A larger number is no class, but a broken one.
const MAX_CLASSES: f32 = 65_536.0;

/// In which order the sides of a box stand.
#[derive(Clone, Copy)]
pub(super) enum Sides {
    LeftTop,
    TopLeft,
}

/// Boxes (n, 4), scores (n) and labels (n); the axis of images may be missing.
pub(super) const LISTS: &[Part] = &[
    Part { key: "boxes", axes: 2, alone: true },
    Part { key: "scores", axes: 1, alone: true },
    Part { key: "labels", axes: 1, alone: true },
];

/// Reads three lists. Labels count from 1: 0 is background, which is no class.
pub(super) fn decode(
    heads: &[Head<'_>],
    options: &DecodeOptions,
    sides: Sides,
) -> Result<Decoded, DecodeError> {
    let [boxes, scores, labels] = heads else {
        return Err(DecodeError {
            output: 0,
            wanted: "boxes, scores and labels are needed".into(),
        });
    };
    // Models with suppression inside list as many objects as they found, or pad the list with
    // zeros.
    let count = scores.rows();
    if boxes.rows() != count || (count > 0 && boxes.columns() != 4) {
        let wanted = format!("(images, {count}, 4) or ({count}, 4) is needed for boxes");
        return Err(DecodeError { output: 0, wanted });
    }
    if labels.rows() != count {
        let wanted = format!("(images, {count}) or ({count}) is needed for labels");
        return Err(DecodeError { output: 2, wanted });
    }
    let [y, x] = match options.units {
        Units::Pixels => [1.0, 1.0],
        Units::Relative => options.size.map(|side| side as f32),
    };
    let each = boxes.places().zip(scores.numbers.iter()).zip(labels.numbers.iter());
    Ok(Decoded::of(
        each.filter_map(|((sides_of, &score), &label)| {
            let &[a, b, c, d] = sides_of else { return None };
            let [left, top, right, bottom] = match sides {
                // TensorFlow puts top before left.
                Sides::LeftTop => [a, b, c, d],
                Sides::TopLeft => [b, a, d, c],
            };
            // Label 0 is background.
            let class = class_of(label)?.checked_sub(1)?;
            let bounds =
                Bounds { left: left * x, top: top * y, right: right * x, bottom: bottom * y };
            (score >= options.min_score).then_some(Detection { class, score, bounds })
        })
        .collect(),
    ))
}

/// The class of this number; `None` where no class has it.
pub(super) fn class_of(number: f32) -> Option<usize> {
    // Comparisons are false for NaN, which is no class.
    (number > -0.5 && number < MAX_CLASSES).then(|| number.round() as usize)
}

impl Decoded {
    /// Objects of a model that does not say how many classes it knows.
    pub(super) fn of(objects: Vec<Detection>) -> Self {
        let classes = objects.iter().map(|object| object.class + 1).max().unwrap_or(0);
        Self { objects, classes }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, head, options};
    use super::*;

    fn list(numbers: &[f32]) -> Head<'_> {
        Head { numbers: numbers.into(), axes: vec![numbers.len()] }
    }

    #[test]
    fn sides_and_units_are_those_of_the_decoder() {
        let boxes = || head(&[[0.1, 0.2, 0.3, 0.4], [0.0, 0.0, 1.0, 1.0], [0.5; 4], [0.0; 4]]);
        let scores = [0.9, 0.1, f32::NAN, 0.8];
        let labels = [3.0, 1.0, 1.0, 0.0];
        let pixels = options([100, 200], 0.5);
        let relative = DecodeOptions { units: Units::Relative, ..pixels };
        for (options, sides, wanted) in [
            (pixels, Sides::LeftTop, [0.1, 0.2, 0.3, 0.4]),
            (pixels, Sides::TopLeft, [0.2, 0.1, 0.4, 0.3]),
            (relative, Sides::LeftTop, [20.0, 20.0, 60.0, 40.0]),
            (relative, Sides::TopLeft, [40.0, 10.0, 80.0, 30.0]),
        ] {
            let heads = [boxes(), list(&scores), list(&labels)];
            // Unsure, no number, background: none of them is an object.
            check(&decode(&heads, &options, sides).unwrap(), &[(2, 0.9, wanted)]);
        }
    }

    #[test]
    fn nothing_found_is_an_answer_and_lists_have_one_length() {
        let none = || Head { numbers: (&[]).into(), axes: vec![0, 4] };
        let found = decode(&[none(), list(&[]), list(&[])], &options([8, 8], 0.5), Sides::LeftTop);
        assert_eq!(found.unwrap(), Decoded { objects: vec![], classes: 0 });
        let wrong =
            decode(&[none(), list(&[1.0]), list(&[1.0])], &options([8, 8], 0.5), Sides::LeftTop);
        let wanted = "(images, 1, 4) or (1, 4) is needed for boxes";
        assert_eq!(wrong.unwrap_err(), DecodeError { output: 0, wanted: wanted.into() });
        let one = head(&[[0.0; 4]]);
        let wrong = decode(&[one, list(&[1.0]), list(&[])], &options([8, 8], 0.5), Sides::LeftTop);
        assert_eq!(wrong.unwrap_err().output, 2);
    }
}
