//! JPEG, which forgets fine patterns.

use crate::doc::{about, described, when};
use crate::image::paint::jpeg::Jpeg;
use faultlens_core::{Defence, Image, Parameter, ParameterKind, Plugin, Setting, Unset};

described! {
    /// # What it does
    /// Compresses the image as JPEG and decompresses it again.
    /// # When to use it
    /// Fine adversarial patterns, and weak noise.
    struct JpegFilter(Jpeg);
}

pub(super) const JPEG_FILTER: Plugin<dyn Defence> = Plugin {
    name: "jpeg_compression",
    about: about(JpegFilter::DOC),
    when: when(JpegFilter::DOC),
    parameters: &[QUALITY],
    build: |settings| Ok(Box::new(JpegFilter(Jpeg::new(settings.number(QUALITY.name)? as u16)))),
};

const QUALITY: Parameter = Parameter {
    name: "quality",
    about: "quality on libjpeg's scale; lower values remove more",
    kind: ParameterKind::Whole { min: 1, max: 100 },
    unset: Unset::Is(Setting::Number(75.0)),
};

impl Defence for JpegFilter {
    fn clean(&self, image: &Image) -> Image {
        self.0.lossy(image)
    }
}
