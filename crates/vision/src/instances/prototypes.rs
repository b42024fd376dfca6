//! Masks that are mixed into one for each object, as YOLACT (Bolya et al., 2019) has them.

use std::borrow::Cow;

use faultlens_core::{Bounds, Mask};

use super::super::{Placement, ShownImage};

/// A few masks over the model's input, coarser than it.
pub(super) struct Prototypes<'a> {
    pub(super) numbers: Cow<'a, [f32]>,
    /// How many there are.
    pub(super) count: usize,
    pub(super) height: usize,
    pub(super) width: usize,
    /// Whether those of one pixel stand together, instead of the pixels of one.
    pub(super) together: bool,
}

/// Neighbours which two places of a row or column a pixel lies, and how far from the first.
#[derive(Clone, Copy)]
struct Neighbours {
    first: usize,
    second: usize,
    part: f32,
}

impl Prototypes<'_> {
    /// How much of a pixel is the object, from 0 to 1.
    fn mixed(&self, weights: &[f32], column: usize, row: usize) -> f32 {
        let pixel = row * self.width + column;
        let pixels = self.width * self.height;
        let at = |mask: usize| match self.together {
            true => pixel * self.count + mask,
            false => mask * pixels + pixel,
        };
        let sum: f32 = weights.iter().enumerate().map(|(n, w)| w * self.numbers[at(n)]).sum();
        1.0 / (1.0 + libm::expf(-sum))
    }

    /// The object's pixels inside its box: where the mixture, blended between the pixels of the
    /// prototypes, is more than half. `None` where there are none.
    pub(super) fn mask(
        &self,
        weights: &[f32],
        bounds: Bounds,
        shown: ShownImage<'_>,
        placement: Placement,
    ) -> Option<Mask> {
        let [height, width] = shown.input.size;
        // A pixel belongs to the box where its middle does.
        let span = |from: f32, to: f32, max: usize| {
            let edge = |at: f32| (at.max(0.0) + 0.5) as usize;
            edge(from).min(max)..edge(to).min(max)
        };
        let columns = span(bounds.left, bounds.right, shown.width);
        let rows = span(bounds.top, bounds.bottom, shown.height);
        let across = |axis: usize, own: usize, input: usize| {
            move |at: usize| {
                let middle = placement.to_input([at as f64 + 0.5; 2])[axis];
                between(middle * own as f64 / input as f64 - 0.5, own)
            }
        };
        let xs: Vec<Neighbours> = columns.clone().map(across(0, self.width, width)).collect();
        let ys: Vec<Neighbours> = rows.clone().map(across(1, self.height, height)).collect();
        let [left, right] = [xs.first()?.first, xs.last()?.second];
        let [top, bottom] = [ys.first()?.first, ys.last()?.second];
        let wide = right - left + 1;
        let cell = |at: usize| self.mixed(weights, left + at % wide, top + at / wide);
        let cells: Vec<f32> = (0..wide * (bottom - top + 1)).map(cell).collect();
        let mut bits = vec![false; shown.width * shown.height];
        for (row, y) in rows.zip(&ys) {
            for (column, x) in columns.clone().zip(&xs) {
                let line = |row: usize| {
                    let at = |column: usize| cells[(row - top) * wide + column - left];
                    at(x.first) + (at(x.second) - at(x.first)) * x.part
                };
                let value = line(y.first) + (line(y.second) - line(y.first)) * y.part;
                bits[row * shown.width + column] = value > 0.5;
            }
        }
        Mask::new(shown.width, bits).filter(|mask| mask.bits().contains(&true))
    }
}

/// The neighbours of a place; at the edges there is one only.
fn between(place: f64, count: usize) -> Neighbours {
    let place = place.clamp(0.0, count.saturating_sub(1) as f64);
    let first = place as usize;
    Neighbours { first, second: (first + 1).min(count - 1), part: (place - first as f64) as f32 }
}

#[cfg(test)]
mod tests {
    use super::super::super::{Align, Channels, ElementType, InputDescription, Resize};
    use super::*;

    #[test]
    fn a_mixture_is_cut_at_its_box_and_blended_up() {
        // Left half and upper half of an input of 8×8, at half its size.
        let left = |at: usize| if at % 4 < 2 { 4.0 } else { -4.0 };
        let upper = |at: usize| if at / 4 < 2 { 4.0 } else { -4.0 };
        let planes: Vec<f32> = (0..16).map(left).chain((0..16).map(upper)).collect();
        let pixels: Vec<f32> = (0..16).flat_map(|at| [planes[at], planes[16 + at]]).collect();
        let resize = Resize::Letterbox { pad: 0, align: Align::TopLeft };
        let plain = InputDescription::plain([8, 8], Channels::Rgb, ElementType::F32);
        let input = InputDescription { resize, ..plain };
        // An image of twice the size, with a border below.
        let shown = ShownImage { input: &input, width: 16, height: 8 };
        let placement = input.placement(16, 8).unwrap();
        for (numbers, together) in [(planes, false), (pixels, true)] {
            let masks =
                Prototypes { numbers: numbers.into(), count: 2, height: 4, width: 4, together };
            let mask = |weights: &[f32], bounds| masks.mask(weights, bounds, shown, placement);
            let whole = Bounds { left: -9.0, top: -9.0, right: 99.0, bottom: 99.0 };
            let bounds = |mask: Option<Mask>| mask.map(|m| (m.area(), m.bounds().unwrap()));
            let half = Bounds { left: 0.0, top: 0.0, right: 8.0, bottom: 8.0 };
            assert_eq!(bounds(mask(&[1.0, 0.0], whole)), Some((64, half)));
            let other = Bounds { left: 8.0, right: 16.0, ..half };
            assert_eq!(bounds(mask(&[-1.0, 0.0], whole)), Some((64, other)));
            // All of the image lies in the upper half of the input.
            assert_eq!(mask(&[0.0, 1.0], whole).unwrap().area(), 128);
            let small = Bounds { left: 2.6, top: 1.0, right: 5.0, bottom: 2.0 };
            assert_eq!(mask(&[1.0, 0.0], small).unwrap().area(), 2);
            assert_eq!(mask(&[0.0, -1.0], whole), None);
            assert_eq!(mask(&[f32::NAN, 0.0], whole), None);
            assert_eq!(mask(&[1.0, 0.0], Bounds { left: 40.0, right: 50.0, ..half }), None);
        }
    }
}
