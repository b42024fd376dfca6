//! SSDs that suppress doubles themselves.

use super::listed::{LISTS, Sides};
use super::{Decoder, Units, listed};

/// Boxes (N, n, 4), scores (N, n), labels (N, n) with background as 0.
///
/// SSD-10 and -12 of the ONNX model zoo have these, with parts of the input as sides.
pub(super) const SSD: Decoder = Decoder {
    name: "ssd",
    about: "SSDs with the suppression of doubles inside, as in the ONNX model zoo: left, top, right \
            and bottom as parts of the model's input, scores, and labels of which 0 is background",
    outputs: LISTS,
    threshold: 0.5,
    overlap: 1.0,
    units: Some(Units::Relative),
    classes: None,
    decode: |heads, options| listed::decode(heads, options, Sides::LeftTop),
};

/// The same with rows before columns.
///
/// `detection_boxes`, `detection_scores` and `detection_classes` of TensorFlow's Object Detection
/// API, as tf2onnx converts it.
pub(super) const SSD_TF: Decoder = Decoder {
    name: "ssd_tf",
    about: "detectors of TensorFlow's Object Detection API: top, left, bottom and right as parts of \
            the model's input, scores, and labels that count from 1",
    decode: |heads, options| listed::decode(heads, options, Sides::TopLeft),
    ..SSD
};
