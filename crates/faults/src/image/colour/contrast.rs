//! Low contrast.

use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Level, Points, SEVERITY, TABLE, strength};
use crate::image::paint::by_value::{change_by_channel, channel_means};
use crate::image::paint::vectors::wide;
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, SettingError, Settings, Stream,
};

described! {
    /// # What it does
    /// Moves every value towards the mean of its channel.
    /// # When it happens
    /// Haze, stray light in the lens, a camera that faces the sun.
    pub struct Contrast(Level<1>);
}

impl Fault for Contrast {
    const FACTS: Facts = Facts {
        name: "contrast",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Medium, "transparency", "less")),
        parameters: &[
            SEVERITY,
            TABLE,
            strength("kept", "fraction of a value's distance from the mean that is kept", 0.0, 1.0),
        ],
        // The range of Hu et al. (ICSE 2022).
        domain: Some(Domain::together(&[Range::new("kept", 0.9, 0.01)])),
        small_domain: Some(Domain::together(&[Range::new("kept", 1.0, 0.01)])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self(POINTS.level(settings)?))
    }
}

const POINTS: Points<1> = Points {
    names: ["kept"],
    photo: [[0.4], [0.3], [0.2], [0.1], [0.05]],
    small: Some([[0.75], [0.5], [0.4], [0.3], [0.15]]),
};

impl ImageFault for Contrast {
    fn change(&self, image: &Image, _stream: &mut Stream) -> Image {
        let [kept] = self.0.numbers;
        // Values in parts of 256; two of them make up for what the multiplication cuts off.
        let offsets = channel_means(image).map(|mean| (256.0 * mean * (1.0 - kept)) as u16 + 2);
        let slope = (65_536.0 * kept) as u16;
        let mut changed = image.clone();
        scale(changed.rgb_mut(), slope, offsets);
        changed
    }

    fn dose(&self) -> Dose {
        self.0.dose
    }

    fn draws(&self) -> bool {
        false
    }
}

wide!(fn scale<'a>(rgb: &'a mut [u8], slope: u16, offsets: [u16; 3]) -> () = scale_kernel);

#[inline(always)]
fn scale_kernel(rgb: &mut [u8], slope: u16, offsets: [u16; 3]) {
    change_by_channel(rgb, offsets, |value, offset| {
        // Two short products are faster than a long one, and the same.
        let scaled = u16::from(value) * (slope >> 8) + ((u16::from(value) * (slope & 0xff)) >> 8);
        ((scaled + offset) >> 8) as u8
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Seed;

    #[test]
    fn all_kept_changes_nothing_and_nothing_kept_leaves_the_mean() {
        let rgb: Vec<u8> = (0..=255).flat_map(|value| [value, value / 2, 255 - value]).collect();
        let image = Image::from_rgb(128, 2, rgb).unwrap();
        let with = |kept| {
            let dose = Dose { axis: "kept", amount: kept };
            Contrast(Level { numbers: [kept], dose }).change(&image, &mut Seed::new(0).stream())
        };
        assert_eq!(with(1.0), image);
        assert!(with(0.0).rgb().as_chunks::<3>().0.iter().all(|&p| p == [127, 63, 127]));
    }
}
