//! YOLOv10, YOLO26 and other models that choose their boxes themselves.

use super::listed::class_of;
use super::{DecodeError, DecodeOptions, Decoded, Decoder, Head, Part};
use faultlens_core::{Bounds, Detection};

/// (N, boxes, 6): left, top, right, bottom, score, class.
///
/// This is `output0` of `yolo export format=onnx` of ultralytics/ultralytics for models that need no
/// suppression of doubles (v10, 26), and for all others with `nms=True`.
pub(super) const YOLOV10: Decoder = Decoder {
    name: "yolov10",
    about: "YOLOv10, YOLO26 and exports with the suppression of doubles inside: left, top, right and \
            bottom in pixels of the model's input, score and class",
    outputs: &[Part::new("name", 2)],
    threshold: 0.25,
    overlap: 1.0,
    units: None,
    classes: None,
    decode,
};

fn decode(heads: &[Head<'_>], options: &DecodeOptions) -> Result<Decoded, DecodeError> {
    let head = match heads {
        [head] if head.columns() == 6 => head,
        _ => {
            return Err(DecodeError {
                output: 0,
                wanted: "(images, boxes, 6) is needed".to_owned(),
            });
        }
    };
    Ok(Decoded::of(
        head.places()
            .filter_map(|place| {
                let &[left, top, right, bottom, score, class] = place else { return None };
                // The class is a float among floats; rows that hold no box have a score of zero.
                let class = class_of(class)?;
                let bounds = Bounds { left, top, right, bottom };
                (score >= options.min_score).then_some(Detection { class, score, bounds })
            })
            .collect(),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, head, options};
    use super::*;

    #[test]
    fn boxes_are_read_as_they_are() {
        let rows = [
            [1.0, 2.0, 3.0, 4.0, 0.9, 7.0],
            [1.0, 2.0, 3.0, 4.0, 0.2, 7.0],
            // No class has such a number.
            [1.0, 2.0, 3.0, 4.0, 0.9, f32::NAN],
            [1.0, 2.0, 3.0, 4.0, 0.9, -1.0],
            [1.0, 2.0, 3.0, 4.0, 0.9, 1e30],
            [0.0, 0.0, 8.0, 8.0, 0.3, 0.0],
        ];
        let found = decode(&[head(&rows)], &options([64, 64], 0.25)).unwrap();
        check(&found, &[(7, 0.9, [1.0, 2.0, 3.0, 4.0]), (0, 0.3, [0.0, 0.0, 8.0, 8.0])]);
        assert_eq!(found.classes, 8);
        assert!(decode(&[head(&[[0.0; 7]])], &options([64, 64], 0.25)).is_err());
    }
}
