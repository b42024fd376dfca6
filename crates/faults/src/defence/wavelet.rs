//! Haar's wavelets of a plane: means and differences of neighbours, of those means again, and so
//! on.

/// A plane of numbers, rows from the top.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plane {
    pub(super) width: usize,
    pub(super) values: Vec<f32>,
}

/// What tells a plane from its coarser version: across, down and both.
pub(super) struct Details {
    pub(super) bands: [Vec<f32>; 3],
    /// The finer plane's sides.
    width: usize,
    height: usize,
}

impl Plane {
    fn height(&self) -> usize {
        self.values.len() / self.width
    }

    /// The coarser plane and what it leaves out; the last row and column count twice where they
    /// are alone, as with a mirrored edge.
    pub(super) fn split(&self) -> (Self, Details) {
        let width = self.width;
        let height = self.height();
        let columns = width.div_ceil(2);
        let rows = height.div_ceil(2);
        let mut coarse = Vec::with_capacity(columns * rows);
        let mut bands = [(); 3].map(|()| Vec::with_capacity(columns * rows));
        for y in 0..rows {
            let [upper, lower] = [2 * y, (2 * y + 1).min(height - 1)].map(|y| y * width);
            for x in 0..columns {
                let [left, right] = [2 * x, (2 * x + 1).min(width - 1)];
                let [a, b] = [left, right].map(|x| self.values[upper + x]);
                let [c, d] = [left, right].map(|x| self.values[lower + x]);
                coarse.push((a + b + c + d) / 2.0);
                bands[0].push((a + b - c - d) / 2.0);
                bands[1].push((a - b + c - d) / 2.0);
                bands[2].push((a - b - c + d) / 2.0);
            }
        }
        (Self { width: columns, values: coarse }, Details { bands, width, height })
    }

    /// The finer plane.
    pub(super) fn joined(self, details: &Details) -> Self {
        let Details { bands: [down, across, both], width, height } = details;
        let mut values = vec![0.0; width * height];
        for (at, &mean) in self.values.iter().enumerate() {
            let left = 2 * (at % self.width);
            let top = 2 * (at / self.width);
            let v = down[at];
            let h = across[at];
            let d = both[at];
            let corners = [mean + v + h + d, mean + v - h - d, mean - v + h - d, mean - v - h + d];
            for (corner, value) in corners.into_iter().enumerate() {
                let x = left + corner % 2;
                let y = top + corner / 2;
                if x < *width && y < *height {
                    values[y * width + x] = value / 2.0;
                }
            }
        }
        Self { width: *width, values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_split_is_joined_again() {
        for (width, height) in [(1, 1), (2, 2), (5, 4), (7, 3)] {
            let values: Vec<f32> = (0..width * height).map(|at| (at * at % 17) as f32).collect();
            let plane = Plane { width, values };
            let (coarse, details) = plane.split();
            assert_eq!(coarse.values.len(), width.div_ceil(2) * height.div_ceil(2));
            assert_eq!(coarse.joined(&details), plane, "{width}×{height}");
        }
    }
}
