//! A little blur against noise.

use crate::doc::{about, described, when};
use crate::image::paint::edge::Edge;
use crate::image::paint::smooth::blurred;
use faultlens_core::{Defence, Image, Parameter, ParameterKind, Plugin, Setting, Unset};

described! {
    /// # What it does
    /// Smooths every channel with a Gaussian.
    /// # When to use it
    /// Noise that differs from pixel to pixel; costs sharpness.
    struct GaussianFilter(f64);
}

pub(super) const GAUSSIAN_FILTER: Plugin<dyn Defence> = Plugin {
    name: "gaussian_filter",
    about: about(GaussianFilter::DOC),
    when: when(GaussianFilter::DOC),
    parameters: &[DEVIATION],
    build: |settings| Ok(Box::new(GaussianFilter(settings.number(DEVIATION.name)?))),
};

const DEVIATION: Parameter = Parameter {
    name: "deviation",
    about: "standard deviation of the Gaussian, in pixels",
    kind: ParameterKind::Number { min: 0.1, max: 20.0 },
    unset: Unset::Is(Setting::Number(1.0)),
};

impl Defence for GaussianFilter {
    fn clean(&self, image: &Image) -> Image {
        blurred(image, self.0, Edge::Repeat)
    }
}
