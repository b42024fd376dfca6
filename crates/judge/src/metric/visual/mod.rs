//! Visual change: how much an image changed for a human eye, from visual information fidelity (VIF,
//! Sheikh and Bovik 2006) and the visual signal-to-noise ratio (VSNR, Chandler and Hemami 2007).
//!
//! [`Reference`] keeps everything about an original that does not depend on what it is compared
//! with, so that many changed versions of it are cheap. Each number follows the published code of
//! its measure, and is the same on every machine.

mod covariance;
mod eigen;
mod information;
mod plane;
mod pyramid;
mod strip;
mod vif;
mod vif_p;
mod vsnr;
mod wavelet;
mod windows;

use faultlens_core::Image;
use plane::thousandths;
use thiserror::Error;

pub use vif::LEVELS as FULL_LEVELS;

/// Why two images have no visual change.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum VisualError {
    /// Pixels of different images would be compared.
    #[error(
        "an image of {width}×{height} pixels cannot be compared with one of \
         {changed_width}×{changed_height}; scale one of them first"
    )]
    Sizes {
        /// Columns of the original.
        width: usize,
        /// Rows of the original.
        height: usize,
        /// Columns of the changed image.
        changed_width: usize,
        /// Rows of the changed image.
        changed_height: usize,
    },
    /// The filters of the measure do not fit.
    #[error(
        "images of {width}×{height} pixels are too small for {measure}, which needs {min_side}"
    )]
    TooSmall {
        /// Columns.
        width: usize,
        /// Rows.
        height: usize,
        /// What was to be measured.
        measure: &'static str,
        /// The shortest side that will do.
        min_side: usize,
    },
    /// There is nothing in the original that could get lost.
    #[error("{measure} is not defined for an original without contrast")]
    Flat {
        /// What was to be measured.
        measure: &'static str,
    },
}

/// How much an image changed for a human eye.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VisualChange {
    /// From 0 (nothing to see) to 1 (nothing left of the original): `1 − VIF`, and 0 where the
    /// image looks better than the original or the change cannot be seen.
    pub delta_v: f64,
    /// The wavelet form of visual information fidelity; above 1 where contrast was gained.
    pub vif: f64,
    /// Levels of the pyramid: 4, fewer for images below 72 pixels, whose values are no longer
    /// the published measure.
    pub levels: usize,
}

/// Pixels up to which all planes of an original are kept, some 36 bytes for each of them. For larger
/// images, what can be made again from the pixels is not kept: half as fast, in a third of the
/// memory, with the same numbers.
const KEPT_PIXELS: usize = 1 << 22;

/// An original, prepared for being compared with many changed versions of it.
#[derive(Debug, Clone)]
pub struct Reference {
    image: Image,
    /// Whether planes are kept.
    keep: bool,
    vif: vif::Original,
    /// `None` where VSNR is not defined.
    vsnr: Option<vsnr::Original>,
}

impl Reference {
    /// Prepares an image with sides of at least 9 pixels.
    pub fn new(image: &Image) -> Result<Self, VisualError> {
        Self::of(image, image.width() * image.height() <= KEPT_PIXELS)
    }

    fn of(image: &Image, keep: bool) -> Result<Self, VisualError> {
        large_enough(image, "VIF", vif::MIN_SIDE)?;
        let vif = vif::Original::new(image, keep);
        let vsnr = vsnr::Original::new(image);
        Ok(Self { image: image.clone(), keep, vif, vsnr })
    }

    /// How much the changed image differs from this one for a human eye.
    pub fn visual_change(&self, changed: &Image) -> Result<VisualChange, VisualError> {
        same_size((self.image.width(), self.image.height()), changed)?;
        let levels = self.vif.levels();
        if same_luma(&self.image, changed) {
            return Ok(VisualChange { delta_v: 0.0, vif: 1.0, levels });
        }
        // VIF is undefined for a flat original: whatever can be seen now is a change.
        let vif = self.vif.vif(&self.image, changed, self.keep).unwrap_or(0.0);
        let vsnr = self.vsnr.as_ref();
        let is_invisible = vsnr.is_some_and(|vsnr| vsnr.hides(&self.image, changed));
        let delta_v = if vif > 1.0 || is_invisible { 0.0 } else { 1.0 - vif };
        Ok(VisualChange { delta_v, vif, levels })
    }
}

/// The visual signal-to-noise ratio in decibels; infinite for identical images, where the
/// published code answers some finite number.
pub fn vsnr(original: &Image, changed: &Image) -> Result<f64, VisualError> {
    same_size((original.width(), original.height()), changed)?;
    if same_luma(original, changed) {
        return Ok(f64::INFINITY);
    }
    let prepared = vsnr::Original::new(original).ok_or(VisualError::Flat { measure: "VSNR" })?;
    Ok(prepared.vsnr(original, changed))
}

/// Whether two images look the same in grey.
fn same_luma(original: &Image, changed: &Image) -> bool {
    let [a, b] = [original, changed].map(|image| image.rgb().as_chunks::<3>().0);
    a.iter().zip(b).all(|(&a, &b)| thousandths(a) == thousandths(b))
}

/// The pixel form of visual information fidelity, which most libraries mean by VIF. Thresholds
/// from human answers rest on the wavelet form, which [`Reference::visual_change`] tells.
pub fn vif_p(original: &Image, changed: &Image) -> Result<f64, VisualError> {
    same_size((original.width(), original.height()), changed)?;
    large_enough(original, "VIF-P", vif_p::MIN_SIDE)?;
    vif_p::vif_p(original, changed).ok_or(VisualError::Flat { measure: "VIF-P" })
}

fn same_size((width, height): (usize, usize), changed: &Image) -> Result<(), VisualError> {
    let changed_width = changed.width();
    let changed_height = changed.height();
    if (width, height) == (changed_width, changed_height) {
        return Ok(());
    }
    Err(VisualError::Sizes { width, height, changed_width, changed_height })
}

fn large_enough(image: &Image, measure: &'static str, min_side: usize) -> Result<(), VisualError> {
    let width = image.width();
    let height = image.height();
    if width.min(height) >= min_side {
        return Ok(());
    }
    Err(VisualError::TooSmall { width, height, measure, min_side })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Large images are compared in strips, small ones in planes: not a bit differs.
    #[test]
    fn strips_and_planes_have_the_same_numbers() {
        for (width, height) in [(9, 9), (64, 33), (131, 150), (200, 97), (160, 128)] {
            let image = |noise: usize| {
                let rgb = (0..3 * width * height).map(|at| {
                    let (x, y) = (at / 3 % width, at / 3 / width);
                    (x * 3 + y * 5 + x * y / 7 + at % 3 * 20 + at * at % 97 * noise / 8) as u8
                });
                Image::from_rgb(width, height, rgb.collect()).unwrap()
            };
            let original = image(2);
            let [kept, made] = [true, false].map(|keep| Reference::of(&original, keep).unwrap());
            assert_eq!(kept.vif.known().to_bits(), made.vif.known().to_bits());
            for noise in [0, 3, 9] {
                let changes = [&kept, &made].map(|one| one.visual_change(&image(noise)).unwrap());
                let bits = changes.map(|change| [change.delta_v, change.vif].map(f64::to_bits));
                assert_eq!(bits[0], bits[1], "{width}×{height}, {noise}: {changes:?}");
            }
        }
    }
}
