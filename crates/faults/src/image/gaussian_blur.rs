//! Everything a little out of focus.

use super::edge::Edge;
use super::level::{Level, Points, SEVERITY, TABLE, strength};
use super::smooth::{MOST_DEVIATION, blurred};
use faultlens_core::{Dose, Hazard, Image, ImageFault, Place, Plugin, Stream};

/// # What it does
/// Replaces every pixel by an average of its neighbours with the weights of a Gaussian.
/// # When it happens
/// A lens that is slightly out of focus, a greasy film on it, a picture scaled up.
pub(super) const GAUSSIAN_BLUR: Plugin<dyn ImageFault> = Plugin {
    name: "gaussian_blur",
    about: "averages every pixel with its neighbours, those nearby most",
    when: "a lens slightly out of focus, a greasy film on it, a picture scaled up",
    parameters: &[
        SEVERITY,
        TABLE,
        strength("deviation", "deviation of the Gaussian, in pixels", 0.0, MOST_DEVIATION),
    ],
    build: |settings| Ok(Box::new(GaussianBlur(POINTS.level(settings)?))),
};

const POINTS: Points<1> = Points {
    names: ["deviation"],
    photo: [[1.0], [2.0], [3.0], [4.0], [6.0]],
    small: Some([[0.4], [0.6], [0.7], [0.8], [1.0]]),
};

struct GaussianBlur(Level<1>);

impl ImageFault for GaussianBlur {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        let [deviation] = self.0.numbers;
        blurred(image, deviation, Edge::Repeat)
    }

    fn dose(&self) -> Dose {
        self.0.dose
    }

    fn hazard(&self) -> Option<Hazard> {
        Some(Hazard::new(Place::Observer, "focus", "less"))
    }

    fn draws(&self) -> bool {
        false
    }
}
