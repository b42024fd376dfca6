//! A little blur against noise.

use crate::image::{Edge, blurred};
use faultlens_core::{Defence, Image, Parameter, ParameterKind, Plugin, Setting, Unset};

/// # What it does
/// Smooths every channel by a Gaussian.
/// # When to use it
/// Noise that differs from pixel to pixel.
pub(super) const GAUSSIAN_FILTER: Plugin<dyn Defence> = Plugin {
    name: "gaussian_filter",
    about: "smooths the image by a Gaussian",
    when: "noise that differs from pixel to pixel; costs sharpness",
    parameters: &[DEVIATION],
    build: |settings| Ok(Box::new(GaussianFilter(settings.number(DEVIATION.name)?))),
};

const DEVIATION: Parameter = Parameter {
    name: "deviation",
    about: "the Gaussian's deviation in pixels",
    kind: ParameterKind::Number { min: 0.1, max: 20.0 },
    unset: Unset::Is(Setting::Number(1.0)),
};

struct GaussianFilter(f64);

impl Defence for GaussianFilter {
    fn clean(&self, image: &Image) -> Image {
        blurred(image, self.0, Edge::Repeat)
    }
}
