//! Bytes that were lost.

use super::byte_noise::{ByteNoise, Cumulative};
use super::level::{Points, SEVERITY, TABLE, strength};
use faultlens_core::{Hazard, ImageFault, Place, Plugin};

/// # What it does
/// Turns a share of all values, each channel for itself, into 0 or 255, both equally often (salt
/// and pepper). The share counts in steps of 1/65,536.
/// # When it happens
/// Bit errors on the way from the sensor, broken analogue-digital converters.
pub(super) const IMPULSE_NOISE: Plugin<dyn ImageFault> = Plugin {
    name: "impulse_noise",
    about: "turns a share of all values into black or white (salt and pepper)",
    when: "bit errors on the way from the sensor, or a broken converter",
    parameters: &[
        SEVERITY,
        TABLE,
        strength("share", "how many of all values are lost, as a share", 0.0, 1.0),
    ],
    build: |settings| Ok(Box::new(ByteNoise::new(POINTS.level(settings)?, HAZARD, cumulative))),
};

const HAZARD: Hazard = Hazard::new(Place::Observer, "transmission", "spatial aperiodic");

const POINTS: Points<1> = Points {
    names: ["share"],
    photo: [[0.03], [0.06], [0.09], [0.17], [0.27]],
    small: Some([[0.01], [0.02], [0.03], [0.05], [0.07]]),
};

fn cumulative(share: f64, byte: u8) -> Cumulative {
    let kept = |to: usize| if to >= usize::from(byte) { 1.0 - share } else { 0.0 };
    std::array::from_fn(|to| share / 2.0 + kept(to))
}
