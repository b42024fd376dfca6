//! Detections against the ground truth of many images, as COCO, PASCAL VOC and TIDE count them.
//!
//! 1. A [`Scene`] is one image: what is known of it and what was found in it.
//! 2. [`OverlapTable`](matching::OverlapTable) says which detections of a class overlap which
//!    objects, and matches them at a threshold.
//! 3. A curve of precision over recall follows from true and false positives by descending score.
//!
//! Everything is computed in 64 bits from the numbers of the files: an overlap exactly at a
//! threshold falls on the same side as in the published programs.

pub(super) mod coco;
mod curve;
mod evidence;
pub(super) mod matching;
mod summary;
mod tide;
mod voc;

pub use coco::{ClassScores, SizeScores, coco_ious, coco_scores};
pub use evidence::CocoEvidence;
pub use summary::CocoSummary;
pub use tide::{Tide, TideError, TideKind, tide};
pub use voc::{VocPrecision, voc_ap, voc_average_precision};

use faultlens_core::{Bounds, Detection};
use std::cmp::Ordering;

/// One image: its ground truth and the detections in it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scene {
    /// The ground truth.
    pub objects: Vec<TruthBox>,
    /// The detections, in any order; of equal scores the first one ranks higher.
    pub detections: Vec<ScoredBox>,
}

/// An object of the ground truth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TruthBox {
    /// Its class, a position in a list.
    pub class: usize,
    /// The box around it.
    pub rect: Rect,
    /// How many pixels it has, which decides whether it is small or large; its box may have more.
    pub area: f64,
    /// Whether it is a group of objects that cannot be told apart; detections on it count neither
    /// way.
    pub crowd: bool,
    /// Whether VOC leaves it out, since it is too hard to see.
    pub difficult: bool,
}

/// A detection with the full precision of its file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoredBox {
    /// Its class, a position in the same list as those of objects.
    pub class: usize,
    /// Where it is.
    pub rect: Rect,
    /// The confidence of the target.
    pub score: f64,
}

impl ScoredBox {
    /// Highest score first, NaN last; a stable sort keeps the order of equal scores.
    pub(super) fn by_descending_score(a: &Self, b: &Self) -> Ordering {
        by_descending_score(a.score, b.score)
    }
}

impl From<&Detection> for ScoredBox {
    fn from(found: &Detection) -> Self {
        let &Detection { class, score, ref bounds } = found;
        Self { class, rect: bounds.into(), score: f64::from(score) }
    }
}

/// A box in 64 bits, as COCO's files write it: a corner and two sides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rect {
    /// Where it starts, in columns.
    pub left: f64,
    /// Where it starts, in rows.
    pub top: f64,
    /// How many columns it has.
    pub width: f64,
    /// How many rows it has.
    pub height: f64,
}

impl Rect {
    /// Pixels that it covers.
    pub fn area(&self) -> f64 {
        self.width * self.height
    }

    /// The intersection over union: 0 for boxes that do not meet or are not finite. Computed step for
    /// step as pycocotools does.
    pub fn iou(&self, other: &Self) -> f64 {
        let shared = self.shared(other);
        finite(shared / (self.area() + other.area() - shared))
    }

    /// The part of this box that lies in another one, which may be far larger.
    pub fn part_in(&self, other: &Self) -> f64 {
        finite(self.shared(other) / self.area())
    }

    fn shared(&self, other: &Self) -> f64 {
        let width = shared_side((self.left, self.width), (other.left, other.width));
        let height = shared_side((self.top, self.height), (other.top, other.height));
        let met = width > 0.0 && height > 0.0;
        // Of a side that is not a number, minima and maxima would see only the other one.
        if met && self.is_finite() && other.is_finite() { width * height } else { 0.0 }
    }

    fn is_finite(&self) -> bool {
        (self.left + self.top + self.width + self.height).is_finite()
    }
}

impl From<&Bounds> for Rect {
    fn from(bounds: &Bounds) -> Self {
        let &Bounds { left, top, right, bottom } = bounds;
        let [left, top, right, bottom] = [left, top, right, bottom].map(f64::from);
        Self { left, top, width: side(left, right), height: side(top, bottom) }
    }
}

/// The length of a side, not below 0. NaN stays NaN, so that such a box meets nothing; `max` would
/// hide it.
fn side(from: f64, to: f64) -> f64 {
    if to < from { 0.0 } else { to - from }
}

fn by_descending_score(a: f64, b: f64) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (false, false) => b.partial_cmp(&a).unwrap_or(Ordering::Equal),
        (a_nan, b_nan) => a_nan.cmp(&b_nan),
    }
}

fn shared_side(a: (f64, f64), b: (f64, f64)) -> f64 {
    (a.0 + a.1).min(b.0 + b.1) - a.0.max(b.0)
}

fn finite(part: f64) -> f64 {
    if part.is_finite() { part } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_in_64_bits_overlap_as_others_do() {
        let inf = f32::INFINITY;
        let nan = f32::NAN;
        let sides = [
            [0.0, 0.0, 4.0, 4.0],
            [2.0, 0.0, 6.0, 4.0],
            [0.5, 0.25, 40.0, 40.0],
            [4.0, 0.0, 8.0, 4.0],
            [4.0, 4.0, 0.0, 0.0],
            [nan, 0.0, 4.0, 4.0],
            [0.0, 0.0, nan, 4.0],
            [0.0, 1.0, 4.0, nan],
            [1.0, 1.0, 1.0, 1.0],
        ];
        let boxes = sides.map(|[left, top, right, bottom]| Bounds { left, top, right, bottom });
        for (a, b) in boxes.iter().flat_map(|a| boxes.iter().map(move |b| (a, b))) {
            let p = Rect::from(a);
            let q = Rect::from(b);
            assert_eq!((p.iou(&q), p.part_in(&q)), (a.iou(b), a.part_in(b)), "{a:?} {b:?}");
        }
        let endless = Bounds { left: -inf, top: -inf, right: inf, bottom: inf };
        assert_eq!(Rect::from(&boxes[0]).iou(&Rect::from(&endless)), 0.0);
    }
}
