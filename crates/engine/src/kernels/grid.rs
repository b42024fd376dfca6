//! Values as kernels see them: a grid of pixels, each a run of channels; and the pieces of a value
//! that a trial has changed.

use faultlens_core::DType;

/// How a float value lies in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// As ONNX counts elements.
    RowMajor,
    /// Rank 4 only: `N, C, H, W` stored as `N, H, W, C`, so that a pixel's channels lie together.
    ChannelsLast,
}

/// Pixels along three axes, and how many values each pixel holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grid {
    pub(crate) axes: [usize; 3],
    pub(crate) width: usize,
}

impl Grid {
    /// The grid of a shape. Row-major shapes are aligned at their last axis, as broadcasting is.
    pub(crate) fn of(shape: &[usize], order: Order) -> Self {
        if order == Order::ChannelsLast {
            return Self { axes: [shape[0], shape[2], shape[3]], width: shape[1] };
        }
        let axis =
            |from_end: usize| shape.len().checked_sub(from_end + 1).map_or(1, |at| shape[at]);
        // Axes before the last three count as one.
        let outer = shape.len().saturating_sub(3);
        let outer = shape[..outer].iter().product();
        Self { axes: [outer, axis(2), axis(1)], width: axis(0) }
    }

    pub(crate) fn pixels(&self) -> usize {
        self.axes.iter().product()
    }

    pub(crate) fn all(&self) -> Region {
        Region { low: [0; 3], high: self.axes }
    }

    /// The pixel's place in memory, counted in pixels.
    pub(crate) fn index(&self, at: [usize; 3]) -> usize {
        (at[0] * self.axes[1] + at[1]) * self.axes[2] + at[2]
    }

    /// The pixel at a place in memory.
    pub(crate) fn at(&self, index: usize) -> [usize; 3] {
        let [_, h, w] = self.axes;
        [index / (h * w), index / w % h, index % w]
    }
}

/// A box of pixels, from `low` up to but without `high`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) low: [usize; 3],
    pub(crate) high: [usize; 3],
}

impl Region {
    pub(crate) const EMPTY: Self = Self { low: [0; 3], high: [0; 3] };

    pub(crate) fn pixel(at: [usize; 3]) -> Self {
        Self { low: at, high: at.map(|x| x + 1) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        (0..3).any(|a| self.low[a] >= self.high[a])
    }

    pub(crate) fn pixels(&self) -> usize {
        if self.is_empty() { 0 } else { (0..3).map(|a| self.high[a] - self.low[a]).product() }
    }

    pub(crate) fn contains(&self, at: [usize; 3]) -> bool {
        (0..3).all(|a| self.low[a] <= at[a] && at[a] < self.high[a])
    }

    /// Whether no pixel of the other box lies outside of this one.
    pub(crate) fn holds(&self, other: &Self) -> bool {
        other.is_empty()
            || (0..3).all(|a| self.low[a] <= other.low[a] && other.high[a] <= self.high[a])
    }

    /// The smallest box around both.
    pub(crate) fn union(&self, other: &Self) -> Self {
        if self.is_empty() {
            return *other;
        }
        if other.is_empty() {
            return *self;
        }
        Self {
            low: std::array::from_fn(|a| self.low[a].min(other.low[a])),
            high: std::array::from_fn(|a| self.high[a].max(other.high[a])),
        }
    }

    /// Where the pixel stands among the box's pixels in row-major order.
    pub(crate) fn offset(&self, at: [usize; 3]) -> usize {
        let d: [usize; 3] = std::array::from_fn(|a| at[a] - self.low[a]);
        let [_, h, w] = std::array::from_fn(|a| self.high[a] - self.low[a]);
        (d[0] * h + d[1]) * w + d[2]
    }

    /// The pixel that stands at a place among the box's pixels.
    pub(crate) fn at(&self, offset: usize) -> [usize; 3] {
        let [_, h, w] = std::array::from_fn(|a| (self.high[a] - self.low[a]).max(1));
        [self.low[0] + offset / (h * w), self.low[1] + offset / w % h, self.low[2] + offset % w]
    }

    /// The pixel behind this one.
    #[inline(always)]
    pub(crate) fn next(&self, [n, h, w]: [usize; 3]) -> [usize; 3] {
        // Row-major: columns, then rows, then images.
        if w + 1 < self.high[2] {
            [n, h, w + 1]
        } else if h + 1 < self.high[1] {
            [n, h + 1, self.low[2]]
        } else {
            [n + 1, self.low[1], self.low[2]]
        }
    }

    /// The box's pixels in row-major order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = [usize; 3]> + use<> {
        let Self { low, high } = *self;
        (low[0]..high[0]).flat_map(move |n| {
            (low[1]..high[1]).flat_map(move |h| (low[2]..high[2]).map(move |w| [n, h, w]))
        })
    }
}

/// A float value: 32-bit elements in memory, whatever precision the model stores them in.
#[derive(Debug, Clone)]
pub(crate) struct Floats {
    pub(crate) shape: Vec<usize>,
    pub(crate) order: Order,
    /// `F32`, or the narrower type to which every result is rounded.
    pub(crate) dtype: DType,
    pub(crate) data: Vec<f32>,
}

impl Floats {
    pub(crate) fn grid(&self) -> Grid {
        Grid::of(&self.shape, self.order)
    }

    /// Row-major elements of rank 4, put channels last.
    pub(crate) fn channels_last(shape: &[usize], dtype: DType, data: &[f32]) -> Self {
        let data = swap_axes(data, shape[1], shape[2] * shape[3]);
        Self { shape: shape.to_vec(), order: Order::ChannelsLast, dtype, data }
    }

    /// The same value in the other order.
    pub(crate) fn in_order(&self, order: Order) -> Self {
        if order == self.order {
            return self.clone();
        }
        let channels = self.shape[1];
        let plane = self.shape[2] * self.shape[3];
        // Channels first to last and back is a transposition of each image, channels × pixels.
        let data = match order {
            Order::ChannelsLast => swap_axes(&self.data, channels, plane),
            Order::RowMajor => swap_axes(&self.data, plane, channels),
        };
        Self { shape: self.shape.clone(), order, dtype: self.dtype, data }
    }

    /// Where an element lies in memory, given its place in ONNX's row-major count.
    pub(crate) fn position(&self, element: usize) -> usize {
        if self.order == Order::RowMajor {
            return element;
        }
        let [_, c, h, w] = [self.shape[0], self.shape[1], self.shape[2], self.shape[3]];
        let plane = h * w;
        let image = c * h * w;
        let n = element / image;
        let rest = element % image;
        n * image + rest % plane * c + rest / plane
    }
}

/// Transposes each `rows × columns` matrix of a batch.
fn swap_axes(from: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    let mut to = vec![0.0; from.len()];
    let each = (rows * columns).max(1);
    for (from, to) in from.chunks_exact(each).zip(to.chunks_exact_mut(each)) {
        transpose(from, to, rows, columns);
    }
    to
}

/// Transposes a `rows × columns` matrix, in blocks that stay in the cache.
fn transpose(from: &[f32], to: &mut [f32], rows: usize, columns: usize) {
    const BLOCK: usize = 16;
    // Blocks of 16 × 16 floats: a kilobyte to read and one to write, whatever the stride.
    for r0 in (0..rows).step_by(BLOCK) {
        for c0 in (0..columns).step_by(BLOCK) {
            for c in c0..(c0 + BLOCK).min(columns) {
                for r in r0..(r0 + BLOCK).min(rows) {
                    to[c * rows + r] = from[r * columns + c];
                }
            }
        }
    }
}

/// The pixels of a value that differ from golden in one trial.
#[derive(Debug, Clone)]
pub(crate) struct Patch {
    /// The box whose pixels `data` holds.
    pub(crate) stored: Region,
    /// The smaller box outside of which nothing differs.
    pub(crate) live: Region,
    pub(crate) data: Vec<f32>,
}

/// A value as a kernel reads it: golden, and over it a trial's patch.
///
/// Both are known to hold every pixel that they claim to, so kernels may follow pointers to any
/// pixel of the grid.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    grid: Grid,
    golden: &'a [f32],
    patch: Option<&'a Patch>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(value: &'a Floats, patch: Option<&'a Patch>) -> Self {
        Self::of(value.grid(), &value.data, patch)
    }

    /// The grid's pixels in `golden`, and over them a patch.
    ///
    /// # Panics
    /// If a slice is too short for its pixels, or the patch lies outside of the grid.
    pub(crate) fn of(grid: Grid, golden: &'a [f32], patch: Option<&'a Patch>) -> Self {
        assert_eq!(golden.len(), grid.pixels() * grid.width, "the value holds all its pixels");
        if let Some(patch) = patch {
            let Patch { stored, live, data } = patch;
            assert_eq!(data.len(), stored.pixels() * grid.width, "the patch holds all its pixels");
            assert!(grid.all().holds(stored) && stored.holds(live), "the patch lies in the value");
        }
        Self { grid, golden, patch }
    }

    /// The pixels that there are.
    #[inline(always)]
    pub(crate) fn grid(&self) -> Grid {
        self.grid
    }

    /// What the value is where no patch lies over it.
    #[inline(always)]
    pub(crate) fn golden(&self) -> &'a [f32] {
        self.golden
    }

    /// What the trial has changed.
    #[inline(always)]
    pub(crate) fn patch(&self) -> Option<&'a Patch> {
        self.patch
    }

    /// The memory in which a pixel stands, golden's or the patch's, and its place there in pixels.
    #[inline(always)]
    pub(crate) fn locate(&self, at: [usize; 3]) -> (&'a [f32], usize) {
        match self.patch {
            Some(patch) if patch.live.contains(at) => (&*patch.data, patch.stored.offset(at)),
            _ => (self.golden, self.grid.index(at)),
        }
    }

    /// The pixel's values.
    #[inline(always)]
    pub(crate) fn pixel(&self, at: [usize; 3]) -> &'a [f32] {
        let (data, index) = self.locate(at);
        &data[index * self.grid.width..][..self.grid.width]
    }

    /// The pixel that a broadcast reads: an axis of length one answers for every place along it.
    #[inline(always)]
    pub(crate) fn broadcast_at(&self, at: [usize; 3]) -> [usize; 3] {
        std::array::from_fn(|a| if self.grid.axes[a] == 1 { 0 } else { at[a] })
    }

    /// The values of the pixel that a broadcast reads.
    #[inline(always)]
    pub(crate) fn broadcast(&self, at: [usize; 3]) -> &'a [f32] {
        self.pixel(self.broadcast_at(at))
    }
}

/// One output pixel to compute: where it reads, where it stands, where it goes.
pub(crate) struct Spot<'a> {
    /// The operands, in the order the step lists them.
    pub(crate) sources: &'a [Source<'a>],
    pub(crate) at: [usize; 3],
    /// Where the pixel's first channel goes.
    pub(crate) out: *mut f32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_last_keeps_every_element() {
        let shape = vec![2, 3, 4, 5];
        let data: Vec<f32> = (0..120).map(|i| i as f32).collect();
        let plain = Floats { shape, order: Order::RowMajor, dtype: DType::F32, data };
        let last = plain.in_order(Order::ChannelsLast);
        for element in 0..120 {
            assert_eq!(last.data[last.position(element)], element as f32);
        }
        assert_eq!(last.in_order(Order::RowMajor).data, plain.data);
    }

    #[test]
    fn a_patch_shows_only_inside_its_live_box() {
        let golden = vec![0.0; 2 * 12];
        let grid = Grid { axes: [1, 3, 4], width: 2 };
        let stored = Region { low: [0, 1, 1], high: [1, 3, 3] };
        let live = Region { low: [0, 1, 2], high: [1, 3, 3] };
        let patch = Patch { stored, live, data: (1..=8).map(|i| i as f32).collect() };
        let source = Source::of(grid, &golden, Some(&patch));
        assert_eq!(source.pixel([0, 1, 1]), [0.0, 0.0]);
        assert_eq!(source.pixel([0, 2, 2]), [7.0, 8.0]);
    }

    #[test]
    #[should_panic(expected = "the value holds all its pixels")]
    fn a_source_without_all_its_pixels_is_refused() {
        Source::of(Grid { axes: [1, 3, 4], width: 2 }, &[0.0; 23], None);
    }

    #[test]
    #[should_panic(expected = "the patch lies in the value")]
    fn a_patch_outside_of_its_value_is_refused() {
        let outside = Region { low: [0, 2, 3], high: [1, 3, 5] };
        let patch = Patch { stored: outside, live: outside, data: vec![0.0; 4] };
        Source::of(Grid { axes: [1, 3, 4], width: 2 }, &[0.0; 24], Some(&patch));
    }
}
