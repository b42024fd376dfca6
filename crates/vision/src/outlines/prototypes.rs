//! Masks that are mixed into one for each object, as YOLACT (Bolya et al., 2019) has them.

use std::borrow::Cow;
use std::ops::Range;

use faultlens_core::{Bounds, Mask};

use super::super::{Placement, ShownImage};

/// A few masks over the model's input, coarser than it.
pub(crate) struct Prototypes<'a> {
    pub(crate) numbers: Cow<'a, [f32]>,
    /// How many there are.
    pub(crate) count: usize,
    pub(crate) height: usize,
    pub(crate) width: usize,
    /// Whether those of one pixel stand together, instead of the pixels of one.
    pub(crate) together: bool,
}

/// The two places of a row or column between which a pixel lies, and how far it is from the first.
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
        // From one mask's number at this pixel to the next mask's.
        let (first, step) = if self.together { (pixel * self.count, 1) } else { (pixel, pixels) };
        let sum: f32 =
            weights.iter().enumerate().map(|(n, w)| w * self.numbers[first + n * step]).sum();
        1.0 / (1.0 + libm::expf(-sum))
    }

    /// The object's pixels inside its box: where the mixture, blended between the pixels of the
    /// prototypes, is more than half. `None` where there are none.
    pub(crate) fn mask(
        &self,
        weights: &[f32],
        bounds: Bounds,
        shown: ShownImage<'_>,
        placement: Placement,
    ) -> Option<Mask> {
        let [height, width] = shown.input.size;
        let columns = span(bounds.left, bounds.right, shown.width);
        let rows = span(bounds.top, bounds.bottom, shown.height);
        // Middles of the image's pixels, in pixels of the input and then of the prototypes.
        let xs: Vec<Neighbours> = columns
            .clone()
            .map(|column| {
                let [x, _] = placement.to_input([column as f64 + 0.5; 2]);
                between(x * self.width as f64 / width as f64 - 0.5, self.width)
            })
            .collect();
        let ys: Vec<Neighbours> = rows
            .clone()
            .map(|row| {
                let [_, y] = placement.to_input([row as f64 + 0.5; 2]);
                between(y * self.height as f64 / height as f64 - 0.5, self.height)
            })
            .collect();
        // Only the prototypes' pixels under the box are mixed: most boxes are small.
        let [left, right] = [xs.first()?.first, xs.last()?.second];
        let [top, bottom] = [ys.first()?.first, ys.last()?.second];
        let wide = right - left + 1;
        let cells: Vec<f32> = (0..wide * (bottom - top + 1))
            .map(|at| self.mixed(weights, left + at % wide, top + at / wide))
            .collect();
        let mut bits = vec![false; shown.width * shown.height];
        for (row, y) in rows.zip(&ys) {
            for (column, x) in columns.clone().zip(&xs) {
                // Bilinear: along two rows first, then between them.
                let [above, below] = [y.first, y.second].map(|row| {
                    let line = &cells[(row - top) * wide..][..wide];
                    let [before, behind] = [line[x.first - left], line[x.second - left]];
                    before + (behind - before) * x.part
                });
                let value = above + (below - above) * y.part;
                bits[row * shown.width + column] = value > 0.5;
            }
        }
        Mask::new(shown.width, bits).filter(|mask| mask.bits().contains(&true))
    }
}

/// The pixels whose middles lie between two sides of a box, of those that there are.
fn span(from: f32, to: f32, max: usize) -> Range<usize> {
    let [from, to] = [from, to].map(|side| ((side.max(0.0) + 0.5) as usize).min(max));
    from..to
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
        let planes: Vec<f32> = (0..16)
            .map(left)
            .chain((0..16).map(|at| if at / 4 < 2 { 4.0 } else { -4.0 }))
            .collect();
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
