//! YOLOv8, v9, v11 and v12, as Ultralytics exports them: a column for each box.

use super::{DecodeError, DecodeOptions, Decoded, Decoder, Head, Part, around};
use faultlens_core::{Detection, argmax};

/// (N, 4 + classes, boxes): centre and size, then the classes.
///
/// This is `output0` of `yolo export format=onnx` of ultralytics/ultralytics, with `nms=False`.
pub(super) const YOLOV8: Decoder = Decoder {
    name: "yolov8",
    about: "YOLOv8, v9, v11 and v12 as Ultralytics exports them: in each column the centre and size \
            of a box in pixels of the model's input, and the probability of every class",
    outputs: &[Part::new("name", 2)],
    threshold: 0.25,
    // What Ultralytics predicts with.
    overlap: 0.7,
    units: None,
    classes: Some((1, FIXED)),
    decode,
};

/// The same with what outlines are mixed by below the classes; the outlines are not read.
///
/// This is `output0` of task segment. A campaign on scenes asks what is found, not its outline.
pub(super) const YOLOV8_SEG: Decoder = Decoder {
    name: "yolov8_seg",
    about: "the boxes of YOLOv8-seg and its successors as Ultralytics exports them: columns as of \
            yolov8, with 32 numbers more for outlines, which are left out",
    classes: Some((1, FIXED + MASKS)),
    decode: |heads, options| read(heads, options, MASKS),
    ..YOLOV8
};

/// Centre and size, above the classes.
pub(crate) const FIXED: usize = 4;

/// Masks that Ultralytics' models mix outlines from.
pub(crate) const MASKS: usize = 32;

fn decode(heads: &[Head<'_>], options: &DecodeOptions) -> Result<Decoded, DecodeError> {
    read(heads, options, 0)
}

/// Columns whose last numbers, so many, are no classes.
fn read(
    heads: &[Head<'_>],
    options: &DecodeOptions,
    beside: usize,
) -> Result<Decoded, DecodeError> {
    let head = match heads {
        [head] if head.rows() > FIXED + beside => head,
        _ => {
            let more = if beside > 0 { format!(" + {beside}") } else { String::new() };
            let wanted = format!("(images, 4 + classes{more}, boxes) is needed");
            return Err(DecodeError { output: 0, wanted });
        }
    };
    let classes = head.rows() - FIXED - beside;
    let at = |row: usize, column: usize| head.numbers[row * head.columns() + column];
    Ok(Decoded {
        objects: (0..head.columns())
            .filter_map(|column| {
                // No objectness: the best class' score is the object's. Sides are given by centre
                // and size.
                let class = argmax((0..classes).map(|class| at(FIXED + class, column)))?;
                let score = at(FIXED + class, column);
                let [x, y, width, height] = [0, 1, 2, 3].map(|row| at(row, column));
                let bounds = around([x, y], [width, height]);
                (score >= options.min_score).then_some(Detection { class, score, bounds })
            })
            .collect(),
        classes,
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, head, options};
    use super::*;

    #[test]
    fn boxes_stand_in_columns_without_objectness() {
        let nan = f32::NAN;
        let rows = [
            [10.0, 30.0, 50.0, 5.0],
            [20.0, 20.0, 50.0, 5.0],
            [4.0, 4.0, 20.0, 1.0],
            [6.0, 6.0, 10.0, 1.0],
            // Two classes.
            [0.1, 0.2, 0.9, nan],
            [0.8, 0.1, nan, nan],
        ];
        let found = decode(&[head(&rows)], &options([64, 64], 0.25)).unwrap();
        check(&found, &[(1, 0.8, [8.0, 17.0, 12.0, 23.0]), (0, 0.9, [40.0, 45.0, 60.0, 55.0])]);
        assert_eq!(found.classes, 2);
        assert!(decode(&[head(&[[0.0; 9]; 4])], &options([64, 64], 0.25)).is_err());
        // What outlines are mixed by is no class, however large.
        let with_outlines: Vec<[f32; 4]> = rows.into_iter().chain([[9.0; 4]; MASKS]).collect();
        let same = (YOLOV8_SEG.decode)(&[head(&with_outlines)], &options([64, 64], 0.25)).unwrap();
        assert_eq!(same, found);
        assert!((YOLOV8_SEG.decode)(&[head(&rows)], &options([64, 64], 0.25)).is_err());
    }
}
