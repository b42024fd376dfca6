//! Noise that grows with the light.

use super::byte_noise::{ByteNoise, Cumulative, normal_below};
use super::level::{Points, SEVERITY, TABLE, strength};
use faultlens_core::{Hazard, ImageFault, Place, Plugin};

/// # What it does
/// Multiplies every channel of every pixel by a number from a normal distribution around 1.
/// # When it happens
/// Coherent light, as of lasers, radar and ultrasound; pixels of unequal gain.
pub(super) const SPECKLE_NOISE: Plugin<dyn ImageFault> = Plugin {
    name: "speckle_noise",
    about: "multiplies every channel of every pixel by a normally distributed number",
    when: "coherent light (lasers, radar, ultrasound), or pixels of unequal gain",
    parameters: &[
        SEVERITY,
        TABLE,
        strength("deviation", "deviation of the noise, in shares of the pixel's value", 0.0, 2.0),
    ],
    build: |settings| Ok(Box::new(ByteNoise::new(POINTS.level(settings)?, HAZARD, cumulative))),
};

const HAZARD: Hazard = Hazard::new(Place::LightSource, "wave properties", "more");

const POINTS: Points<1> = Points {
    names: ["deviation"],
    photo: [[0.15], [0.2], [0.35], [0.45], [0.6]],
    small: Some([[0.06], [0.1], [0.12], [0.16], [0.2]]),
};

fn cumulative(deviation: f64, byte: u8) -> Cumulative {
    let value = f64::from(byte);
    std::array::from_fn(|to| normal_below((to + 1) as f64 - value, value * deviation))
}
