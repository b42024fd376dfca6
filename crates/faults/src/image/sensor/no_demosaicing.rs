//! The raw mosaic of the sensor.

use crate::doc::described;
use crate::image::facts::Facts;
use crate::image::fault::Fault;
use faultlens_core::{
    Hazard, HazardLocation, Image, ImageFault, Parameter, ParameterKind, Setting, SettingError,
    Settings, Stream, Unset,
};
use std::borrow::Cow;

described! {
    /// # What it does
    /// Keeps one channel of every pixel, as a sensor under a BGGR colour filter measures it, and
    /// shows the raw mosaic as grey values or in the colours of the filters.
    /// # When it happens
    /// The camera's image pipeline fails, or is bypassed, before demosaicing.
    pub struct NoDemosaicing {
        colour: bool,
    }
}

impl Fault for NoDemosaicing {
    const FACTS: Facts = Facts {
        name: "no_demosaicing",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "colour sampling", "part of")),
        parameters: &[Parameter {
            name: "shows",
            about: "how the mosaic is shown: as grey values, or in the filters' colours",
            kind: ParameterKind::Choice(&["grey", "colour"]),
            unset: Unset::Is(Setting::Word(Cow::Borrowed("grey"))),
        }],
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        let colour = settings.word("shows").is_ok_and(|word| word == "colour");
        Ok(Self { colour })
    }
}

impl ImageFault for NoDemosaicing {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        let mut changed = image.clone();
        for (down, row) in changed.rgb_mut().chunks_exact_mut(3 * image.width()).enumerate() {
            // The channel under the filter of even and of odd columns.
            let channels = if down % 2 == 0 { [2, 1] } else { [1, 0] };
            for (across, pixel) in row.as_chunks_mut::<3>().0.iter_mut().enumerate() {
                let channel = channels[across % 2];
                let value = pixel[channel];
                *pixel = if self.colour { [0; 3] } else { [value; 3] };
                pixel[channel] = value;
            }
        }
        changed
    }

    fn draws(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Seed;

    #[test]
    fn filters_lie_as_bggr() {
        let image = Image::from_rgb(2, 2, [[1, 2, 3]; 4].concat()).unwrap();
        let show = |colour| {
            NoDemosaicing { colour }.change(&image, &mut Seed::new(0).stream()).rgb().to_vec()
        };
        assert_eq!(show(false), [[3; 3], [2; 3], [2; 3], [1; 3]].concat());
        assert_eq!(show(true), [[0, 0, 3], [0, 2, 0], [0, 2, 0], [1, 0, 0]].concat());
    }
}
