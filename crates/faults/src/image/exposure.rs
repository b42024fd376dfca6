//! A shutter open too long or too short.

use super::by_value::map_values;
use super::level::{Level, Points, SEVERITY, strength};
use faultlens_core::{Dose, Hazard, Image, ImageFault, Place, Plugin, Stream};

/// # What it does
/// Multiplies every value, and cuts off what is brighter than white. Factors below 1 are too dark.
/// # When it happens
/// A shutter open too long or too short, automatic exposure that is late out of a tunnel.
pub(super) const EXPOSURE: Plugin<dyn ImageFault> = Plugin {
    name: "exposure",
    about: "multiplies every value and cuts off what is brighter than white",
    when: "a shutter open too long or too short, or automatic exposure that is late",
    parameters: &[
        SEVERITY,
        strength("factor", "what every value is multiplied by; below 1 is darker", 0.0, 100.0),
    ],
    build: |settings| Ok(Box::new(Exposure(POINTS.level(settings)?))),
};

const POINTS: Points<1> =
    Points { names: ["factor"], photo: [[1.2], [1.5], [2.0], [3.0], [4.5]], small: None };

struct Exposure(Level<1>);

impl ImageFault for Exposure {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        let factor = self.0.numbers[0] as f32;
        map_values(image, &std::array::from_fn(|value| (factor * value as f32) as u8))
    }

    fn dose(&self) -> Dose {
        self.0.dose
    }

    fn hazard(&self) -> Option<Hazard> {
        Some(Hazard::new(Place::Observer, "exposure", "more"))
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
