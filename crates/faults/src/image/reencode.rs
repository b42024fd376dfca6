//! What a tool does that only reads and saves.

use super::jpeg::Jpeg;
use super::level::ONCE;
use faultlens_core::{Dose, Hazard, Image, ImageFault, Parameter, ParameterKind, Plugin, Setting};
use faultlens_core::{Stream, Unset};

/// # What it does
/// Compresses the image as JPEG as most tools do when they save it, and nothing else.
/// # When it happens
/// As a control: where other faults reach the target as JPEG, this is the part of their effect that
/// the codec alone has.
pub(super) const REENCODE: Plugin<dyn ImageFault> = Plugin {
    name: "reencode",
    about: "saves the image as JPEG and loads it again, as a control for what the codec does",
    when: "to tell the effect of a fault from that of sending it as JPEG",
    parameters: &[Parameter {
        name: "quality",
        about: "the quality on libjpeg's scale",
        kind: ParameterKind::Whole { min: 1, max: 100 },
        unset: Unset::Is(Setting::Number(75.0)),
    }],
    build: |settings| {
        let quality = settings.number_if_set("quality").unwrap_or(75.0);
        Ok(Box::new(Reencode(Jpeg::new(quality as u16))))
    },
};

struct Reencode(Jpeg);

impl ImageFault for Reencode {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        self.0.lossy(image)
    }

    fn dose(&self) -> Dose {
        ONCE
    }

    fn hazard(&self) -> Option<Hazard> {
        None
    }

    fn draws(&self) -> bool {
        false
    }
}
