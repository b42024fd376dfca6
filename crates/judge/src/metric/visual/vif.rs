//! Visual information fidelity, in its wavelet form (Sheikh and Bovik 2006).

use super::covariance::{BLOCK, SIDE, covariance};
use super::eigen::{eigenvalues, whitening};
use super::information::Information;
use super::plane::Plane;
use super::pyramid::{DIRECTIONS, Rows, next, start};
use super::windows::{Sums, Windows};

/// Levels of the pyramid where the image is large enough: 72 pixels. With fewer, VIF is not the
/// published measure any more.
pub const LEVELS: usize = 4;
/// The shortest side of the coarsest level.
pub(super) const MIN_SIDE: usize = 9;
/// The variance of the noise inside an observer.
const NOISE: f64 = 0.4;
/// What counts as nothing.
const NOTHING: f64 = 1e-15;
/// A covariance is flat where its smallest eigenvalue is no larger, beside the largest.
const SINGULAR: f64 = 1e-12;
/// Smaller variances than any 8-bit image has; what is left is rounding.
const ROUNDING: f64 = 1e-18;

/// Everything about an original that does not depend on what it is compared with.
///
/// VIF models a band of a wavelet pyramid as a Gaussian scale mixture: blocks of 3×3 coefficients
/// with one covariance for the band and a weight for each block. The changed image is the original
/// through a channel with gain and noise; the measure is the information that an observer with
/// internal noise gets from the changed image, over that from the original.
#[derive(Debug, Clone)]
pub(super) struct Original {
    /// For each level, finest first: the band across and the band down.
    levels: Vec<[Option<Band>; 2]>,
    /// The information in the original, the denominator of VIF.
    known: f64,
}

impl Original {
    /// Of an image with sides of at least [`MIN_SIDE`].
    pub(super) fn new(luma: &Plane) -> Self {
        let levels = levels(luma.width.min(luma.height));
        let mut known = Information::default();
        let mut place = start(luma);
        let levels = (0..levels).map(|level| {
            if level > 0 {
                place = next(&place);
            }
            let side = (1 << (levels - level)) + 1;
            DIRECTIONS.map(|direction| Band::new(Rows::new(&place, direction), side, &mut known))
        });
        let levels = levels.collect();
        Self { levels, known: known.bits() }
    }

    /// Levels of the pyramid.
    pub(super) fn levels(&self) -> usize {
        self.levels.len()
    }

    /// The share of the information that a changed image still has; `None` for an original without
    /// any.
    pub(super) fn vif(&self, luma: &Plane) -> Option<f64> {
        if self.known <= 0.0 {
            return None;
        }
        let mut left = Information::default();
        let mut place = start(luma);
        for (level, bands) in self.levels.iter().enumerate() {
            if level > 0 {
                place = next(&place);
            }
            for (own, direction) in bands.iter().zip(DIRECTIONS) {
                if let Some(own) = own {
                    own.add_left(Rows::new(&place, direction), &mut left);
                }
            }
        }
        Some(left.bits() / self.known)
    }
}

/// As many levels as fit.
fn levels(side: usize) -> usize {
    (0..LEVELS).take_while(|level| side >= MIN_SIDE << level).count()
}

/// The statistics of a band of the original image.
#[derive(Debug, Clone)]
struct Band {
    plane: Plane,
    windows: Windows,
    /// For each window, what its block weighs beside the average one.
    weights: Vec<f64>,
    /// For each window, the mean of the band and its sum of squares around it.
    moments: Vec<[f64; 2]>,
    eigenvalues: [f64; BLOCK],
}

impl Band {
    /// `None` where the band is flat.
    fn new(mut rows: Rows<'_>, side: usize, known: &mut Information) -> Option<Self> {
        let plane = rows.plane();
        let windows = Windows::new(plane.width, plane.height, side);
        let covariance =
            covariance(&plane, SIDE * windows.columns_of_all(), SIDE * windows.rows_of_all());
        let eigenvalues = eigenvalues(covariance);
        let smallest = eigenvalues.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = eigenvalues.iter().copied().fold(0.0, f64::max);
        if largest <= ROUNDING || smallest <= SINGULAR * largest {
            return None;
        }
        let weights = windows.weights(&plane, &whitening(&covariance));
        let mut moments = Vec::with_capacity(weights.len());
        windows.each_row(
            &plane,
            |y: usize, out: &mut [f64]| out.copy_from_slice(plane.row(y)),
            |_, sums| {
                moments.extend(sums.iter().map(|sums| {
                    let mean = sums.y / windows.pixels();
                    [mean, (sums.yy - windows.pixels() * mean * mean).max(0.0)]
                }));
            },
        );
        known.add(&eigenvalues.map(|value| value / NOISE), &weights);
        Some(Self { plane, windows, weights, moments, eigenvalues })
    }

    /// Adds what a changed band still tells of this one.
    fn add_left(&self, mut changed: Rows<'_>, left: &mut Information) {
        let mut ratios = Vec::new();
        self.windows.each_row(
            &self.plane,
            |y: usize, out: &mut [f64]| changed.row(y, out),
            |first, sums| {
                ratios.clear();
                let own = self.weights[first..].iter().zip(&self.moments[first..]);
                ratios.extend(sums.iter().zip(own).map(|(sums, (weight, moments))| {
                    let [gain, noise] = self.channel(sums, *moments);
                    gain * gain * weight / (noise + NOISE)
                }));
                left.add(&self.eigenvalues, &ratios);
            },
        );
    }

    /// The channel from this band to the changed one in a window, by least squares: a gain, and the
    /// variance of the noise.
    fn channel(&self, sums: &Sums, [mean, own]: [f64; 2]) -> [f64; 2] {
        let n = self.windows.pixels();
        let changed_mean = sums.y / n;
        let both = sums.xy - n * mean * changed_mean;
        let changed = (sums.yy - n * changed_mean * changed_mean).max(0.0);
        let mut gain = both / (own + NOTHING);
        let mut noise = (changed - gain * both) / n;
        // In this order, and not divided by the number of pixels, as published.
        if own < NOTHING {
            [gain, noise] = [0.0, changed];
        }
        if changed < NOTHING {
            [gain, noise] = [0.0, 0.0];
        }
        if gain < 0.0 {
            [gain, noise] = [0.0, changed];
        }
        [gain, if noise <= NOTHING { NOTHING } else { noise }]
    }
}
