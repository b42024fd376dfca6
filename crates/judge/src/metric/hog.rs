//! Histograms of oriented gradients (Dalal and Triggs 2005), as scikit-image computes them.

use faultlens_core::Image;
use thiserror::Error;

/// Keeps blocks without a gradient from dividing by zero.
const TINY: f64 = 1e-5;

/// No entry of a block may be larger with [`BlockNorm::L2Hys`].
const CLIP: f64 = 0.2;

/// How the histograms of a block are brought to one scale, so that light and contrast do not
/// matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockNorm {
    /// By the sum.
    L1,
    /// By the sum, then square roots.
    L1Sqrt,
    /// By the length.
    L2,
    /// By the length, cut off at 0.2, by the length again.
    L2Hys,
}

/// How finely an image is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HogSettings {
    /// Into how many ranges of angles the half circle is cut.
    pub orientations: usize,
    /// Rows and columns of a cell, in pixels.
    pub cell: (usize, usize),
    /// Rows and columns of a block, in cells.
    pub block: (usize, usize),
    /// How a block is brought to scale.
    pub norm: BlockNorm,
    /// Whether square roots of the pixels are looked at, which lifts shadows.
    pub square_root: bool,
}

impl Default for HogSettings {
    /// The best of Dalal and Triggs: 9 bins, cells of 8×8 pixels, blocks of 16×16.
    fn default() -> Self {
        let norm = BlockNorm::L2Hys;
        Self { orientations: 9, cell: (8, 8), block: (2, 2), norm, square_root: false }
    }
}

/// Why there are no histograms.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum HogError {
    /// Nothing can be counted.
    #[error("orientations, cells and blocks need at least 1 of everything")]
    Nothing,
    /// Not a single block fits in.
    #[error(
        "an image of {width}×{height} pixels has no block of {block_width}×{block_height} pixels; use smaller cells or blocks"
    )]
    TooSmall {
        /// Columns of the image.
        width: usize,
        /// Rows of the image.
        height: usize,
        /// Columns of a block.
        block_width: usize,
        /// Rows of a block.
        block_height: usize,
    },
}

/// The histograms of all blocks, from the upper left, one after the other.
///
/// They say which edges an image has and where, whatever its light. Where channels differ, the one
/// with the steepest gradient speaks for its pixel.
pub fn hog(image: &Image, settings: &HogSettings) -> Result<Vec<f64>, HogError> {
    let width = image.width();
    let height = image.height();
    settings.check(width, height)?;
    let pixels = image.rgb().as_chunks::<3>().0;
    let level: Vec<f64> = (0..=255u8).map(|byte| settings.level(f64::from(byte))).collect();
    let grey = pixels.iter().all(|&[red, green, blue]| red == green && green == blue);
    let planes: Vec<Vec<f64>> = (0..if grey { 1 } else { 3 })
        .map(|channel: usize| -> Vec<f64> {
            pixels.iter().map(|pixel| level[usize::from(pixel[channel])]).collect()
        })
        .collect();
    Ok(settings.blocks(&settings.cells(&planes, width, height), width, height))
}

/// How much of the edges of one image another one has: the sum of the smaller of each pair of
/// entries over the sum of the first, which is the background. 1 for the same image; `None`
/// where the background has no edges, or histograms are of different lengths.
pub fn hog_intersection(background: &[f64], other: &[f64]) -> Option<f64> {
    let all: f64 = background.iter().sum();
    let shared: f64 = background.iter().zip(other).map(|(a, b)| a.min(*b)).sum();
    (background.len() == other.len() && all > 0.0).then(|| shared / all)
}

impl HogSettings {
    fn check(&self, width: usize, height: usize) -> Result<(), HogError> {
        let cell = self.cell;
        let block = self.block;
        if [self.orientations, cell.0, cell.1, block.0, block.1].contains(&0) {
            return Err(HogError::Nothing);
        }
        let block_width = cell.1.saturating_mul(block.1);
        let block_height = cell.0.saturating_mul(block.0);
        if width < block_width || height < block_height {
            return Err(HogError::TooSmall { width, height, block_width, block_height });
        }
        Ok(())
    }

    fn level(&self, level: f64) -> f64 {
        if self.square_root { level.sqrt() } else { level }
    }

    /// For each cell, the sum of its gradients in each range of angles. What does not fill a cell
    /// at the right and at the bottom is left out.
    fn cells(&self, planes: &[Vec<f64>], width: usize, height: usize) -> Vec<f64> {
        let rows = height / self.cell.0;
        let columns = width / self.cell.1;
        let edges = self.edges();
        let mut cells = vec![0.0; rows * columns * self.orientations];
        let mut row = Row::new(width);
        for y in 0..rows * self.cell.0 {
            row.gradients(planes, y, height);
            // Roots of whole numbers meet angles such as 60 degrees, where only the same rounding
            // falls on the same side; whole numbers meet none but the diagonals.
            if self.square_root {
                row.sort_by_angle(self.orientations);
            } else {
                row.sort_into(&edges);
            }
            let start = y / self.cell.0 * columns * self.orientations;
            let cells = cells[start..].chunks_exact_mut(self.orientations);
            let pixels =
                row.bins.chunks_exact(self.cell.1).zip(row.length.chunks_exact(self.cell.1));
            for (cell, (bins, lengths)) in cells.zip(pixels) {
                for (&bin, &length) in bins.iter().zip(lengths) {
                    cell[bin as usize] += length;
                }
            }
        }
        let area = (self.cell.0 * self.cell.1) as f64;
        cells.iter_mut().for_each(|sum| *sum /= area);
        cells
    }

    /// The directions that part the ranges of angles, as columns and rows, from the second range
    /// on.
    fn edges(&self) -> Vec<(f64, f64)> {
        let step = 180.0 / self.orientations as f64;
        (1..self.orientations).map(|at| direction(at as f64 * step)).collect()
    }

    fn blocks(&self, cells: &[f64], width: usize, height: usize) -> Vec<f64> {
        let rows = height / self.cell.0;
        let columns = width / self.cell.1;
        let long = self.block.1 * self.orientations;
        let mut blocks = Vec::new();
        for row in 0..=rows - self.block.0 {
            for column in 0..=columns - self.block.1 {
                let start = blocks.len();
                for below in 0..self.block.0 {
                    let from = ((row + below) * columns + column) * self.orientations;
                    blocks.extend_from_slice(&cells[from..from + long]);
                }
                self.norm.scale(&mut blocks[start..]);
            }
        }
        blocks
    }
}

impl BlockNorm {
    fn scale(self, block: &mut [f64]) {
        let sum = block.iter().sum::<f64>() + TINY;
        match self {
            Self::L1 => divide(block, sum),
            Self::L1Sqrt => {
                divide(block, sum);
                block.iter_mut().for_each(|entry| *entry = entry.sqrt());
            }
            Self::L2 => divide(block, length(block)),
            Self::L2Hys => {
                divide(block, length(block));
                block.iter_mut().for_each(|entry| *entry = entry.min(CLIP));
                divide(block, length(block));
            }
        }
    }
}

fn divide(block: &mut [f64], by: f64) {
    for entry in block {
        *entry /= by;
    }
}

/// The Euclidean length, kept from 0.
fn length(block: &[f64]) -> f64 {
    (block.iter().map(|entry| entry * entry).sum::<f64>() + TINY * TINY).sqrt()
}

/// The direction of an angle in degrees. Diagonals are exact, since many gradients of whole numbers
/// lie on them and belong to the range that starts there.
fn direction(degrees: f64) -> (f64, f64) {
    match degrees {
        45.0 => (1.0, 1.0),
        90.0 => (0.0, 1.0),
        135.0 => (-1.0, 1.0),
        _ => (libm::cos(degrees.to_radians()), libm::sin(degrees.to_radians())),
    }
}

/// The gradients of one row of pixels.
struct Row {
    across: Vec<f64>,
    down: Vec<f64>,
    length: Vec<f64>,
    bins: Vec<u32>,
    zeros: Vec<f64>,
}

impl Row {
    fn new(width: usize) -> Self {
        let zeros = vec![0.0; width];
        let [across, down, length] = std::array::from_fn(|_| zeros.clone());
        Self { across, down, length, bins: vec![0; width], zeros }
    }

    /// Takes the steepest gradient of all planes at each pixel, of equal ones the first; none at
    /// the image's edge, across it.
    fn gradients(&mut self, planes: &[Vec<f64>], y: usize, height: usize) {
        let width = self.across.len();
        self.length.fill(-1.0);
        for plane in planes {
            let lines = |from: usize| &plane[from * width..(from + 1) * width];
            let here = lines(y);
            // Central differences; across the edge of the image there is none.
            let (above, below) = if y == 0 || y + 1 == height {
                (&self.zeros[..], &self.zeros[..])
            } else {
                (lines(y - 1), lines(y + 1))
            };
            for x in 0..width {
                let inside = x > 0 && x + 1 < width;
                let across = if inside { here[x + 1] - here[x - 1] } else { 0.0 };
                let down = below[x] - above[x];
                let length = (across * across + down * down).sqrt();
                if length > self.length[x] {
                    (self.across[x], self.down[x], self.length[x]) = (across, down, length);
                }
            }
        }
    }

    /// Finds the range of each gradient's angle, step for step as scikit-image does.
    fn sort_by_angle(&mut self, orientations: usize) {
        let step = 180.0 / orientations as f64;
        let gradients = self.across.iter().zip(&self.down);
        for (bin, (&across, &down)) in self.bins.iter_mut().zip(gradients) {
            let angle = libm::atan2(down, across).to_degrees().rem_euclid(180.0);
            let passed = (1..orientations).take_while(|&at| angle >= step * at as f64);
            *bin = passed.count() as u32;
        }
    }

    /// Finds the range of each gradient's angle faster: how many of the edges it has passed, on the half
    /// circle from the right over below to the left.
    fn sort_into(&mut self, edges: &[(f64, f64)]) {
        self.bins.fill(0);
        for (across, down) in self.across.iter_mut().zip(&mut self.down) {
            let turn = *down < 0.0 || (*down == 0.0 && *across < 0.0);
            let sign = if turn { -1.0 } else { 1.0 };
            (*across, *down) = (*across * sign, *down * sign);
        }
        for &(cosine, sine) in edges {
            let gradients = self.across.iter().zip(&self.down);
            for (bin, (across, down)) in self.bins.iter_mut().zip(gradients) {
                *bin += u32::from(cosine * down >= sine * across);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ramp whose grey rises by `across` per column and `down` per row.
    fn ramp(across: i32, down: i32) -> Image {
        let pixels = (0..16).flat_map(|y| (0..16).map(move |x| (x, y)));
        let grey = pixels.map(|(x, y)| (128 + across * (x - 8) + down * (y - 8)) as u8);
        Image::from_rgb(16, 16, grey.flat_map(|level| [level; 3]).collect()).unwrap()
    }

    #[test]
    fn a_ramp_has_one_direction() {
        // Eight ranges of 22.5 degrees; diagonals start one.
        let cell = HogSettings {
            orientations: 8,
            cell: (4, 4),
            block: (4, 4),
            norm: BlockNorm::L2,
            square_root: false,
        };
        let cases = [
            ((2, 0), 0),
            ((-2, 0), 0),
            ((3, 3), 2),
            ((0, 2), 4),
            ((0, -2), 4),
            ((-3, 3), 6),
            ((3, -3), 6),
        ];
        for ((across, down), wanted) in cases {
            let histograms = hog(&ramp(across, down), &cell).unwrap();
            // A cell inside, since gradients at the edge have one direction less.
            let inside = &histograms[5 * 8..6 * 8];
            for (bin, &entry) in inside.iter().enumerate() {
                assert_eq!(entry > 0.0, bin == wanted, "{across} {down}: {inside:?}");
            }
        }
    }

    #[test]
    fn images_without_edges_have_empty_histograms() {
        for norm in [BlockNorm::L1, BlockNorm::L1Sqrt, BlockNorm::L2, BlockNorm::L2Hys] {
            let settings = HogSettings { norm, ..HogSettings::default() };
            let empty = hog(&ramp(0, 0), &settings).unwrap();
            assert_eq!(empty, [0.0; 36], "{norm:?}");
            let edges = hog(&ramp(2, 1), &settings).unwrap();
            assert_eq!(
                (hog_intersection(&empty, &edges), hog_intersection(&edges, &edges)),
                (None, Some(1.0))
            );
            assert_eq!(hog_intersection(&edges, &edges[1..]), None);
        }
    }

    #[test]
    fn blocks_that_do_not_fit_are_refused() {
        let settings = HogSettings { block: (3, 2), ..HogSettings::default() };
        let error = hog(&ramp(1, 1), &settings).unwrap_err();
        assert_eq!(
            error.to_string(),
            "an image of 16×16 pixels has no block of 16×24 pixels; use smaller cells or blocks"
        );
        let settings = HogSettings { orientations: 0, ..settings };
        assert_eq!(hog(&ramp(1, 1), &settings), Err(HogError::Nothing));
    }
}
