//! A wrong tone curve.

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
    /// Raises every value, as a fraction of white, to a power. Black and white stay; mid-tones get
    /// darker, or brighter with a power below 1.
    /// # When it happens
    /// A wrong tone curve, linear images mistaken for encoded ones, a badly adjusted display.
    pub struct Gamma(Level<1>);
}

impl Fault for Gamma {
    const FACTS: Facts = Facts {
        name: "gamma",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "tone curve", "other than")),
        parameters: &[
            SEVERITY,
            strength("power", "exponent; above 1 is darker, below 1 is brighter", 0.05, 20.0),
        ],
        domain: Some(Domain::together(&[Range::new("power", 1.0, 4.0)])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self(POINTS.level(settings)?))
    }
}

const POINTS: Points<1> =
    Points { names: ["power"], photo: [[1.2], [1.5], [2.0], [2.8], [4.0]], small: None };

impl ImageFault for Gamma {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        let [power] = self.0.numbers;
        let table = std::array::from_fn(|value| {
            (255.0 * libm::pow(value as f64 / 255.0, power) + 0.5) as u8
        });
        map_values(image, &table)
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

    #[test]
    fn black_and_white_stay_and_the_middle_bends() {
        let image = Image::from_rgb(1, 1, vec![0, 128, 255]).unwrap();
        for (power, middle) in [(1.0, 128), (2.0, 64), (0.5, 181)] {
            let dose = Dose { axis: "power", amount: power };
            let fault = Gamma(Level { numbers: [power], dose });
            let changed = fault.change(&image, &mut Seed::new(0).stream());
            assert_eq!(changed.rgb(), [0, middle, 255], "{power}");
        }
    }
}
