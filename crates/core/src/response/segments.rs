//! A class for every pixel.

use super::Names;
use crate::Bounds;
use std::collections::BTreeMap;

/// The usual name of the class of pixels that belong to no object.
const BACKGROUND: &str = "background";

/// A class for every pixel of what a target sees.
#[derive(Debug, Clone)]
pub struct Segments {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// The class of each pixel, rows from the top.
    pub classes: Vec<u16>,
    /// Where the pixels lie in the image that was shown, in its pixels: a target may see only
    /// a part of it, or a border around it.
    pub covers: Bounds,
    /// The classes' names.
    pub names: Names,
    /// Whether every score that the classes were read from is a number.
    pub finite: bool,
}

/// Names are the target's, not the answer's.
impl PartialEq for Segments {
    fn eq(&self, other: &Self) -> bool {
        self.width == other.width
            && self.height == other.height
            && self.covers == other.covers
            && self.finite == other.finite
            && self.classes == other.classes
    }
}

impl Segments {
    /// The class's name.
    pub fn name(&self, class: usize) -> String {
        self.names.name(class)
    }

    /// The class of the pixel that shows this point of the image; `None` where the target did not
    /// see it.
    pub fn class_at(&self, x: f32, y: f32) -> Option<u16> {
        let column = position(x, self.covers.left, self.covers.right, self.width)?;
        let row = position(y, self.covers.top, self.covers.bottom, self.height)?;
        self.classes.get(row * self.width + column).copied()
    }

    /// Which part of the pixels each class has, the largest first; classes without a pixel are
    /// left out.
    pub fn shares(&self) -> Vec<(usize, f64)> {
        let mut counts = BTreeMap::new();
        for &class in &self.classes {
            *counts.entry(usize::from(class)).or_insert(0usize) += 1;
        }
        let mut counts: Vec<(usize, usize)> = counts.into_iter().collect();
        counts.sort_by_key(|&(class, count)| (std::cmp::Reverse(count), class));
        let all = self.classes.len() as f64;
        counts.into_iter().map(|(class, count)| (class, count as f64 / all)).collect()
    }

    /// Whether a class is background: the first one, unless it has another name.
    pub fn is_background(&self, class: usize) -> bool {
        class == 0 && self.names.known(0).is_none_or(|name| name.eq_ignore_ascii_case(BACKGROUND))
    }

    /// The largest class, and background only where there is no other.
    pub(super) fn headline(&self) -> (String, Option<f32>) {
        let shares = self.shares();
        let telling = shares.iter().find(|&&(class, _)| !self.is_background(class));
        match telling.or(shares.first()) {
            Some(&(class, share)) => {
                (format!("{} {:.1}%", self.name(class), share * 100.0), Some(share as f32))
            }
            None => (String::new(), None),
        }
    }
}

/// Which of `pixels` cells between `from` and `to` a coordinate lies in; `None` outside.
fn position(at: f32, from: f32, to: f32, pixels: usize) -> Option<usize> {
    let cell = (at - from) / (to - from) * pixels as f32;
    (cell >= 0.0 && cell < pixels as f32).then_some(cell as usize)
}
