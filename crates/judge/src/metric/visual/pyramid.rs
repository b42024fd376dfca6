//! A steerable pyramid, as far as it is looked at: two of the six orientations of every level.
//!
//! The kernels are those of the published `sp5Filters`. All of them look the same, or the opposite,
//! in a mirror, so that rows above and below are added first, then multiplied.

use super::plane::{MARGIN, Plane, luma_row};
use super::strip::{Level, Make, Strip};
use faultlens_core::Image;

/// The first low-pass: rows from the edge to the middle, columns alike.
const FIRST: [[f64; 3]; 3] = [
    [0.00341614, -0.01551246, -0.03848215],
    [-0.01551246, 0.05586982, 0.15925570],
    [-0.03848215, 0.15925570, 0.40304148],
];

/// Half of the low-pass between levels, ordered as [`FIRST`].
const NEXT: [[f64; 5]; 5] = [
    [0.00085404, -0.00244917, -0.00387812, -0.00944432, -0.00962054],
    [-0.00244917, -0.00523281, -0.00661117, 0.00410600, 0.01002988],
    [-0.00387812, -0.00661117, 0.01396746, 0.03277038, 0.03981393],
    [-0.00944432, 0.00410600, 0.03277038, 0.06426333, 0.08169618],
    [-0.00962054, 0.01002988, 0.03981393, 0.08169618, 0.10096540],
];

/// The upper half of the filter for what changes from row to row; its lower half is the opposite.
const BAND: [[f64; 4]; 3] = [
    [0.00277643, 0.00496194, 0.01026699, 0.01455399],
    [-0.00986904, -0.00893064, 0.01189859, 0.02755155],
    [-0.01021852, -0.03075356, -0.08226445, -0.11732297],
];

/// What the first level is made from, row by row.
pub(super) struct Start<L> {
    luma: L,
    columns: [Vec<f64>; 3],
}

impl<L: Level> Start<L> {
    fn new(luma: L) -> Self {
        let [width, _] = luma.size();
        Self { luma, columns: [(); 3].map(|()| vec![0.0; width + 4]) }
    }
}

impl<L: Level> Make for Start<L> {
    fn size(&self) -> [usize; 2] {
        self.luma.size()
    }

    fn make(&mut self, y: usize, out: &mut [f64]) {
        let width = out.len();
        let wide = width + 4;
        self.luma.prepare(y);
        let [a, b, c, d, e] =
            [-2, -1, 0, 1, 2].map(|below| &self.luma.near_row(y, below)[MARGIN - 2..][..wide]);
        let [far, near, middle] = &mut self.columns;
        let far = &mut far[..wide];
        let near = &mut near[..wide];
        let middle = &mut middle[..wide];
        for x in 0..wide {
            let rows = [a[x] + e[x], b[x] + d[x], c[x]];
            [far[x], near[x], middle[x]] = FIRST.map(|column| dot(column, rows));
        }
        let [[a, b], [c, d]] = [(&far, 0, 4), (&near, 1, 3)]
            .map(|(row, left, right)| [&row[left..][..width], &row[right..][..width]]);
        let middle = &middle[2..][..width];
        for x in 0..width {
            out[x] = (a[x] + b[x]) + (c[x] + d[x]) + middle[x];
        }
    }
}

/// The luma of an image, row by row.
pub(super) struct Luma<'a>(&'a Image);

impl Make for Luma<'_> {
    fn size(&self) -> [usize; 2] {
        [self.0.width(), self.0.height()]
    }

    fn make(&mut self, y: usize, out: &mut [f64]) {
        luma_row(self.0, y, out);
    }
}

/// A level of the pyramid: kept, or, where the image is large, the first one made again each time
/// somebody looks at it.
pub(super) enum PyramidLevel<'a> {
    Kept(Plane),
    Made(&'a Image),
}

impl<'a> PyramidLevel<'a> {
    /// The first level of an image.
    pub(super) fn first(image: &'a Image, keep: bool) -> Self {
        if !keep {
            return Self::Made(image);
        }
        let luma = Plane::luma(image);
        let mut start = Start::new(&luma);
        let mut plane = Plane::new(luma.width, luma.height, MARGIN);
        for y in 0..luma.height {
            plane.write(y, |out| start.make(y, out));
        }
        Self::Kept(plane)
    }

    /// The next level, which is small enough to be kept.
    pub(super) fn next(&self) -> Self {
        Self::Kept(next(self.rows()))
    }

    /// A band of the level.
    pub(super) fn band(&self, direction: Direction) -> Rows<'_> {
        Rows::new(self.rows(), direction)
    }

    fn rows(&self) -> LevelRows<'_> {
        match self {
            Self::Kept(plane) => LevelRows::Kept(plane),
            Self::Made(image) => {
                LevelRows::Made(Box::new(Strip::new(Start::new(Strip::new(Luma(image))))))
            }
        }
    }
}

/// The rows of a level.
pub(super) enum LevelRows<'a> {
    Kept(&'a Plane),
    Made(Box<Strip<Start<Strip<Luma<'a>>>>>),
}

impl Level for LevelRows<'_> {
    fn size(&self) -> [usize; 2] {
        match self {
            Self::Kept(plane) => plane.size(),
            Self::Made(strip) => strip.size(),
        }
    }

    fn prepare(&mut self, y: usize) {
        if let Self::Made(strip) = self {
            strip.prepare(y);
        }
    }

    fn near_row(&self, y: usize, below: isize) -> &[f64] {
        match self {
            Self::Kept(plane) => plane.near_row(y, below),
            Self::Made(strip) => strip.near_row(y, below),
        }
    }
}

/// What the next level is made from: every second row and column of a level's low-pass.
fn next(mut level: impl Level) -> Plane {
    let [width, height] = level.size();
    let mut out = Plane::new(width.div_ceil(2), height.div_ceil(2), MARGIN);
    let width = out.width;
    // Even and odd columns apart, so that each part of the filter meets neighbours.
    let n = width + MARGIN;
    let mut rows = [(); 2].map(|()| [(); 5].map(|()| vec![0.0; n]));
    let mut parts = [(); 5].map(|()| vec![0.0; n]);
    for y in 0..out.height {
        level.prepare(2 * y);
        let [evens, odds] = &mut rows;
        for (at, (evens, odds)) in evens.iter_mut().zip(odds).enumerate() {
            let away = (MARGIN - at) as isize;
            let [above, under] = [-away, away].map(|away| level.near_row(2 * y, away));
            // The row in the middle meets itself.
            let scale = if away == 0 { 1.0 } else { 2.0 };
            let pairs = above.as_chunks::<2>().0.iter().zip(under.as_chunks::<2>().0);
            for ((even, odd), (above, under)) in evens.iter_mut().zip(odds).zip(pairs) {
                [*even, *odd] = [0, 1].map(|at| scale * (above[at] + under[at]));
            }
            // Rows of odd length end with half a pair.
            if let Some(even) = evens.get_mut(above.len() / 2) {
                *even = scale * (above[above.len() - 1] + under[under.len() - 1]);
            }
        }
        for (at, part) in parts.iter_mut().enumerate() {
            let [a, b, c, d, e] = rows[at % 2].each_ref().map(|row| &row[..n]);
            for (x, part) in part[..n].iter_mut().enumerate() {
                *part = dot(NEXT[at], [a[x], b[x], c[x], d[x], e[x]]);
            }
        }
        let at = |part: usize, from: usize| &parts[part][from..][..width];
        let a = at(0, 0);
        let b = at(1, 0);
        let c = at(2, 1);
        let d = at(3, 1);
        let e = at(4, 2);
        let f = at(3, 2);
        let g = at(2, 3);
        let h = at(1, 3);
        let i = at(0, 4);
        out.write(y, |out| {
            for x in 0..width {
                let far = (a[x] + i[x]) + (b[x] + h[x]);
                out[x] = far + (c[x] + g[x]) + (d[x] + f[x]) + e[x];
            }
        });
    }
    out
}

/// Which way a band looks.
#[derive(Debug, Clone, Copy)]
pub(super) enum Direction {
    /// At what changes from column to column.
    Across,
    /// At what changes from row to row.
    Down,
}

/// The bands of a level, in order.
pub(super) const DIRECTIONS: [Direction; 2] = [Direction::Across, Direction::Down];

/// A band of a level, row by row: most of them are looked at once and need not be kept.
pub(super) struct Rows<'a> {
    level: LevelRows<'a>,
    direction: Direction,
    sums: [Vec<f64>; 4],
    parts: [Vec<f64>; 4],
}

impl<'a> Rows<'a> {
    fn new(level: LevelRows<'a>, direction: Direction) -> Self {
        let [width, _] = level.size();
        let empty = || [(); 4].map(|()| vec![0.0; width + 2 * MARGIN]);
        Self { level, direction, sums: empty(), parts: empty() }
    }

    /// Columns and rows.
    pub(super) fn size(&self) -> [usize; 2] {
        self.level.size()
    }

    /// All rows.
    pub(super) fn plane(&mut self) -> Plane {
        let [width, height] = self.size();
        let mut plane = Plane::new(width, height, 0);
        for y in 0..height {
            plane.write(y, |out| self.row(y, out));
        }
        plane
    }

    /// One row; rows are asked for from the top.
    pub(super) fn row(&mut self, y: usize, out: &mut [f64]) {
        match self.direction {
            Direction::Across => self.across(y, out),
            Direction::Down => self.down(y, out),
        }
    }

    fn across(&mut self, y: usize, out: &mut [f64]) {
        self.fold(y, |above, under| above + under);
        let wide = self.sums[0].len();
        let [a, b, c, middle] = self.sums.each_ref().map(|sums| &sums[..wide]);
        for (part, weights) in self.parts.iter_mut().zip(BAND) {
            for (x, part) in part[..wide].iter_mut().enumerate() {
                *part = dot(weights, [a[x], b[x], c[x], middle[x]]);
            }
        }
        let n = out.len();
        let at = |part: usize, from: usize| &self.parts[part][from..][..n];
        let [a, b, c] = [0, 1, 2].map(|part| at(part, 1 + part));
        let [d, e, f] = [2, 1, 0].map(|part| at(part, 7 - part));
        for x in 0..n {
            out[x] = (a[x] - f[x]) + (b[x] - e[x]) + (c[x] - d[x]);
        }
    }

    fn down(&mut self, y: usize, out: &mut [f64]) {
        self.fold(y, |above, under| above - under);
        let wide = self.sums[0].len();
        let [a, b, c, _] = self.sums.each_ref().map(|sums| &sums[..wide]);
        for (at, part) in self.parts.iter_mut().enumerate() {
            let weights = BAND.map(|row| row[at]);
            for (x, part) in part[..wide].iter_mut().enumerate() {
                *part = dot(weights, [a[x], b[x], c[x]]);
            }
        }
        let n = out.len();
        let at = |part: usize, from: usize| &self.parts[part][from..][..n];
        let [a, b, c, middle] = [0, 1, 2, 3].map(|part| at(part, 1 + part));
        let [d, e, f] = [2, 1, 0].map(|part| at(part, 7 - part));
        for x in 0..n {
            out[x] = (a[x] + f[x]) + (b[x] + e[x]) + (c[x] + d[x]) + middle[x];
        }
    }

    /// The rows three, two and one away put together, and the row itself.
    fn fold(&mut self, y: usize, pair: impl Fn(f64, f64) -> f64) {
        self.level.prepare(y);
        for (sums, away) in self.sums.iter_mut().zip([3, 2, 1]) {
            let [above, under] = [-away, away].map(|below| self.level.near_row(y, below));
            for ((sum, above), under) in sums.iter_mut().zip(above).zip(under) {
                *sum = pair(*above, *under);
            }
        }
        self.sums[3].copy_from_slice(self.level.near_row(y, 0));
    }
}

/// In a fixed order, so that the result is the same on every machine.
#[inline(always)]
fn dot<const N: usize>(weights: [f64; N], values: [f64; N]) -> f64 {
    let mut sum = weights[0] * values[0];
    for at in 1..N {
        sum += weights[at] * values[at];
    }
    sum
}
