//! Noise of a sensor in low light.

use super::byte_noise::{ByteNoise, Cumulative, normal_below};
use super::level::{Points, SEVERITY, TABLE, strength};
use faultlens_core::{Hazard, ImageFault, Place, Plugin};

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
    build: |settings| Ok(Box::new(ByteNoise::new(POINTS.level(settings)?, HAZARD, cumulative))),
};

const HAZARD: Hazard = Hazard::new(Place::Observer, "noise", "more");

const POINTS: Points<1> = Points {
    names: ["deviation"],
    photo: [[0.08], [0.12], [0.18], [0.26], [0.38]],
    small: Some([[0.04], [0.06], [0.08], [0.09], [0.10]]),
};

/// Truncated to a byte, so at most `to` means below `to + 1`.
fn cumulative(deviation: f64, byte: u8) -> Cumulative {
    let up = |to: usize| (to + 1) as f64 - f64::from(byte);
    std::array::from_fn(|to| normal_below(up(to), 255.0 * deviation))
}
