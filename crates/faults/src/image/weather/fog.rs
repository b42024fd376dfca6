//! Fog (`fog` of ImageNet-C): a diamond-square fractal is added, and the sum is scaled back so that the
//! brightest level stays.

use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Level, Points, SEVERITY, TABLE, strength};
use crate::image::paint::pixels::{weighed, with_rgb};
use crate::image::paint::plasma::Plasma;
use crate::image::paint::round::level_word;
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, SettingError, Settings, Stream,
};

described! {
    /// # What it does
    /// Adds banks of fog, a fractal cloud pattern, and lowers the contrast to match.
    /// # When it happens
    /// Fog, mist, smoke or steam in front of the camera.
    pub struct Fog(Level<2>);
}

impl Fault for Fog {
    const FACTS: Facts = Facts {
        name: "fog",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Medium, "particles", "as well as")),
        parameters: &[
            SEVERITY,
            TABLE,
            strength(
                "density",
                "light that the fog adds, as a fraction of the full range",
                0.0,
                100.0,
            ),
            strength(
                "decay",
                "how smooth the banks are: each finer level of noise is weaker by its square",
                1.0,
                10.0,
            ),
        ],
        domain: Some(Domain::together(&[
            Range::new("density", 0.0, 3.0),
            Range::new("decay", 2.0, 1.4),
        ])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self(POINTS.level(settings)?))
    }
}

const POINTS: Points<2> = Points {
    names: ["density", "decay"],
    photo: [[1.5, 2.0], [2.0, 2.0], [2.5, 1.7], [2.5, 1.5], [3.0, 1.4]],
    small: Some([[0.2, 3.0], [0.5, 3.0], [0.75, 2.5], [1.0, 2.0], [1.5, 1.75]]),
};

impl ImageFault for Fog {
    fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        let [density, decay] = self.0.numbers;
        let [width, height] = [image.width(), image.height()];
        let plasma = Plasma::new(width.max(height), decay, stream);
        let brightest = f64::from(image.rgb().iter().copied().max().unwrap_or(0)) / 255.0;
        // A black image stays black, as in the reference.
        let kept = if density > 0.0 { brightest / (brightest + density) } else { 1.0 };
        let factor = (kept * 65536.0).min(65535.0) as u16;
        let added = (kept * density * 255.0 * 256.0).min(65280.0) as f32;
        let mut haze = vec![0u16; 3 * width];
        let mut rgb = vec![0; image.rgb().len()];
        let rows = rgb.chunks_exact_mut(3 * width).zip(image.rgb().chunks_exact(3 * width));
        for (y, (out, row)) in rows.enumerate() {
            let (haze_pixels, _) = haze.as_chunks_mut::<3>();
            for (haze, plasma) in haze_pixels.iter_mut().zip(&*plasma.row(y, width)) {
                *haze = [level_word(plasma * added); 3];
            }
            for ((out, &byte), &haze) in out.iter_mut().zip(row).zip(&haze) {
                *out = (weighed(u16::from(byte) << 8, factor).saturating_add(haze) >> 8) as u8;
            }
        }
        with_rgb(image, rgb)
    }

    fn dose(&self) -> Dose {
        self.0.dose
    }
}
