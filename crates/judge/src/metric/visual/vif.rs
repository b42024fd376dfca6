//! Visual information fidelity, in its wavelet form (Sheikh and Bovik 2006).

use super::covariance::{BLOCK, SIDE, Square, covariance};
use super::eigen::{eigenvalues, whitening};
use super::information::{Information, LANES};
use super::plane::Plane;
use super::pyramid::{DIRECTIONS, Direction, PyramidLevel};
use super::windows::{Sums, Windows};
use faultlens_core::Image;

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
    /// Of an image with sides of at least [`MIN_SIDE`]. What is not kept is made again for each
    /// comparison, from the same numbers in the same order.
    pub(super) fn new(image: &Image, keep: bool) -> Self {
        let levels = levels(image.width().min(image.height()));
        let mut known = Information::default();
        let mut place = PyramidLevel::first(image, keep);
        let levels = (0..levels).map(|level| {
            if level > 0 {
                place = place.next();
            }
            let side = (1 << (levels - level)) + 1;
            DIRECTIONS.map(|direction| Band::new(&place, direction, side, &mut known))
        });
        let levels = levels.collect();
        Self { levels, known: known.bits() }
    }

    /// The information in the original.
    #[cfg(test)]
    pub(super) fn known(&self) -> f64 {
        self.known
    }

    /// Levels of the pyramid.
    pub(super) fn levels(&self) -> usize {
        self.levels.len()
    }

    /// The share of the information that a changed image still has; `None` for an original without
    /// any.
    pub(super) fn vif(&self, original: &Image, changed: &Image, keep: bool) -> Option<f64> {
        if self.known <= 0.0 {
            return None;
        }
        let mut left = Information::default();
        // Looked at for bands that were not kept: those of the first level.
        let made = PyramidLevel::Made(original);
        let mut place = PyramidLevel::first(changed, keep);
        for (level, bands) in self.levels.iter().enumerate() {
            if level > 0 {
                place = place.next();
            }
            for (own, direction) in bands.iter().zip(DIRECTIONS) {
                if let Some(own) = own {
                    own.add_left(&made, &place, direction, &mut left);
                }
            }
        }
        Some(left.bits() / self.known)
    }
}

/// The rows of a band, from where it is kept or made from its level.
fn band_rows<'a>(
    kept: Option<&'a Plane>,
    level: &'a PyramidLevel<'_>,
    direction: Direction,
) -> impl FnMut(usize, &mut [f64]) + 'a {
    let mut made = kept.is_none().then(|| level.band(direction));
    move |y, out| match (&mut made, kept) {
        (Some(rows), _) => rows.row(y, out),
        (None, Some(plane)) => out.copy_from_slice(plane.row(y)),
        (None, None) => {}
    }
}

/// The rows of a band that is kept.
fn plane_rows(plane: &Plane) -> impl FnMut(usize, &mut [f64]) + '_ {
    |y, out| out.copy_from_slice(plane.row(y))
}

/// As many levels as fit.
fn levels(side: usize) -> usize {
    (0..LEVELS).take_while(|level| side >= MIN_SIDE << level).count()
}

/// The statistics of a band of the original image.
#[derive(Debug, Clone)]
struct Band {
    /// `None` where the band and what is known of its windows are made again each time.
    kept: Option<KeptBand>,
    wide: usize,
    windows: Windows,
    whitening: Square,
    eigenvalues: [f64; BLOCK],
}

/// What is kept of a band, some 11 bytes for each of its pixels.
#[derive(Debug, Clone)]
struct KeptBand {
    plane: Plane,
    /// For each window, what its block weighs beside the average one.
    weights: Vec<f64>,
    /// For each window, the mean of the band and its sum of squares around it.
    moments: Vec<[f64; 2]>,
}

impl Band {
    /// `None` where the band is flat.
    fn new(
        level: &PyramidLevel<'_>,
        direction: Direction,
        side: usize,
        known: &mut Information,
    ) -> Option<Self> {
        let [wide, height] = level.band(direction).size();
        let plane = match level {
            PyramidLevel::Kept(_) => Some(level.band(direction).plane()),
            PyramidLevel::Made(_) => None,
        };
        let windows = Windows::new(wide, height, side);
        let inside = [SIDE * windows.columns_of_all(), SIDE * windows.rows_of_all()];
        let covariance = covariance(band_rows(plane.as_ref(), level, direction), wide, inside);
        let eigenvalues = eigenvalues(covariance);
        let smallest = eigenvalues.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = eigenvalues.iter().copied().fold(0.0, f64::max);
        if largest <= ROUNDING || smallest <= SINGULAR * largest {
            return None;
        }
        let mut band =
            Self { kept: None, wide, windows, whitening: whitening(&covariance), eigenvalues };
        band.add_known(band_rows(plane.as_ref(), level, direction), known);
        band.kept = plane.map(|plane| band.keep(plane));
        Some(band)
    }

    /// Adds what this band tells, whose rows are asked for one by one.
    fn add_known(&self, rows: impl FnMut(usize, &mut [f64]), known: &mut Information) {
        let scales = self.eigenvalues.map(|value| value / NOISE);
        let mut weights = self.windows.weights(rows, self.wide, &self.whitening);
        // Handed over in whole groups, so that a group does not depend on where a row ends.
        let mut pending = Vec::new();
        while let Some(row) = weights.next() {
            pending.extend_from_slice(row);
            let whole = pending.len() - pending.len() % LANES;
            known.add(&scales, &pending[..whole]);
            pending.drain(..whole);
        }
        known.add(&scales, &pending);
    }

    fn keep(&self, plane: Plane) -> KeptBand {
        let weights = self.all_weights(&plane);
        let moments = self.all_moments(&plane);
        KeptBand { plane, weights, moments }
    }

    fn all_weights(&self, plane: &Plane) -> Vec<f64> {
        let mut all = Vec::new();
        let mut rows = self.windows.weights(plane_rows(plane), self.wide, &self.whitening);
        while let Some(row) = rows.next() {
            all.extend_from_slice(row);
        }
        all
    }

    fn all_moments(&self, plane: &Plane) -> Vec<[f64; 2]> {
        let mut all = Vec::new();
        // The sums of products are of no interest here.
        let mut rows = self.windows.sums(self.wide, |_, _| {}, plane_rows(plane));
        while let Some(row) = rows.next() {
            all.extend(row.iter().map(|sums| self.moments(sums)));
        }
        all
    }

    /// Adds what a changed band still tells of this one, which is a band of `own` where it was not
    /// kept.
    fn add_left(
        &self,
        own: &PyramidLevel<'_>,
        changed: &PyramidLevel<'_>,
        direction: Direction,
        left: &mut Information,
    ) {
        let changed = band_rows(None, changed, direction);
        let mut ratios = Vec::new();
        let Some(kept) = &self.kept else {
            let made = || band_rows(None, own, direction);
            let mut weights = self.windows.weights(made(), self.wide, &self.whitening);
            let mut own_sums = self.windows.sums(self.wide, |_, _| {}, made());
            let mut sums = self.windows.sums(self.wide, made(), changed);
            while let (Some(weights), Some(own), Some(sums)) =
                (weights.next(), own_sums.next(), sums.next())
            {
                ratios.clear();
                let known = weights.iter().zip(own);
                ratios.extend(
                    sums.iter()
                        .zip(known)
                        .map(|(sums, (weight, own))| self.ratio(sums, *weight, self.moments(own))),
                );
                left.add(&self.eigenvalues, &ratios);
            }
            return;
        };
        let mut sums = self.windows.sums(self.wide, plane_rows(&kept.plane), changed);
        let mut known = kept.weights.iter().zip(&kept.moments);
        while let Some(sums) = sums.next() {
            ratios.clear();
            let row = sums.iter().zip(known.by_ref());
            ratios.extend(row.map(|(sums, (weight, moments))| self.ratio(sums, *weight, *moments)));
            left.add(&self.eigenvalues, &ratios);
        }
    }

    /// The mean of this band in a window and its sum of squares around it, from its own sums.
    fn moments(&self, sums: &Sums) -> [f64; 2] {
        let mean = sums.y / self.windows.pixels();
        [mean, (sums.yy - self.windows.pixels() * mean * mean).max(0.0)]
    }

    /// What is left of the signal beside noise in a window.
    fn ratio(&self, sums: &Sums, weight: f64, moments: [f64; 2]) -> f64 {
        let [gain, noise] = self.channel(sums, moments);
        gain * gain * weight / (noise + NOISE)
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
