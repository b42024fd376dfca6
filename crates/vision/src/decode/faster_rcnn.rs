//! Faster R-CNN and torchvision's other detectors: what is left after their own suppression.

use super::listed::{LISTS, Sides};
use super::{Decoder, Units, listed};

/// Boxes (n, 4) in pixels, scores (n), labels (n) with background as 0.
///
/// `torch.onnx.export` of torchvision's detection models (Faster R-CNN, RetinaNet, SSD, FCOS, and
/// Mask R-CNN, whose masks are not read) and FasterRCNN-10 and -12 of the ONNX model zoo have these.
pub(super) const FASTER_RCNN: Decoder = Decoder {
    name: "faster_rcnn",
    about: "Faster R-CNN and torchvision's other detectors: left, top, right and bottom in pixels of \
            the model's input, scores, and labels of which 0 is background",
    outputs: LISTS,
    threshold: 0.5,
    overlap: 1.0,
    units: Some(Units::Pixels),
    classes: None,
    decode: |heads, options| listed::decode(heads, options, Sides::LeftTop),
};
