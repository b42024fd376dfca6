//! Frost on the lens (`frost` of ImageNet-C). The reference blends photographs that may not be copied;
//! crystals are grown from seeds instead.

use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Level, Points, SEVERITY, TABLE, strength};
use crate::image::paint::crystals::Crystals;
use crate::image::paint::pixels::{weighed, with_rgb};
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, SettingError, Settings, Stream,
};

described! {
    /// # What it does
    /// Overlays feathers of ice crystals: `kept` times the image plus `added` times the frost. With
    /// `kept: 0.6` and `added: 0.4` it is a plain blend with a frost mask.
    /// # When it happens
    /// A cold night, or an outdoor camera without heating.
    pub struct Frost(Level<2>);
}

impl Fault for Frost {
    const FACTS: Facts = Facts {
        name: "frost",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "transparency", "as well as")),
        parameters: &[
            SEVERITY,
            TABLE,
            strength("added", "weight of the frost", 0.0, 1.0),
            strength("kept", "weight of the image", 0.0, 1.0),
        ],
        // The range of Hu et al. (ICSE 2022).
        domain: Some(Domain::together(&[
            Range::new("added", 1.0, 0.01),
            Range::new("kept", 1.0, 0.01),
        ])),
        small_domain: Some(Domain::together(&[
            Range::new("added", 0.0, 1.0),
            Range::new("kept", 1.0, 0.01),
        ])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self(POINTS.level(settings)?))
    }
}

const POINTS: Points<2> = Points {
    names: ["added", "kept"],
    photo: [[0.4, 1.0], [0.6, 0.8], [0.7, 0.7], [0.7, 0.65], [0.75, 0.6]],
    small: Some([[0.2, 1.0], [0.3, 1.0], [0.4, 0.9], [0.4, 0.85], [0.45, 0.75]]),
};

/// How bright frost of brightness one is: a little blue.
pub(super) const TINT: [f64; 3] = [0.87, 0.95, 1.0];

impl ImageFault for Frost {
    fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        let [added, kept] = self.0.numbers;
        let width = image.width();
        let crystals = Crystals::new(width, image.height(), stream);
        let kept = (kept * 65536.0).min(65535.0) as u16;
        let tint = TINT.map(|tint| (tint * added * 256.0) as u16);
        let mut frost = vec![0; width];
        let mut light = vec![0u16; 3 * width];
        let mut rgb = vec![0; image.rgb().len()];
        let rows = rgb.chunks_exact_mut(3 * width).zip(image.rgb().chunks_exact(3 * width));
        for (y, (out, row)) in rows.enumerate() {
            crystals.row(y, &mut frost);
            let (pixels, _) = light.as_chunks_mut::<3>();
            for (light, &frost) in pixels.iter_mut().zip(&frost) {
                *light = tint.map(|tint| tint * u16::from(frost));
            }
            for ((out, &level), &light) in out.iter_mut().zip(row).zip(&light) {
                let sum = weighed(u16::from(level) << 8, kept).saturating_add(light);
                // A hair's breadth, so that an image without frost keeps its levels.
                *out = (sum.saturating_add(2) >> 8) as u8;
            }
        }
        with_rgb(image, rgb)
    }

    fn dose(&self) -> Dose {
        self.0.dose
    }
}
