//! Too much light.

use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Level, Points, SEVERITY, TABLE, strength};
use crate::image::paint::channels::map_colours;
use crate::image::paint::round::{floor_byte, larger, smaller};
use crate::image::paint::vectors::wide;
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, SettingError, Settings, Stream,
};

described! {
    /// # What it does
    /// Brightens every pixel and keeps its hue. A constant is added to the brightest channel (the
    /// value of HSV), and the other channels are scaled along with it.
    /// # When it happens
    /// Over-exposure, or a lamp inside the field of view.
    pub struct Brightness(Level<1>);
}

impl Fault for Brightness {
    const FACTS: Facts = Facts {
        name: "brightness",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::LightSource, "intensity", "more")),
        parameters: &[
            SEVERITY,
            TABLE,
            strength(
                "added",
                "what is added to the brightest channel, as a fraction of the full range",
                0.0,
                1.0,
            ),
        ],
        // The range of Hu et al. (ICSE 2022).
        domain: Some(Domain::together(&[Range::new("added", 0.0, 1.0)])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self(POINTS.level(settings)?))
    }
}

const POINTS: Points<1> = Points {
    names: ["added"],
    photo: [[0.1], [0.2], [0.3], [0.4], [0.5]],
    small: Some([[0.05], [0.1], [0.15], [0.2], [0.3]]),
};

impl ImageFault for Brightness {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        let [added] = self.0.numbers;
        brighten(image, (255.0 * added) as f32)
    }

    fn dose(&self) -> Dose {
        self.0.dose
    }

    fn draws(&self) -> bool {
        false
    }
}

wide!(fn brighten<'a>(image: &'a Image, added: f32) -> Image = brighten_kernel);

#[inline(always)]
fn brighten_kernel(image: &Image, added: f32) -> Image {
    map_colours(image, |[red, green, blue]| {
        let value = larger(larger(red, green), blue);
        let brighter = smaller(value + added, 255.0);
        // Black has no hue: all channels gain the same.
        let (factor, black) = if value > 0.0 { (brighter / value, 0.0) } else { (0.0, brighter) };
        [red, green, blue].map(|channel| floor_byte(channel * factor + black))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Seed;

    const LEVEL: Level<1> = Level { numbers: [0.0], dose: Dose { axis: "severity", amount: 0.0 } };

    #[test]
    fn black_turns_grey_and_nothing_added_changes_nothing() {
        let rgb: Vec<u8> = (0..=255).flat_map(|value| [value, value / 2, 255 - value]).collect();
        let image = Image::from_rgb(128, 2, rgb).unwrap();
        let same = Brightness(LEVEL).change(&image, &mut Seed::new(0).stream());
        assert_eq!(same, image);
        let black = Image::from_rgb(1, 1, vec![0; 3]).unwrap();
        let half = Brightness(Level { numbers: [0.5], ..LEVEL });
        assert_eq!(half.change(&black, &mut Seed::new(0).stream()).rgb(), [127; 3]);
    }
}
