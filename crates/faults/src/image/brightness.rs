//! Too much light.

use super::channels::map_colours;
use super::level::{Level, Points, SEVERITY, TABLE, strength};
use super::round::{floor_byte, larger, smaller};
use super::vectors::wide;
use faultlens_core::{Dose, Hazard, Image, ImageFault, Place, Plugin, Stream};

/// # What it does
/// Adds a constant to the brightest channel of every pixel and scales the others with it, so that
/// the hue stays (the value of HSV).
/// # When it happens
/// Over-exposure, or a lamp inside the field of view.
pub(super) const BRIGHTNESS: Plugin<dyn ImageFault> = Plugin {
    name: "brightness",
    about: "adds light to every pixel and keeps its hue",
    when: "over-exposure, or a lamp inside the field of view",
    parameters: &[
        SEVERITY,
        TABLE,
        strength(
            "added",
            "what the brightest channel gains, in shares of the full range",
            0.0,
            1.0,
        ),
    ],
    build: |settings| Ok(Box::new(Brightness(POINTS.level(settings)?))),
};

const POINTS: Points<1> = Points {
    names: ["added"],
    photo: [[0.1], [0.2], [0.3], [0.4], [0.5]],
    small: Some([[0.05], [0.1], [0.15], [0.2], [0.3]]),
};

struct Brightness(Level<1>);

impl ImageFault for Brightness {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        let [added] = self.0.numbers;
        brighten(image, (255.0 * added) as f32)
    }

    fn dose(&self) -> Dose {
        self.0.dose
    }

    fn hazard(&self) -> Option<Hazard> {
        Some(Hazard::new(Place::LightSource, "intensity", "more"))
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
