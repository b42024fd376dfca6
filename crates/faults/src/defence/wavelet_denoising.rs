//! Small differences are noise.

use super::wavelet::{Details, Plane};
use crate::doc::{about, described, when};
use faultlens_core::{Defence, Image, Plugin};

described! {
    /// # What it does
    /// Shrinks small Haar wavelet coefficients, which are mostly noise, by the threshold of
    /// BayesShrink (Chang, Yu and Vetterli 2000). The deviation of the noise is estimated from
    /// the finest coefficients, as `denoise_wavelet` of scikit-image does.
    /// # When to use it
    /// Gaussian noise; keeps edges that a blur would soften.
    struct WaveletDenoising;
}

pub(super) const WAVELET_DENOISING: Plugin<dyn Defence> = Plugin {
    name: "wavelet_denoising",
    about: about(WaveletDenoising::DOC),
    when: when(WaveletDenoising::DOC),
    parameters: &[],
    build: |_| Ok(Box::new(WaveletDenoising)),
};

/// The deviation of a Gaussian over the median of its absolute values.
const MEDIAN_TO_DEVIATION: f64 = 0.674_489_750_196_081_7;

/// Coarse levels that are left as they are: what differs there is the picture.
const COARSE_LEVELS: u32 = 3;

impl Defence for WaveletDenoising {
    fn clean(&self, image: &Image) -> Image {
        let width = image.width();
        let mut clean = image.clone();
        for channel in 0..3 {
            let values = image.rgb().iter().skip(channel).step_by(3);
            let values = values.map(|&value| f32::from(value) / 255.0).collect();
            let plane = denoised(Plane { width, values }, image.height());
            let out = clean.rgb_mut().iter_mut().skip(channel).step_by(3);
            for (out, value) in out.zip(plane.values) {
                *out = (value.clamp(0.0, 1.0) * 255.0).round() as u8;
            }
        }
        clean
    }
}

fn denoised(plane: Plane, height: usize) -> Plane {
    let shortest = plane.width.min(height);
    let levels = shortest.max(1).ilog2().saturating_sub(COARSE_LEVELS).max(1);
    let mut all: Vec<Details> = Vec::new();
    let mut coarse = plane;
    for _ in 0..levels {
        let (coarser, details) = coarse.split();
        all.push(details);
        coarse = coarser;
    }
    let noise = all.first().map_or(0.0, |finest| deviation(&finest.bands[2]));
    for details in &mut all {
        details.bands.iter_mut().for_each(|band| shrink(band, noise * noise));
    }
    all.iter().rev().fold(coarse, Plane::joined)
}

/// The deviation of noise, from the differences in which there is least else. Those that are
/// exactly zero come from clipping, and say nothing of it.
fn deviation(differences: &[f32]) -> f64 {
    let mut sizes: Vec<f32> =
        differences.iter().map(|d| d.abs()).filter(|size| *size != 0.0).collect();
    if sizes.is_empty() {
        return 0.0;
    }
    sizes.sort_by(f32::total_cmp);
    let middle = sizes.len() / 2;
    let median = if sizes.len() % 2 == 1 {
        f64::from(sizes[middle])
    } else {
        (f64::from(sizes[middle - 1]) + f64::from(sizes[middle])) / 2.0
    };
    median / MEDIAN_TO_DEVIATION
}

/// Draws every difference towards zero by the threshold that BayesShrink finds for the band.
fn shrink(band: &mut [f32], noise: f64) {
    let power = band.iter().map(|d| f64::from(*d) * f64::from(*d)).sum::<f64>();
    let picture = (power / band.len() as f64 - noise).max(f64::EPSILON);
    let threshold = (noise / libm::sqrt(picture)) as f32;
    for d in band {
        *d = d.signum() * (d.abs() - threshold).max(0.0);
    }
}
