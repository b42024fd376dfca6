//! How a detector's numbers become boxes. One file per decoder.

mod faster_rcnn;
mod fastestdet;
mod listed;
mod ssd;
mod ultraface;
mod world;
mod yolov10;
mod yolov5;
mod yolov8;
mod yolox;

pub use world::find_peaks;
pub(super) use yolov8::{FIXED, MASKS};
pub(super) use yolox::cells;

use faultlens_core::{Bounds, Detection, argmax};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// How a detector's outputs become objects, which the suppression of doubles follows.
pub struct Decoder {
    /// The name in descriptions.
    pub name: &'static str,
    /// What it reads, in a sentence without a full stop.
    pub about: &'static str,
    /// The outputs that it reads, in this order.
    pub outputs: &'static [Part],
    /// The least score of an object where the description says none.
    pub threshold: f32,
    /// Boxes of one class that overlap by more are one object, where the description says nothing
    /// else; 1 where the model has seen to that itself.
    pub overlap: f32,
    /// What boxes are measured in where the description says nothing; `None` where there is no
    /// choice.
    pub units: Option<Units>,
    /// Where the first output says how many classes there are: its axis, and the numbers along it
    /// that are no classes.
    pub(super) classes: Option<(usize, usize)>,
    /// Reads the outputs of one image.
    pub(super) decode: Decode,
}

/// One of the outputs that a decoder reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The setting that names it.
    pub key: &'static str,
    /// How many axes one image has of it.
    pub(super) axes: usize,
    /// Whether exporters may leave the axis of images out.
    pub(super) alone: bool,
}

impl Part {
    const fn new(key: &'static str, axes: usize) -> Self {
        // Raw heads always have the axis of images.
        Self { key, axes, alone: false }
    }
}

/// What boxes are measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Units {
    /// Pixels of the model's input.
    Pixels,
    /// Parts of its width and height.
    Relative,
}

/// What a decoder has to know beside the outputs.
#[derive(Debug, Clone, Copy)]
pub(super) struct DecodeOptions {
    /// Rows and columns of the model's input.
    pub(super) size: [usize; 2],
    /// Objects below this score are left out.
    pub(super) min_score: f32,
    pub(super) units: Units,
}

/// Reads the outputs of one image, in the order of [`Decoder::outputs`]. Boxes are in pixels of the
/// model's input.
type Decode = fn(&[Head<'_>], &DecodeOptions) -> Result<Decoded, DecodeError>;

/// Every decoder, in alphabetical order. Add yours here.
pub const DECODERS: &[Decoder] = &[
    faster_rcnn::FASTER_RCNN,
    fastestdet::FASTESTDET,
    ssd::SSD,
    ssd::SSD_TF,
    ultraface::ULTRAFACE,
    world::WORLD,
    yolov10::YOLOV10,
    yolov5::YOLOV5,
    yolov8::YOLOV8,
    yolov8::YOLOV8_SEG,
    yolox::YOLOX,
];

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The overlap at which raw heads are thinned out, as most of their authors do.
const USUAL_OVERLAP: f32 = 0.45;

/// One image's part of an output, as rows of numbers: mostly a row for each place that may hold an
/// object.
pub(super) struct Head<'a> {
    /// Row by row.
    pub(super) numbers: Cow<'a, [f32]>,
    /// The lengths of its axes.
    pub(super) axes: Vec<usize>,
}

impl Head<'_> {
    /// Rows: the first axis.
    fn rows(&self) -> usize {
        self.axes.first().copied().unwrap_or(0)
    }

    /// Numbers of each row: all further axes.
    fn columns(&self) -> usize {
        self.axes.iter().skip(1).product()
    }

    /// The numbers of each row.
    fn places(&self) -> impl Iterator<Item = &[f32]> {
        // A place without numbers holds nothing.
        self.numbers.chunks_exact(self.columns().max(1))
    }
}

/// What a decoder found.
#[derive(Debug, PartialEq)]
pub(super) struct Decoded {
    pub(super) objects: Vec<Detection>,
    /// How many classes the model knows.
    pub(super) classes: usize,
}

/// An output of another form than the decoder reads.
#[derive(Debug, PartialEq)]
pub(super) struct DecodeError {
    /// Which of the decoder's outputs.
    pub(super) output: usize,
    /// What is needed, in words.
    pub(super) wanted: String,
}

/// The scores and boxes of as many places, four sides to a box.
fn scores_and_boxes<'h, 'a>(heads: &'h [Head<'a>]) -> Result<[&'h Head<'a>; 2], DecodeError> {
    match heads {
        [scores, boxes] if (boxes.rows(), boxes.columns()) == (scores.rows(), 4) => {
            Ok([scores, boxes])
        }
        heads => {
            let rows = heads.first().map_or(0, Head::rows);
            Err(DecodeError {
                output: 1,
                wanted: format!("(images, {rows}, 4) is needed for boxes"),
            })
        }
    }
}

/// The best class and its score, where that suffices; the first of equal ones, and never NaN.
fn best(scores: &[f32], min_score: f32) -> Option<(usize, f32)> {
    let class = argmax(scores.iter().copied())?;
    Some((class, scores[class])).filter(|&(_, score)| score >= min_score)
}

/// A box from its centre and size.
pub(super) fn around([x, y]: [f32; 2], [width, height]: [f32; 2]) -> Bounds {
    let x_reach = width / 2.0;
    let y_reach = height / 2.0;
    Bounds { left: x - x_reach, top: y - y_reach, right: x + x_reach, bottom: y + y_reach }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A head with these rows.
    pub(super) fn head<const N: usize>(rows: &[[f32; N]]) -> Head<'static> {
        Head { numbers: rows.concat().into(), axes: vec![rows.len(), N] }
    }

    /// An input of this size, and objects of this score.
    pub(super) fn options(size: [usize; 2], min_score: f32) -> DecodeOptions {
        DecodeOptions { size, min_score, units: Units::Pixels }
    }

    /// Compares what was found with classes, scores and sides by hand.
    pub(super) fn check(found: &Decoded, wanted: &[(usize, f32, [f32; 4])]) {
        assert_eq!(found.objects.len(), wanted.len(), "{found:?}");
        for (object, (class, score, sides)) in found.objects.iter().zip(wanted) {
            assert_eq!(object.class, *class, "{object:?}");
            assert!((object.score - score).abs() < 1e-6, "{object:?}");
            let Bounds { left, top, right, bottom } = object.bounds;
            let near = [left, top, right, bottom].into_iter().zip(sides);
            assert!(near.into_iter().all(|(a, b)| (a - b).abs() < 1e-4), "{object:?}");
        }
    }

    #[test]
    fn decoders_are_in_order_and_named_once() {
        assert!(DECODERS.is_sorted_by(|a, b| a.name < b.name));
        for decoder in DECODERS {
            assert!((0.0..=1.0).contains(&decoder.threshold), "{decoder:?}");
            assert!(!decoder.about.is_empty() && !decoder.about.ends_with('.'), "{decoder:?}");
            assert!((0.0..=1.0).contains(&decoder.overlap), "{decoder:?}");
            assert!(
                !decoder.outputs.is_empty()
                    && decoder
                        .outputs
                        .iter()
                        .all(
                            |part: &Part| ["name", "scores", "boxes", "labels"].contains(&part.key)
                        )
            );
        }
    }

    #[test]
    fn no_decoder_trips_over_odd_outputs() {
        let nan = f32::NAN;
        for decoder in DECODERS {
            for (rows, columns) in [(0, 0), (1, 0), (0, 6), (1, 1), (84, 2), (84, 6), (84, 4)] {
                for number in [0.0, 1.0, 1e30, nan, f32::INFINITY] {
                    let heads: Vec<Head<'_>> = decoder
                        .outputs
                        .iter()
                        .map(|part| {
                            let axes = [rows, columns, 1][..part.axes].to_vec();
                            let length = axes.iter().product();
                            Head { numbers: vec![number; length].into(), axes }
                        })
                        .collect();
                    let found = (decoder.decode)(&heads, &options([64, 64], 0.5));
                    assert!(
                        found.is_err()
                            || found
                                .is_ok_and(|f| f.objects.iter().all(|object| object.score >= 0.5))
                    );
                }
            }
        }
    }
}
