//! The visual signal-to-noise ratio (Chandler and Hemami 2007), by its published code.

use super::plane::{luma_row, mirrored};
use super::strip::{Level, Make, Strip};
use super::wavelet::{LEVELS, variances};
use faultlens_core::Image;

/// From a pixel to luminance: `(SLOPE · pixel)^GAMMA`.
const SLOPE: f64 = 0.02874;
const GAMMA: f64 = 2.2;
/// Pixels per degree of the eye: 96 per inch, seen from 19.1 inches, times the tangent of 1°.
const PER_DEGREE: f64 = 96.0 * 19.1 * 0.017_455_064_928_217_585;
/// How much the contrast counts beside where it stands.
const CONTRAST_SHARE: f64 = 0.04;
/// Sides are multiples of this, and not below [`MIN_SIDE`].
const STEP: usize = 32;
const MIN_SIDE: usize = 128;
/// One row of so many is looked at first.
const ROWS_APART: usize = 8;

/// The original image, prepared once for all comparisons.
#[derive(Debug, Clone)]
pub(super) struct Original {
    /// The mean of its luma.
    mean: f64,
    /// The mean of its luminance.
    light: f64,
    /// Its contrast.
    contrast: f64,
    /// From the deviation of a band of the first level to its contrast.
    scale: f64,
    /// The contrast at each spatial frequency.
    parts: [f64; LEVELS],
    /// The smallest contrast of a change that can be seen.
    visible: f64,
    /// The pixels that it was computed from, with those beyond the edges.
    pixels: usize,
}

impl Original {
    /// `None` where the original is flat or black, for which nothing is published.
    pub(super) fn new(image: &Image) -> Option<Self> {
        let mut luma = Padded::new(image);
        let [width, height] = luma.size();
        let mut row = vec![0.0; width];
        let mut levels = Levels::new();
        let mut sum = 0.0;
        for y in 0..height {
            luma.make(y, &mut row);
            levels.add(row.iter().copied());
            sum += row.iter().sum::<f64>();
        }
        let light = levels.mean();
        let deviation = levels.squares().sqrt();
        if light <= 0.0 || deviation <= 0.0 {
            return None;
        }
        let pixels = width * height;
        let mean = sum / pixels as f64;
        let scale = SLOPE * GAMMA * libm::pow(SLOPE * mean, GAMMA - 1.0) / light;
        let parts = contrasts(Strip::new(luma), scale);
        let visible = norm(beside(parts, best_ratios(0.0)));
        Some(Self { mean, light, contrast: deviation / light, scale, parts, visible, pixels })
    }

    /// Whether a change cannot be seen at all: its ratio is infinite.
    pub(super) fn hides(&self, original: &Image, changed: &Image) -> bool {
        // Some rows alone mostly show more than all of them could hide, wherever their mean is.
        let mut some = Levels::new();
        let [mut own, mut other] = [(); 2].map(|()| vec![0.0; original.width()]);
        for y in (0..original.height()).step_by(ROWS_APART) {
            luma_row(original, y, &mut own);
            luma_row(changed, y, &mut other);
            some.add(self.errors(&own, &other));
        }
        let largest = (self.visible * self.light).powi(2) * self.pixels as f64;
        if some.squares() * some.count() > 1.000_001 * largest {
            return false;
        }
        let [mut original, mut changed] = [original, changed].map(Padded::new);
        let [width, height] = original.size();
        let [mut own, mut other] = [(); 2].map(|()| vec![0.0; width]);
        let mut levels = Levels::new();
        for y in 0..height {
            original.make(y, &mut own);
            changed.make(y, &mut other);
            levels.add(self.errors(&own, &other));
        }
        self.unseen(&levels) == Some(f64::INFINITY)
    }

    /// The ratio in decibels.
    pub(super) fn vsnr(&self, original: &Image, changed: &Image) -> f64 {
        let mut error = ErrorLevels::new(self, original, changed);
        let [width, height] = error.size();
        let mut row = vec![0.0; width];
        let mut levels = Levels::new();
        for y in 0..height {
            error.make(y, &mut row);
            levels.add(row.iter().copied());
        }
        if let Some(ratio) = self.unseen(&levels) {
            return ratio;
        }
        let contrast = levels.squares().sqrt() / self.light;
        let best = self.best(contrast);
        let actual = contrasts(Strip::new(error), self.scale);
        let apart = norm(std::array::from_fn(|at| best[at] - actual[at]));
        let distance =
            CONTRAST_SHARE * contrast + (1.0 - CONTRAST_SHARE) * apart / std::f64::consts::SQRT_2;
        20.0 * libm::log10(self.contrast / distance)
    }

    /// The change alone, around the mean of the original.
    fn errors(&self, original: &[f64], changed: &[f64]) -> impl Iterator<Item = f64> {
        changed.iter().zip(original).map(|(changed, original)| changed - original + self.mean)
    }

    /// The ratio of a change of little contrast: infinite, unless the light changed as a whole.
    fn unseen(&self, levels: &Levels) -> Option<f64> {
        if levels.squares().sqrt() / self.light > self.visible {
            return None;
        }
        let difference = (levels.mean() - self.light).abs();
        if difference / self.light < 0.01 {
            return Some(f64::INFINITY);
        }
        // Not the logarithm of the quotient, as published.
        Some(20.0 * (self.light / difference) - 20.0 * libm::log10(1.5))
    }

    /// How a change of some contrast would be spread over frequencies to disturb least; found by
    /// bisection of its visibility.
    fn best(&self, contrast: f64) -> [f64; LEVELS] {
        let mut low = 0.0;
        let mut high = 1.0;
        let mut spread = self.parts;
        for _ in 0..100 {
            let visibility = 0.5 * (low + high);
            spread = beside(self.parts, best_ratios(visibility));
            let now = norm(spread);
            if (now - contrast).abs() < 0.01 * contrast {
                break;
            }
            if now < contrast {
                low = visibility;
            } else {
                high = visibility;
            }
        }
        spread
    }
}

/// The change alone, in whole grey levels, row by row.
struct ErrorLevels<'a> {
    prepared: &'a Original,
    images: [Padded<'a>; 2],
    rows: [Vec<f64>; 2],
}

impl<'a> ErrorLevels<'a> {
    fn new(prepared: &'a Original, original: &'a Image, changed: &'a Image) -> Self {
        let images = [original, changed].map(Padded::new);
        let [width, _] = images[0].size();
        Self { prepared, images, rows: [(); 2].map(|()| vec![0.0; width]) }
    }
}

impl Make for ErrorLevels<'_> {
    fn size(&self) -> [usize; 2] {
        self.images[0].size()
    }

    fn make(&mut self, y: usize, out: &mut [f64]) {
        for (image, row) in self.images.iter_mut().zip(&mut self.rows) {
            image.make(y, row);
        }
        let [original, changed] = &self.rows;
        let errors = self.prepared.errors(original, changed);
        out.iter_mut().zip(errors).for_each(|(out, error)| *out = level(error) as f64);
    }
}

/// The contrast of the detail at each frequency.
fn contrasts(plane: impl Level, scale: f64) -> [f64; LEVELS] {
    let variances = variances(plane);
    std::array::from_fn(|at| variances[at].sqrt() * scale / f64::from(2u32 << at))
}

/// How much more contrast than the change the original should have at each frequency, for a
/// visibility from 0 (at the threshold) to 1.
fn best_ratios(visibility: f64) -> [f64; LEVELS] {
    const A: [f64; 3] = [59.8, -0.1258, -0.1087];
    let squared = (-1.0 - A[2]) * visibility + A[2];
    let linear = (1.0 - A[1]) * visibility + A[1];
    let constant = A[0] * (1.0 - visibility);
    std::array::from_fn(|at| {
        let frequency = PER_DEGREE / f64::from(2u32 << at);
        let power = squared * libm::log(frequency) + linear;
        (constant * libm::pow(frequency, power)).max(0.0)
    })
}

fn beside(a: [f64; LEVELS], b: [f64; LEVELS]) -> [f64; LEVELS] {
    std::array::from_fn(|at| a[at] / b[at])
}

fn norm(of: [f64; LEVELS]) -> f64 {
    of.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// The grey level of a number: the nearest, a half upwards.
fn level(number: f64) -> usize {
    (number + 0.5) as u8 as usize
}

/// How often each grey level occurs: all that luminance depends on.
struct Levels {
    counts: [u32; 256],
}

impl Levels {
    fn new() -> Self {
        Self { counts: [0; 256] }
    }

    fn add(&mut self, numbers: impl Iterator<Item = f64>) {
        numbers.for_each(|number| self.counts[level(number)] += 1);
    }

    fn count(&self) -> f64 {
        self.counts.iter().map(|&count| f64::from(count)).sum()
    }

    /// The mean of the luminance.
    fn mean(&self) -> f64 {
        self.average(|light| light)
    }

    /// The mean square of its distance from the mean.
    fn squares(&self) -> f64 {
        let mean = self.mean();
        self.average(|light| (light - mean) * (light - mean))
    }

    fn average(&self, of: impl Fn(f64) -> f64) -> f64 {
        let all = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let sum: f64 = all
            .map(|(level, &count)| f64::from(count) * of(libm::pow(SLOPE * level as f64, GAMMA)))
            .sum();
        sum / self.count()
    }
}

/// The luma of an image on a larger one with sides that the transform can halve: mirrored at the
/// edges, and each corner a single value, as in the authors' front end.
struct Padded<'a> {
    image: &'a Image,
    size: [usize; 2],
    /// Columns on the left and rows on top that are not the image's.
    before: [usize; 2],
    /// Two rows of the image: the one that is shown, and the one with the corner's value.
    rows: [Vec<f64>; 2],
}

impl<'a> Padded<'a> {
    fn new(image: &'a Image) -> Self {
        let own = [image.width(), image.height()];
        let size = own.map(|side| side.next_multiple_of(STEP).max(MIN_SIDE));
        let before = std::array::from_fn(|at| (size[at] - own[at]).div_ceil(2));
        Self { image, size, before, rows: [(); 2].map(|()| vec![0.0; own[0]]) }
    }
}

impl Make for Padded<'_> {
    fn size(&self) -> [usize; 2] {
        self.size
    }

    fn make(&mut self, y: usize, out: &mut [f64]) {
        let width = self.image.width();
        let height = self.image.height();
        let [left, top] = self.before;
        let inside =
            |at: usize, before: usize, length: usize| (before..before + length).contains(&at);
        // One step inside, towards the nearer corner.
        let corner = |at: usize, before: usize, length: usize| {
            if at < before { 1.min(length - 1) } else { length.saturating_sub(2) }
        };
        let [own, corners] = &mut self.rows;
        luma_row(self.image, mirrored(y as isize - top as isize, height), own);
        let inner = inside(y, top, height);
        if inner && width == out.len() {
            out.copy_from_slice(own);
            return;
        }
        luma_row(self.image, corner(y, top, height), corners);
        for (x, out) in out.iter_mut().enumerate() {
            *out = if inner || inside(x, left, width) {
                own[mirrored(x as isize - left as isize, width)]
            } else {
                corners[corner(x, left, width)]
            };
        }
    }
}
