//! Over- and under-exposure.

use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Level, Points, SEVERITY, strength};
use crate::image::paint::by_value::map_values;
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, SettingError, Settings, Stream,
};

described! {
    /// # What it does
    /// Multiplies every value and clips at white. Factors below 1 darken the image.
    /// # When it happens
    /// A shutter open for too long or too short, or automatic exposure that lags behind, as at the
    /// end of a tunnel.
    pub struct Exposure(Level<1>);
}

impl Fault for Exposure {
    const FACTS: Facts = Facts {
        name: "exposure",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "exposure", "more")),
        parameters: &[
            SEVERITY,
            strength("factor", "factor of every value; below 1 is darker", 0.0, 100.0),
        ],
        domain: Some(Domain::together(&[Range::new("factor", 1.0, 4.5)])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self(POINTS.level(settings)?))
    }
}

const POINTS: Points<1> =
    Points { names: ["factor"], photo: [[1.2], [1.5], [2.0], [3.0], [4.5]], small: None };

impl ImageFault for Exposure {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        let factor = self.0.numbers[0] as f32;
        map_values(image, &std::array::from_fn(|value| (factor * value as f32) as u8))
    }

    fn dose(&self) -> Dose {
        self.0.dose
    }

    fn draws(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Seed;

    /// What Pillow's brightness makes of some values.
    #[test]
    fn values_are_multiplied_as_an_editor_does() {
        let image = Image::from_rgb(2, 1, vec![0, 1, 50, 99, 170, 255]).unwrap();
        let cases = [
            (0.3, [0, 0, 15, 29, 51, 76]),
            (0.6, [0, 0, 30, 59, 102, 153]),
            (1.5, [0, 1, 75, 148, 255, 255]),
            (3.0, [0, 3, 150, 255, 255, 255]),
            (4.5, [0, 4, 225, 255, 255, 255]),
        ];
        for (factor, wanted) in cases {
            let dose = Dose { axis: "factor", amount: factor };
            let fault = Exposure(Level { numbers: [factor], dose });
            assert_eq!(fault.change(&image, &mut Seed::new(0).stream()).rgb(), wanted, "{factor}");
        }
    }
}
