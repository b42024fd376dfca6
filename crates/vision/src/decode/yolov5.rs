//! YOLOv5 and YOLOv7, as their exporters write them: boxes decoded, all grids one below the other.

use super::{
    DecodeError, DecodeOptions, Decoded, Decoder, Head, Part, USUAL_OVERLAP, around, best,
};
use faultlens_core::Detection;

/// (N, boxes, 5 + classes): centre, size, whether there is an object, which.
///
/// This is the first output of `export.py --include onnx` of ultralytics/yolov5, and of
/// `export.py --grid` of WongKinYiu/yolov7. YOLOv6 and YOLOX exported with `--decode_in_inference`
/// have the same columns.
pub(super) const YOLOV5: Decoder = Decoder {
    name: "yolov5",
    about: "YOLOv5, YOLOv7 and others whose export decodes boxes: centre and size in pixels of the \
            model's input, and the probabilities of an object and of every class",
    outputs: &[Part::new("name", 2)],
    threshold: 0.25,
    overlap: USUAL_OVERLAP,
    units: None,
    classes: Some((2, FIXED)),
    decode,
};

/// Centre, size and object, in front of the classes.
const FIXED: usize = 5;

fn decode(heads: &[Head<'_>], options: &DecodeOptions) -> Result<Decoded, DecodeError> {
    let [head] = heads else { return Err(wanted()) };
    if head.columns() <= FIXED {
        return Err(wanted());
    }
    let mut scores = Vec::new();
    let objects = head
        .places()
        .filter_map(|place| {
            let (fixed, classes) = place.split_at(FIXED);
            // Anchors and grids are decoded in the exported graph: these are pixels already.
            let &[x, y, width, height, sure] = fixed else { return None };
            scores.clear();
            // The score is P(object) · P(class | object), as in the original YOLO papers.
            scores.extend(classes.iter().map(|class| class * sure));
            let (class, score) = best(&scores, options.min_score)?;
            Some(Detection { class, score, bounds: around([x, y], [width, height]) })
        })
        .collect();
    Ok(Decoded { objects, classes: head.columns() - FIXED })
}

fn wanted() -> DecodeError {
    DecodeError { output: 0, wanted: "(images, boxes, 5 + classes) is needed".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, head, options};
    use super::*;

    #[test]
    fn a_score_is_that_of_an_object_times_its_class() {
        let rows = [
            [10.0, 20.0, 4.0, 6.0, 0.5, 0.2, 0.8],
            [30.0, 20.0, 4.0, 6.0, 0.5, 0.4, 0.1],
            [50.0, 50.0, 20.0, 10.0, 1.0, 0.9, f32::NAN],
            [f32::NAN, 1.0, 1.0, 1.0, f32::NAN, 1.0, 1.0],
        ];
        let found = decode(&[head(&rows)], &options([64, 64], 0.25)).unwrap();
        check(&found, &[(1, 0.4, [8.0, 17.0, 12.0, 23.0]), (0, 0.9, [40.0, 45.0, 60.0, 55.0])]);
        assert_eq!(found.classes, 2);
        assert!(decode(&[head(&[[0.0; 5]])], &options([64, 64], 0.25)).is_err());
    }
}
