//! Too much light.

use super::level::{Level, Points, SEVERITY, TABLE, strength};
use faultlens_core::{Dose, Image, ImageFault, Plugin, Stream};

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
        let [added] = self.0.numbers.map(|share| 255.0 * share);
        image.map_pixels(|[r, g, b]| {
            let value = r.max(g).max(b);
            let brighter = (f64::from(value) + added).min(255.0);
            [r, g, b].map(|channel| match value {
                0 => brighter as u8,
                _ => (f64::from(channel) * brighter / f64::from(value)) as u8,
            })
        })
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

    const LEVEL: Level<1> = Level { numbers: [0.0], dose: Dose { axis: "severity", amount: 0.0 } };

    /// Pixels of a photo and what imagecorruptions 1.1.2 makes of them.
    #[test]
    fn pixels_are_those_of_the_reference() {
        let before = [[226, 133, 49], [131, 40, 20], [100, 13, 5], [170, 69, 15], [247, 252, 255]];
        let after = [
            (1, [[251, 148, 54], [156, 47, 23], [125, 16, 6], [195, 79, 17], [247, 252, 255]]),
            (3, [[255, 150, 55], [207, 63, 31], [176, 22, 8], [246, 100, 21], [247, 252, 255]]),
            (5, [[255, 150, 55], [255, 77, 38], [227, 29, 11], [255, 103, 22], [247, 252, 255]]),
        ];
        let image = Image::from_rgb(5, 1, before.concat()).unwrap();
        for (severity, wanted) in after {
            let fault = Brightness(Level { numbers: POINTS.photo[severity - 1], ..LEVEL });
            let changed = fault.change(&image, &mut Seed::new(0).stream());
            for (got, wanted) in changed.rgb().iter().zip(wanted.concat()) {
                // The reference truncates after a way through 64-bit HSV, which may lose one step.
                assert!(got.abs_diff(wanted) <= 1, "{changed:?} at {severity}");
            }
        }
    }
}
