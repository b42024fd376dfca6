//! Colours too weak or too strong (`saturate` of imagecorruptions).

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
    /// Multiplies the saturation (of HSV) of every pixel and adds to it; hue and brightest channel
    /// stay. Severities 1 and 2 make colours paler, 3 to 5 stronger.
    /// # When it happens
    /// A wrong colour profile or camera setting.
    pub struct Saturate(Level<2>);
}

impl Fault for Saturate {
    const FACTS: Facts = Facts {
        name: "saturate",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "spectrum", "more")),
        parameters: &[
            SEVERITY,
            TABLE,
            strength("factor", "factor of the saturation", 0.0, 100.0),
            strength(
                "added",
                "what is added to the saturation after that, as a fraction of the full range",
                0.0,
                1.0,
            ),
        ],
        domain: Some(Domain::together(&[
            Range::new("factor", 1.0, 20.0),
            Range::new("added", 0.0, 0.2),
        ])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self(POINTS.level(settings)?))
    }
}

const POINTS: Points<2> = Points {
    names: ["factor", "added"],
    photo: [[0.3, 0.0], [0.1, 0.0], [2.0, 0.0], [5.0, 0.1], [20.0, 0.2]],
    small: Some([[0.3, 0.0], [0.1, 0.0], [1.5, 0.0], [2.0, 0.1], [2.5, 0.2]]),
};

impl ImageFault for Saturate {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        let [factor, added] = self.0.numbers.map(|number| number as f32);
        saturate(image, factor, added)
    }

    fn dose(&self) -> Dose {
        self.0.dose
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
