//! Rows that are made one after the other when somebody asks for them, so that a plane of a large
//! image need not be kept.

use super::plane::{MARGIN, Plane, mirrored};

/// Rows that are kept: as many as filters look at around one, and more.
const KEPT: usize = 16;

/// Makes the rows of a plane.
pub(super) trait Make {
    /// Columns and rows.
    fn size(&self) -> [usize; 2];

    /// Makes a row; rows are asked for from the top, each once.
    fn make(&mut self, y: usize, out: &mut [f64]);
}

/// A plane as filters see it: the rows around one, with their margins.
pub(super) trait Level {
    /// Columns and rows.
    fn size(&self) -> [usize; 2];

    /// Makes sure of the rows up to [`MARGIN`] around one.
    fn prepare(&mut self, y: usize);

    /// The row so many below (or above) the prepared one, mirrored at the edge, with its margins.
    fn near_row(&self, y: usize, below: isize) -> &[f64];
}

impl Level for &Plane {
    fn size(&self) -> [usize; 2] {
        [self.width, self.height]
    }

    fn prepare(&mut self, _y: usize) {}

    fn near_row(&self, y: usize, below: isize) -> &[f64] {
        Plane::near_row(self, y, below)
    }
}

/// The last rows of a plane that were written.
pub(super) struct Ring {
    rows: Plane,
    height: usize,
}

impl Ring {
    /// Of a plane of this size.
    pub(super) fn new([width, height]: [usize; 2], margin: usize) -> Self {
        Self { rows: Plane::new(width, KEPT, margin), height }
    }

    /// Writes a row and mirrors it into its margins.
    pub(super) fn write(&mut self, y: usize, write: impl FnOnce(&mut [f64])) {
        self.rows.write(y % KEPT, write);
    }

    /// The row so many below (or above) another, mirrored at the edge, with its margins. Mirrored
    /// rows are no further away than the row itself would be.
    pub(super) fn near_row(&self, y: usize, below: isize) -> &[f64] {
        self.rows.wide_row(mirrored(y as isize + below, self.height) % KEPT)
    }
}

/// The last rows that were made.
pub(super) struct Strip<M> {
    maker: M,
    rows: Ring,
    next: usize,
}

impl<M: Make> Strip<M> {
    /// Rows with margins.
    pub(super) fn new(maker: M) -> Self {
        let rows = Ring::new(maker.size(), MARGIN);
        Self { maker, rows, next: 0 }
    }
}

impl<M: Make> Level for Strip<M> {
    fn size(&self) -> [usize; 2] {
        self.maker.size()
    }

    fn prepare(&mut self, y: usize) {
        let [_, height] = self.size();
        while self.next < height.min(y + MARGIN + 1) {
            let y = self.next;
            self.rows.write(y, |out| self.maker.make(y, out));
            self.next += 1;
        }
    }

    fn near_row(&self, y: usize, below: isize) -> &[f64] {
        self.rows.near_row(y, below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Numbers(usize);

    impl Make for Numbers {
        fn size(&self) -> [usize; 2] {
            [9, self.0]
        }

        fn make(&mut self, y: usize, out: &mut [f64]) {
            out.iter_mut().enumerate().for_each(|(x, out)| *out = (100 * y + x) as f64);
        }
    }

    #[test]
    fn a_strip_shows_what_a_plane_shows() {
        for height in [1, 3, 9, 16, 17, 40] {
            let mut plane = Plane::new(9, height, MARGIN);
            for y in 0..height {
                plane.write(y, |out| Numbers(height).make(y, out));
            }
            let mut strip = Strip::new(Numbers(height));
            for y in 0..height {
                strip.prepare(y);
                for below in -4..=4 {
                    assert_eq!(strip.near_row(y, below), plane.near_row(y, below), "{y} {below}");
                }
            }
        }
    }
}
