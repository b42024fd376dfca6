//! Colours too weak or too strong.

use super::channels::map_colours;
use super::level::{Level, Points, SEVERITY, TABLE, strength};
use super::round::{floor_byte, larger, smaller};
use super::vectors::wide;
use faultlens_core::{Dose, Hazard, Image, ImageFault, Place, Plugin, Stream};

/// # What it does
/// Multiplies the saturation of every pixel (of HSV) and adds to it; hue and brightest channel
/// stay.
/// # When it happens
/// A wrong colour profile or camera setting: severities 1 and 2 are pale, 3 to 5 garish.
pub(super) const SATURATE: Plugin<dyn ImageFault> = Plugin {
    name: "saturate",
    about: "makes colours paler (severities 1 and 2) or stronger (3 to 5)",
    when: "a wrong colour profile or camera setting",
    parameters: &[
        SEVERITY,
        TABLE,
        strength("factor", "what the saturation is multiplied by", 0.0, 100.0),
        strength("added", "what it gains after that, in shares of the full range", 0.0, 1.0),
    ],
    build: |settings| Ok(Box::new(Saturate(POINTS.level(settings)?))),
};

const POINTS: Points<2> = Points {
    names: ["factor", "added"],
    photo: [[0.3, 0.0], [0.1, 0.0], [2.0, 0.0], [5.0, 0.1], [20.0, 0.2]],
    small: Some([[0.3, 0.0], [0.1, 0.0], [1.5, 0.0], [2.0, 0.1], [2.5, 0.2]]),
};

struct Saturate(Level<2>);

impl ImageFault for Saturate {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        let [factor, added] = self.0.numbers.map(|number| number as f32);
        saturate(image, factor, added)
    }

    fn dose(&self) -> Dose {
        self.0.dose
    }

    fn hazard(&self) -> Option<Hazard> {
        Some(Hazard::new(Place::Observer, "spectrum", "more"))
    }

    fn draws(&self) -> bool {
        false
    }
}

wide!(fn saturate<'a>(image: &'a Image, factor: f32, added: f32) -> Image = saturate_kernel);

#[inline(always)]
fn saturate_kernel(image: &Image, factor: f32, added: f32) -> Image {
    map_colours(image, |[red, green, blue]| {
        let value = larger(larger(red, green), blue);
        let spread = value - smaller(smaller(red, green), blue);
        // Grey has the hue 0, which is red.
        let grey = spread == 0.0;
        let inverse = value / if grey { 1.0 } else { spread };
        let ratio = smaller(factor + added * inverse, inverse);
        let ratio = if grey { 0.0 } else { ratio };
        let less = if grey { value * added } else { 0.0 };
        [(red, 0.0), (green, less), (blue, less)]
            .map(|(channel, less)| floor_byte(value - (value - channel) * ratio - less))
    })
}
