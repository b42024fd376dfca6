//! Planes whose rows and columns are picked or blended: what `Resize` and `Pad` have in common.

use super::Local;
use crate::kernels::grid::{Region, Spot};
use crate::kernels::resize::{AxisBlends, resize};
use std::ops::Range;

/// New rows and columns for every image and channel.
pub(super) struct Plane {
    pub(super) shape: [usize; 4],
    pub(super) rows: AxisBlends,
    pub(super) columns: AxisBlends,
    /// What stands where no input does.
    pub(super) outside: f32,
}

impl Local for Plane {
    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn reach(&self, _source: usize, region: Region) -> Region {
        let (top, bottom) = self.rows.reach(region.low[1], region.high[1]);
        let (left, right) = self.columns.reach(region.low[2], region.high[2]);
        Region { low: [region.low[0], top, left], high: [region.high[0], bottom, right] }
    }

    #[expect(unsafe_code, reason = "passes the caller's promise on")]
    unsafe fn compute(&self, spots: &[Spot<'_>], _channels: Range<usize>) {
        // SAFETY: the caller's promise is the kernel's.
        unsafe { resize(spots, [&self.rows, &self.columns], self.outside, self.shape[1]) }
    }
}
