//! Cases: images with everything that is known about them.

use crate::Image;
use std::collections::BTreeMap;
use std::fmt;

/// One image with labels, objects and strata. Classes are positions in the data set's list.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Its name, unlike that of every other case of the set.
    pub name: String,
    /// The image that the target sees.
    pub image: Image,
    /// The class of the whole image.
    pub label: Option<usize>,
    /// The objects in the image, with their boxes.
    pub objects: Vec<Object>,
    /// For each pixel, rows from the top, the class of what it shows; empty where unknown.
    pub segments: Vec<u8>,
    /// Numbers that a target should answer, such as a steering angle.
    pub values: Vec<f32>,
    /// Groups that rates are reported for, such as `light: night`.
    pub strata: BTreeMap<String, String>,
}

impl Case {
    /// A case with an image and nothing else yet.
    pub fn new(name: impl Into<String>, image: Image) -> Self {
        Self {
            name: name.into(),
            image,
            label: None,
            objects: Vec::new(),
            segments: Vec::new(),
            values: Vec::new(),
            strata: BTreeMap::new(),
        }
    }
}

/// One labelled object in an image.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// Its class.
    pub class: usize,
    /// The box around what can be seen of it.
    pub bounds: Bounds,
    /// Its pixels, where they are known.
    pub mask: Option<Mask>,
    /// Whether it is a group of objects that cannot be told apart (`iscrowd` in COCO); detections on
    /// it count neither as right nor as wrong.
    pub crowd: bool,
}

/// A box in pixels: columns `left..right`, rows `top..bottom`, from the image's upper left corner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Where it starts, in columns.
    pub left: f32,
    /// Where it starts, in rows.
    pub top: f32,
    /// Where it ends, in columns.
    pub right: f32,
    /// Where it ends, in rows.
    pub bottom: f32,
}

impl Bounds {
    /// Pixels that it covers; none where it ends before it starts.
    pub fn area(&self) -> f32 {
        (self.right - self.left).max(0.0) * (self.bottom - self.top).max(0.0)
    }

    /// The intersection over union of two boxes (Jaccard index): 1 for the same box, 0 for boxes that
    /// do not meet or are not finite. Computed in 64 bits as pycocotools does, so that a pair
    /// exactly at a threshold falls on the same side.
    pub fn iou(&self, other: &Self) -> f64 {
        let shared = self.shared(other);
        let part = shared / (self.area_in_64_bits() + other.area_in_64_bits() - shared);
        if part.is_finite() { part } else { 0.0 }
    }

    /// The share of this box that lies inside another one, which may be far larger; 0 for an empty
    /// box. COCO measures overlap with crowds this way.
    pub fn part_in(&self, other: &Self) -> f64 {
        let part = self.shared(other) / self.area_in_64_bits();
        if part.is_finite() { part } else { 0.0 }
    }

    /// Left, top, right and bottom.
    pub fn sides(&self) -> [f32; 4] {
        [self.left, self.top, self.right, self.bottom]
    }

    fn area_in_64_bits(&self) -> f64 {
        extent(self.left, self.right) * extent(self.top, self.bottom)
    }

    fn shared(&self, other: &Self) -> f64 {
        if self.sides().into_iter().chain(other.sides()).any(f32::is_nan) {
            return 0.0;
        }
        extent(self.left.max(other.left), self.right.min(other.right))
            * extent(self.top.max(other.top), self.bottom.min(other.bottom))
    }
}

/// Left, top, right and bottom, to a tenth of a pixel.
impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [left, top, right, bottom] = self.sides();
        write!(f, "{left:.1} {top:.1} {right:.1} {bottom:.1}")
    }
}

fn extent(from: f32, to: f32) -> f64 {
    (f64::from(to) - f64::from(from)).max(0.0)
}

/// The pixels of one object, over the whole image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask {
    width: usize,
    bits: Vec<bool>,
}

impl Mask {
    /// A mask with rows of `width` pixels from the top; `None` where rows are incomplete.
    pub fn new(width: usize, bits: Vec<bool>) -> Option<Self> {
        (width > 0 && bits.len().is_multiple_of(width)).then_some(Self { width, bits })
    }

    /// Columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.bits.len() / self.width
    }

    /// For each pixel, rows from the top, whether it belongs to the object.
    pub fn bits(&self) -> &[bool] {
        &self.bits
    }

    /// How many pixels belong to the object.
    pub fn area(&self) -> usize {
        self.bits.iter().filter(|&&bit| bit).count()
    }

    /// The smallest box around its pixels; `None` for an empty mask.
    pub fn bounds(&self) -> Option<Bounds> {
        // Rows come in order, so the first and the last pixel give top and bottom; columns do not.
        let first = self.bits.iter().position(|&bit| bit)?;
        let last = self.bits.iter().rposition(|&bit| bit)?;
        let mut left = self.width;
        let mut right = 0;
        for at in first..=last {
            if self.bits[at] {
                left = left.min(at % self.width);
                right = right.max(at % self.width + 1);
            }
        }
        Some(Bounds {
            left: left as f32,
            top: (first / self.width) as f32,
            right: right as f32,
            bottom: (last / self.width + 1) as f32,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(left: f32, top: f32, right: f32, bottom: f32) -> Bounds {
        Bounds { left, top, right, bottom }
    }

    #[test]
    fn boxes_overlap_by_shared_area() {
        let inf = f32::INFINITY;
        let nan = f32::NAN;
        let square = bounds(0.0, 0.0, 4.0, 4.0);
        let cases = [
            (square, square, 1.0, 1.0),
            (square, bounds(2.0, 0.0, 6.0, 4.0), 1.0 / 3.0, 0.5),
            (square, bounds(0.0, 0.0, 40.0, 40.0), 0.01, 1.0),
            (square, bounds(4.0, 0.0, 8.0, 4.0), 0.0, 0.0),
            (square, bounds(4.0, 4.0, 0.0, 0.0), 0.0, 0.0),
            (bounds(nan, 0.0, 4.0, 4.0), square, 0.0, 0.0),
            (bounds(-inf, -inf, inf, inf), square, 0.0, 0.0),
            (bounds(1.0, 1.0, 1.0, 1.0), bounds(1.0, 1.0, 1.0, 1.0), 0.0, 0.0),
        ];
        for (a, b, iou, part) in cases {
            assert_eq!((a.iou(&b), a.part_in(&b)), (iou, part), "{a:?} {b:?}");
        }
    }

    #[test]
    fn a_mask_knows_its_box() {
        let mut bits = vec![false; 20];
        bits[6] = true;
        bits[13] = true;
        let mask = Mask::new(5, bits).unwrap();
        assert_eq!((mask.area(), mask.height()), (2, 4));
        assert_eq!(mask.bounds(), Some(bounds(1.0, 1.0, 4.0, 3.0)));
        assert_eq!(Mask::new(5, vec![false; 5]).unwrap().bounds(), None);
        assert!(Mask::new(3, vec![false; 5]).is_none());
    }
}
