//! Noise on training samples.

use super::{Pixels, check_share, refuse};
use crate::error::TrainError;
use faultlens_core::{Seed, Tensor, TensorData};
use serde::{Deserialize, Serialize};

/// Gaussian noise on a share of the training samples, drawn anew each time a sample is seen. What
/// it leads to below black or above white stays, so that its deviation is what it says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// The noise's standard deviation, in pixels from 0 to 1.
    pub sigma: f64,
    /// The share of samples that get it.
    pub share: f64,
}

impl Noise {
    /// Noise on half of the samples.
    pub fn on_half(sigma: f64) -> Self {
        Self { sigma, share: 0.5 }
    }

    pub(crate) fn check(&self) -> Result<(), TrainError> {
        let fits = self.sigma > 0.0 && self.sigma <= 10.0;
        refuse("the noise's sigma", self.sigma, fits, "it must lie above 0 and up to 10")?;
        check_share("the noise's share", self.share)
    }

    /// Adds noise to a batch; each sample draws from its own child of the seed.
    pub(crate) fn add(&self, batch: &mut Tensor, pixels: &Pixels, seed: Seed) {
        let TensorData::F32(data) = batch.data_mut() else { return };
        for (at, image) in data.chunks_mut(pixels.image()).enumerate() {
            let mut stream = seed.at(at as u64).stream();
            if !stream.chance(self.share) {
                continue;
            }
            for (place, value) in image.iter_mut().enumerate() {
                let (step, _) = pixels.unit(place);
                *value += (stream.gaussian() * self.sigma) as f32 * step;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recipe;
    use faultlens_vision::{Channels, Layout};

    #[test]
    fn half_of_the_samples_get_noise_of_its_sigma_in_pixels() {
        let mut input = Recipe::default_input([16, 16], Channels::Rgb);
        input.std = vec![0.25, 0.5, 1.0];
        for layout in [Layout::Nchw, Layout::Nhwc] {
            input.layout = layout;
            let pixels = Pixels::of(&input);
            let mut batch = Tensor::new(input.shape(200), vec![0f32; 200 * 768]).unwrap();
            Noise::on_half(0.1).add(&mut batch, &pixels, Seed::new(4));
            let fed = batch.as_f32().unwrap();
            let noisy: Vec<&[f32]> =
                fed.chunks(768).filter(|image| image.iter().any(|&x| x != 0.0)).collect();
            assert!((80..=120).contains(&noisy.len()), "{}", noisy.len());
            let channel = |at: usize| match layout {
                Layout::Nchw => at / 256,
                Layout::Nhwc => at % 3,
            };
            for (wanted, std) in input.std.iter().enumerate() {
                let own = noisy.iter().flat_map(|image| image.iter().enumerate());
                let own: Vec<f64> = own
                    .filter(|(at, _)| channel(*at) == wanted)
                    .map(|(_, &x)| f64::from(x) * std)
                    .collect();
                let square = own.iter().map(|x| x * x).sum::<f64>() / own.len() as f64;
                // About 25,000 draws: the deviation is known to half a percent.
                assert!((square.sqrt() - 0.1).abs() < 0.002, "{}", square.sqrt());
            }
        }
    }
}
