//! Middle tones too dark or too bright.

use super::by_value::map_values;
use super::level::{Level, Points, SEVERITY, strength};
use faultlens_core::{Dose, Hazard, Image, ImageFault, Place, Plugin, Stream};

/// # What it does
/// Raises every value, as a share of white, to a power: black and white stay, what lies between
/// gets darker, or brighter with a power below 1.
/// # When it happens
/// A wrong tone curve, linear images taken for encoded ones, a badly set display.
pub(super) const GAMMA: Plugin<dyn ImageFault> = Plugin {
    name: "gamma",
    about: "bends the tone curve: raises every value to a power",
    when: "a wrong tone curve, or linear images taken for encoded ones",
    parameters: &[
        SEVERITY,
        strength("power", "the power; above 1 is darker, below 1 is brighter", 0.05, 20.0),
    ],
    build: |settings| Ok(Box::new(Gamma(POINTS.level(settings)?))),
};

const POINTS: Points<1> =
    Points { names: ["power"], photo: [[1.2], [1.5], [2.0], [2.8], [4.0]], small: None };

struct Gamma(Level<1>);

impl ImageFault for Gamma {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        let [power] = self.0.numbers;
        let bent = |value: usize| 255.0 * libm::pow(value as f64 / 255.0, power) + 0.5;
        map_values(image, &std::array::from_fn(|value| bent(value) as u8))
    }

    fn dose(&self) -> Dose {
        self.0.dose
    }

    fn hazard(&self) -> Option<Hazard> {
        Some(Hazard::new(Place::Observer, "tone curve", "other than"))
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
