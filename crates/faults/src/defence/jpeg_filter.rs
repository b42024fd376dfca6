//! JPEG, which forgets fine patterns.

use crate::image::Jpeg;
use faultlens_core::{Defence, Image, Parameter, ParameterKind, Plugin, Setting, Unset};

/// # What it does
/// Compresses the image as JPEG and decompresses it again.
/// # When to use it
/// Fine patterns that were put in on purpose, and weak noise.
pub(super) const JPEG_FILTER: Plugin<dyn Defence> = Plugin {
    name: "jpeg_compression",
    about: "compresses the image as JPEG and decompresses it again",
    when: "fine patterns that were put in on purpose, and weak noise",
    parameters: &[QUALITY],
    build: |settings| Ok(Box::new(JpegFilter(Jpeg::new(settings.number(QUALITY.name)? as u16)))),
};

const QUALITY: Parameter = Parameter {
    name: "quality",
    about: "the quality on libjpeg's scale; less forgets more",
    kind: ParameterKind::Whole { min: 1, max: 100 },
    unset: Unset::Is(Setting::Number(75.0)),
};

struct JpegFilter(Jpeg);

impl Defence for JpegFilter {
    fn clean(&self, image: &Image) -> Image {
        self.0.lossy(image)
    }
}
