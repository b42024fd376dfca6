//! Operators whose every output pixel comes from the input pixel at the same place.

use super::Local;
use crate::kernels::grid::{Grid, Order, Region, Spot};
use std::ops::Range;

/// A function from the values of one pixel to those of another, so that a window of pixels can be
/// computed alone. In row-major order a "pixel" is a row along the last axis.
pub(super) struct Pixelwise<F> {
    shape: Vec<usize>,
    order: Order,
    function: F,
}

impl<F: Fn(&[f32], &mut [f32]) + Sync> Pixelwise<F> {
    /// Answers of `shape`, whose pixels must lie where the input's do.
    pub(super) fn new(shape: Vec<usize>, order: Order, function: F) -> Self {
        Self { shape, order, function }
    }
}

impl<F: Fn(&[f32], &mut [f32]) + Sync> Local for Pixelwise<F> {
    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn order(&self) -> Order {
        self.order
    }

    fn reach(&self, _source: usize, region: Region) -> Region {
        region
    }

    #[expect(unsafe_code, reason = "spots are written through pointers; see kernels")]
    unsafe fn compute(&self, spots: &[Spot<'_>], _channels: Range<usize>) {
        let width = Grid::of(&self.shape, self.order).width;
        for spot in spots {
            // SAFETY: the caller promises room for all channels.
            let out = unsafe { std::slice::from_raw_parts_mut(spot.out, width) };
            (self.function)(spot.sources[0].pixel(spot.at), out);
        }
    }
}
