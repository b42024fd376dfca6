//! How a detector's numbers become boxes. One file per decoder.

mod ultraface;
mod world;
mod yolox;

pub use world::find_peaks;

use faultlens_core::{Bounds, Detection, argmax};
use std::borrow::Cow;
use std::fmt;

/// How a detector's outputs become objects, which the suppression of doubles follows.
pub struct Decoder {
    /// The name in descriptions.
    pub name: &'static str,
    /// What it reads, in a sentence without a full stop.
    pub about: &'static str,
    /// The settings that name the outputs that it reads, in this order.
    pub outputs: &'static [&'static str],
    /// The least score of an object where the description says none.
    pub threshold: f32,
    /// Reads the outputs of one image.
    pub(super) decode: Decode,
}

/// Reads the outputs of one image, in the order of [`Decoder::outputs`]. Boxes are in pixels of the
/// model's input, whose rows and columns come with them; objects below the least score are left
/// out.
type Decode = fn(&[Head<'_>], [usize; 2], f32) -> Result<Found, Misread>;

/// Every decoder, in alphabetical order. Add yours here.
pub const DECODERS: &[Decoder] = &[ultraface::ULTRAFACE, world::WORLD, yolox::YOLOX];

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").field("name", &self.name).finish_non_exhaustive()
    }
}

/// One image's part of an output: a row of numbers for each place that may hold an object.
pub(super) struct Head<'a> {
    /// Row by row.
    pub(super) numbers: Cow<'a, [f32]>,
    /// Places.
    pub(super) rows: usize,
    /// Numbers of each place.
    pub(super) columns: usize,
}

impl Head<'_> {
    /// The numbers of each place.
    fn places(&self) -> impl Iterator<Item = &[f32]> {
        // A place without numbers holds nothing.
        self.numbers.chunks_exact(self.columns.max(1))
    }
}

/// What a decoder found.
#[derive(Debug, PartialEq)]
pub(super) struct Found {
    pub(super) objects: Vec<Detection>,
    /// How many classes the model knows.
    pub(super) classes: usize,
}

/// An output of another form than the decoder reads.
#[derive(Debug, PartialEq)]
pub(super) struct Misread {
    /// Which of the decoder's outputs.
    pub(super) output: usize,
    /// What is needed, in words.
    pub(super) wanted: String,
}

/// The scores and boxes of as many places, four sides to a box.
fn scores_and_boxes<'h, 'a>(heads: &'h [Head<'a>]) -> Result<[&'h Head<'a>; 2], Misread> {
    match heads {
        [scores, boxes] if (boxes.rows, boxes.columns) == (scores.rows, 4) => Ok([scores, boxes]),
        heads => {
            let rows = heads.first().map_or(0, |scores| scores.rows);
            Err(Misread { output: 1, wanted: format!("(images, {rows}, 4) is needed for boxes") })
        }
    }
}

/// The best class and its score, where that suffices; the first of equal ones, and never NaN.
fn best(scores: &[f32], least: f32) -> Option<(usize, f32)> {
    let class = argmax(scores.iter().copied())?;
    Some((class, scores[class])).filter(|&(_, score)| score >= least)
}

/// A box from its centre and size.
fn around([x, y]: [f32; 2], [width, height]: [f32; 2]) -> Bounds {
    let (x_reach, y_reach) = (width / 2.0, height / 2.0);
    Bounds { left: x - x_reach, top: y - y_reach, right: x + x_reach, bottom: y + y_reach }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A head with these rows.
    pub(super) fn head<const N: usize>(rows: &[[f32; N]]) -> Head<'static> {
        Head { numbers: rows.concat().into(), rows: rows.len(), columns: N }
    }

    #[test]
    fn decoders_are_in_order_and_named_once() {
        assert!(DECODERS.is_sorted_by(|a, b| a.name < b.name));
        for decoder in DECODERS {
            assert!((0.0..=1.0).contains(&decoder.threshold), "{decoder:?}");
            assert!(!decoder.about.is_empty() && !decoder.about.ends_with('.'), "{decoder:?}");
            let known = |key: &&str| ["name", "scores", "boxes"].contains(key);
            assert!(!decoder.outputs.is_empty() && decoder.outputs.iter().all(known));
        }
    }

    #[test]
    fn no_decoder_trips_over_odd_outputs() {
        let nan = f32::NAN;
        for decoder in DECODERS {
            for (rows, columns) in [(0, 0), (1, 0), (0, 6), (1, 1), (84, 2), (84, 6), (84, 4)] {
                for number in [0.0, 1.0, 1e30, nan, f32::INFINITY] {
                    let head =
                        || Head { numbers: vec![number; rows * columns].into(), rows, columns };
                    let heads: Vec<Head<'_>> = decoder.outputs.iter().map(|_| head()).collect();
                    let found = (decoder.decode)(&heads, [64, 64], 0.5);
                    let sure = |object: &Detection| object.score >= 0.5;
                    assert!(found.is_err() || found.is_ok_and(|f| f.objects.iter().all(sure)));
                }
            }
        }
    }
}
