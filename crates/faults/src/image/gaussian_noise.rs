//! Noise of a sensor in low light.

use super::level::{Level, Points, SEVERITY, TABLE, strength};
use faultlens_core::{Dose, Image, ImageFault, Plugin, Stream};

/// # What it does
/// Adds a number from a normal distribution to every channel of every pixel.
/// # When it happens
/// Low light, high gain, a warm sensor.
pub(super) const GAUSSIAN_NOISE: Plugin<dyn ImageFault> = Plugin {
    name: "gaussian_noise",
    about: "adds normally distributed noise to every channel of every pixel",
    when: "low light, high gain, a warm sensor",
    parameters: &[
        SEVERITY,
        TABLE,
        strength("deviation", "deviation of the noise, in shares of the full range", 0.0, 2.0),
    ],
    build: |settings| Ok(Box::new(GaussianNoise(POINTS.level(settings)?))),
};

const POINTS: Points<1> = Points {
    names: ["deviation"],
    photo: [[0.08], [0.12], [0.18], [0.26], [0.38]],
    small: Some([[0.04], [0.06], [0.08], [0.09], [0.10]]),
};

struct GaussianNoise(Level<1>);

impl ImageFault for GaussianNoise {
    fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        let [deviation] = self.0.numbers.map(|share| 255.0 * share);
        image.map_pixels(|pixel| {
            pixel.map(|channel| (f64::from(channel) + deviation * stream.gaussian()) as u8)
        })
    }

    fn dose(&self) -> Dose {
        self.0.dose
    }
}
