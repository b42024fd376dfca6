//! Sums over windows of a band, one around each block.

use super::covariance::{BLOCK, SIDE, Square};

/// Where the windows of a band are: around every block of 3×3 that is far enough from the edge
/// for its window to fit.
#[derive(Debug, Clone)]
pub(super) struct Windows {
    side: usize,
    /// Blocks left out at each edge.
    dropped: usize,
    /// Blocks in a row of the band.
    columns: usize,
    /// Blocks in a column of the band.
    rows: usize,
}

/// What a window of two bands sums up to.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sums {
    /// Of the second band.
    pub(super) y: f64,
    /// Of its squares.
    pub(super) yy: f64,
    /// Of the products of both.
    pub(super) xy: f64,
}

impl Windows {
    /// Windows with an odd side.
    pub(super) fn new(width: usize, height: usize, side: usize) -> Self {
        let dropped = (side / 2).div_ceil(SIDE);
        Self { side, dropped, columns: width / SIDE, rows: height / SIDE }
    }

    /// Blocks in a row of the band, with those that have no window.
    pub(super) fn columns_of_all(&self) -> usize {
        self.columns
    }

    /// Blocks in a column of the band, with those that have no window.
    pub(super) fn rows_of_all(&self) -> usize {
        self.rows
    }

    /// Pixels of a window.
    pub(super) fn pixels(&self) -> f64 {
        (self.side * self.side) as f64
    }

    /// Windows in a row.
    fn in_row(&self) -> usize {
        self.columns - 2 * self.dropped
    }

    /// `|T·u|² / 9` for the numbers `u` of every block that has a window, one row of blocks after the
    /// other. Rows of the band, which are `wide`, are asked for one by one, from the top.
    pub(super) fn weights<'a, R: FnMut(usize, &mut [f64])>(
        &'a self,
        next_row: R,
        wide: usize,
        triangle: &'a Square,
    ) -> Weights<'a, R> {
        let n = self.in_row();
        Weights {
            windows: self,
            triangle,
            next_row,
            block: self.dropped,
            rows: [(); SIDE].map(|()| vec![0.0; wide]),
            numbers: [(); BLOCK].map(|()| vec![0.0; n]),
            part: vec![0.0; n],
            weights: vec![0.0; n],
        }
    }

    /// The sums over all windows, one row of windows after the other. Rows of both bands, which are
    /// `wide`, are asked for one by one, from the top.
    pub(super) fn sums<X, Y>(&self, wide: usize, next_x: X, next_y: Y) -> WindowSums<'_, X, Y>
    where
        X: FnMut(usize, &mut [f64]),
        Y: FnMut(usize, &mut [f64]),
    {
        let width = SIDE * self.columns;
        // A window is a row of whole blocks and, on some levels, a pixel more on either side.
        let whole = (self.side / 2 - 1) / SIDE;
        let more = self.side / 2 - 1 - SIDE * whole;
        WindowSums {
            windows: self,
            next_x,
            next_y,
            whole,
            more,
            block: 0,
            blocks: vec![Rows::new(width); 2 * (whole + more) + 1],
            all: Columns::new(width),
            x: vec![0.0; wide],
            y: vec![0.0; wide],
            sums: vec![Sums::default(); self.in_row()],
        }
    }

    /// From the sums of columns to those of windows.
    fn across(&self, columns: &Columns, [whole, more]: [usize; 2], out: &mut [Sums]) {
        let [y, yy, xy] = [&columns.y, &columns.yy, &columns.xy].map(|columns| {
            let blocks = columns.as_chunks::<SIDE>().0.iter();
            (blocks.map(|[a, b, c]| a + b + c).collect::<Vec<f64>>(), columns)
        });
        let window = |(blocks, columns): &(Vec<f64>, &Vec<f64>), middle: usize| {
            let sum: f64 = blocks[middle - whole..=middle + whole].iter().sum();
            let before = SIDE * (middle - whole);
            let after = SIDE * (middle + whole + 1);
            if more > 0 { sum + columns[before - 1] + columns[after] } else { sum }
        };
        for (middle, out) in (self.dropped..).zip(out) {
            *out = Sums { y: window(&y, middle), yy: window(&yy, middle), xy: window(&xy, middle) };
        }
    }
}

/// The weights of blocks, see [`Windows::weights`].
pub(super) struct Weights<'a, R> {
    windows: &'a Windows,
    triangle: &'a Square,
    next_row: R,
    /// The row of blocks that comes next.
    block: usize,
    rows: [Vec<f64>; SIDE],
    numbers: [Vec<f64>; BLOCK],
    part: Vec<f64>,
    weights: Vec<f64>,
}

impl<R: FnMut(usize, &mut [f64])> Weights<'_, R> {
    /// Those of the next row of blocks; `None` after the last.
    pub(super) fn next(&mut self) -> Option<&[f64]> {
        let dropped = self.windows.dropped;
        if self.block + dropped >= self.windows.rows {
            return None;
        }
        for (at, row) in self.rows.iter_mut().enumerate() {
            (self.next_row)(SIDE * self.block + at, row);
        }
        self.block += 1;
        for (at, numbers) in self.numbers.iter_mut().enumerate() {
            let row = &self.rows[at / SIDE][SIDE * dropped + at % SIDE..];
            numbers.iter_mut().zip(row.iter().step_by(SIDE)).for_each(|(out, &x)| *out = x);
        }
        self.weights.fill(0.0);
        for (row, factors) in self.triangle.iter().enumerate() {
            self.part.fill(0.0);
            for (factor, numbers) in factors[..=row].iter().zip(&self.numbers) {
                self.part.iter_mut().zip(numbers).for_each(|(sum, x)| *sum += factor * x);
            }
            let sums = self.weights.iter_mut().zip(&self.part);
            sums.for_each(|(sum, part)| *sum += part * part / BLOCK as f64);
        }
        Some(&self.weights)
    }
}

/// The sums over windows, see [`Windows::sums`].
pub(super) struct WindowSums<'a, X, Y> {
    windows: &'a Windows,
    next_x: X,
    next_y: Y,
    /// Blocks of a window on either side of the middle one.
    whole: usize,
    /// Pixels beyond them.
    more: usize,
    /// The row of blocks that comes next.
    block: usize,
    /// The last rows of blocks.
    blocks: Vec<Rows>,
    all: Columns,
    x: Vec<f64>,
    y: Vec<f64>,
    sums: Vec<Sums>,
}

impl<X: FnMut(usize, &mut [f64]), Y: FnMut(usize, &mut [f64])> WindowSums<'_, X, Y> {
    /// Those of the next row of windows; `None` after the last.
    pub(super) fn next(&mut self) -> Option<&[Sums]> {
        let reach = self.whole + self.more;
        let dropped = self.windows.dropped;
        while self.block < self.windows.rows {
            self.take_block();
            let Some(middle) = (self.block - 1).checked_sub(reach) else { continue };
            if middle >= dropped && middle + dropped < self.windows.rows {
                self.add_up(middle);
                return Some(&self.sums);
            }
        }
        None
    }

    fn take_block(&mut self) {
        let count = self.blocks.len();
        let rows = &mut self.blocks[self.block % count];
        for at in 0..SIDE {
            (self.next_x)(SIDE * self.block + at, &mut self.x);
            (self.next_y)(SIDE * self.block + at, &mut self.y);
            rows.take(at, &self.x, &self.y);
        }
        self.block += 1;
    }

    fn add_up(&mut self, middle: usize) {
        let whole = self.whole;
        let reach = whole + self.more;
        let near = |at: usize| &self.blocks[at % self.blocks.len()];
        self.all.copy(&near(middle - whole).sums);
        for at in middle - whole + 1..=middle + whole {
            self.all.add_all(&near(at).sums);
        }
        if self.more > 0 {
            let above = &near(middle - reach).last;
            let under = &near(middle + reach).first;
            self.all.add(&above[0], &above[1]);
            self.all.add(&under[0], &under[1]);
        }
        self.windows.across(&self.all, [whole, self.more], &mut self.sums);
    }
}

/// What is kept of the three rows of a block.
#[derive(Clone)]
struct Rows {
    sums: Columns,
    /// Of both bands.
    first: [Vec<f64>; 2],
    last: [Vec<f64>; 2],
}

impl Rows {
    fn new(width: usize) -> Self {
        let [first, last] = [(); 2].map(|()| [(); 2].map(|()| vec![0.0; width]));
        Self { sums: Columns::new(width), first, last }
    }

    fn take(&mut self, at: usize, x: &[f64], y: &[f64]) {
        let kept = if at == 0 {
            self.sums.set(x, y);
            &mut self.first
        } else {
            self.sums.add(x, y);
            &mut self.last
        };
        for (kept, row) in kept.iter_mut().zip([x, y]) {
            let width = kept.len();
            kept.copy_from_slice(&row[..width]);
        }
    }
}

/// Sums over some rows, for every column.
#[derive(Clone)]
struct Columns {
    y: Vec<f64>,
    yy: Vec<f64>,
    xy: Vec<f64>,
}

impl Columns {
    fn new(width: usize) -> Self {
        let [y, yy, xy] = [(); 3].map(|()| vec![0.0; width]);
        Self { y, yy, xy }
    }

    fn copy(&mut self, other: &Self) {
        self.y.copy_from_slice(&other.y);
        self.yy.copy_from_slice(&other.yy);
        self.xy.copy_from_slice(&other.xy);
    }

    fn set(&mut self, x: &[f64], y: &[f64]) {
        self.each(x, y, |sum, value| *sum = value);
    }

    fn add(&mut self, x: &[f64], y: &[f64]) {
        self.each(x, y, |sum, value| *sum += value);
    }

    #[inline(always)]
    fn each(&mut self, x: &[f64], y: &[f64], put: impl Fn(&mut f64, f64)) {
        let n = self.y.len();
        let x = &x[..n];
        let y = &y[..n];
        let [sum_y, sum_yy, sum_xy] =
            [&mut self.y, &mut self.yy, &mut self.xy].map(|sums| &mut sums[..n]);
        for at in 0..n {
            put(&mut sum_y[at], y[at]);
            put(&mut sum_yy[at], y[at] * y[at]);
            put(&mut sum_xy[at], x[at] * y[at]);
        }
    }

    fn add_all(&mut self, other: &Self) {
        for (sums, other) in
            [(&mut self.y, &other.y), (&mut self.yy, &other.yy), (&mut self.xy, &other.xy)]
        {
            sums.iter_mut().zip(other).for_each(|(sum, other)| *sum += other);
        }
    }
}
