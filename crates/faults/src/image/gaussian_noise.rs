//! Noise of a sensor in low light.

use super::{SEVERITY, Severity};
use faultlens_core::{Dose, Image, ImageFault, Plugin, Stream};

/// # What it does
/// Adds a number from a normal distribution to every channel of every pixel.
/// # When it happens
/// Low light, high gain, a warm sensor.
pub(super) const GAUSSIAN_NOISE: Plugin<dyn ImageFault> = Plugin {
    name: "gaussian_noise",
    about: "adds normally distributed noise to every channel of every pixel",
    when: "low light, high gain, a warm sensor",
    parameters: &[SEVERITY],
    build: |settings| Ok(Box::new(GaussianNoise { severity: Severity::set_in(settings)? })),
};

struct GaussianNoise {
    severity: Severity,
}

impl ImageFault for GaussianNoise {
    fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        let deviation = 255.0 * self.severity.of([0.08, 0.12, 0.18, 0.26, 0.38]);
        image.map_pixels(|pixel| {
            pixel.map(|channel| (f64::from(channel) + deviation * stream.gaussian()) as u8)
        })
    }

    fn dose(&self) -> Dose {
        self.severity.dose()
    }
}
