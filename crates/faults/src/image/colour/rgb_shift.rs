//! A colour cast.

use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Level, Points, SEVERITY, strength};
use crate::image::paint::by_value::change_by_channel;
use crate::image::paint::vectors::wide;
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, SettingError, Settings, Stream,
};

described! {
    /// # What it does
    /// Adds one random offset per channel, the same for all pixels. Offsets can also be set as
    /// `red`, `green` and `blue`.
    /// # When it happens
    /// A wrong white balance, coloured light, ageing filters.
    pub struct RgbShift(Shift);
}

impl Fault for RgbShift {
    const FACTS: Facts = Facts {
        name: "rgb_shift",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::LightSource, "spectrum", "other than")),
        parameters: &[
            SEVERITY,
            strength(
                "most",
                "largest offset of a channel, as a fraction of the full range",
                0.0,
                1.0,
            ),
            strength(
                CHANNELS[0],
                "offset of red, as a fraction of the full range; instead of most",
                -2.0,
                2.0,
            ),
            strength(CHANNELS[1], "offset of green; instead of most", -2.0, 2.0),
            strength(CHANNELS[2], "offset of blue; instead of most", -2.0, 2.0),
        ],
        // The range of Hu et al. (ICSE 2022).
        domain: Some(Domain::apart(&[
            Range::new("red", 150.0 / 255.0, 400.0 / 255.0),
            Range::new("green", 150.0 / 255.0, 400.0 / 255.0),
            Range::new("blue", 150.0 / 255.0, 400.0 / 255.0),
        ])),
        small_domain: Some(Domain::apart(&[
            Range::new("red", 0.0, 400.0 / 255.0),
            Range::new("green", 0.0, 400.0 / 255.0),
            Range::new("blue", 0.0, 400.0 / 255.0),
        ])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        let set = CHANNELS.map(|name| settings.number_if_set(name));
        let Some(first) = set.iter().position(Option::is_some) else {
            return Ok(Self(Shift::Drawn(POINTS.level(settings)?)));
        };
        let drawn = [SEVERITY.name, POINTS.names[0]];
        if drawn.iter().any(|name| settings.number_if_set(name).is_some()) {
            let reason = "set red, green and blue, or most, or a severity; not several of them";
            return Err(SettingError(reason.to_owned()));
        }
        let shares = set.map(|share| share.unwrap_or(0.0));
        let dose = Dose { axis: CHANNELS[first], amount: shares[first] };
        Ok(Self(Shift::Fixed { shares, dose }))
    }
}

const CHANNELS: [&str; 3] = ["red", "green", "blue"];

const POINTS: Points<1> =
    Points { names: ["most"], photo: [[0.05], [0.1], [0.2], [0.3], [0.45]], small: None };

/// The offsets of the channels.
enum Shift {
    /// Drawn for every image.
    Drawn(Level<1>),
    /// Set, as fractions of the full range.
    Fixed { shares: [f64; 3], dose: Dose },
}

impl ImageFault for RgbShift {
    fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        let levels = match &self.0 {
            Shift::Drawn(Level { numbers: [max], .. }) => {
                let max = 255.0 * max;
                [(); 3].map(|()| stream.between(-max, max))
            }
            Shift::Fixed { shares, .. } => shares.map(|share| 255.0 * share),
        };
        let mut changed = image.clone();
        add(changed.rgb_mut(), levels.map(|levels| libm::round(levels) as i16));
        changed
    }

    fn dose(&self) -> Dose {
        match &self.0 {
            Shift::Drawn(level) => level.dose,
            Shift::Fixed { dose, .. } => *dose,
        }
    }

    fn draws(&self) -> bool {
        matches!(self.0, Shift::Drawn(_))
    }
}

wide!(fn add<'a>(rgb: &'a mut [u8], offsets: [i16; 3]) -> () = add_kernel);

#[inline(always)]
fn add_kernel(rgb: &mut [u8], offsets: [i16; 3]) {
    change_by_channel(rgb, offsets, |value, offset| {
        (i16::from(value) + offset).clamp(0, 255) as u8
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::{Seed, Setting, Settings};

    #[test]
    fn all_pixels_of_a_channel_gain_the_same_and_not_too_much() {
        let image = Image::from_rgb(50, 2, vec![128; 300]).unwrap();
        let dose = Dose { axis: "most", amount: 0.2 };
        let fault = RgbShift(Shift::Drawn(Level { numbers: [0.2], dose }));
        for seed in 0..20 {
            let changed = fault.change(&image, &mut Seed::new(seed).stream());
            let (pixels, _) = changed.rgb().as_chunks::<3>();
            assert!(pixels.iter().all(|pixel| *pixel == pixels[0]));
            assert!(pixels[0].iter().all(|value| value.abs_diff(128) <= 51), "{:?}", pixels[0]);
        }
    }

    #[test]
    fn channels_that_are_set_gain_that_much_and_nothing_is_drawn() {
        let built = |set: &[(&'static str, f64)]| {
            let mut settings = Settings::default();
            set.iter().for_each(|&(name, share)| settings.set(name, Setting::Number(share)));
            RgbShift::build(&settings)
        };
        let image = Image::from_rgb(1, 2, vec![100, 100, 100, 0, 128, 255]).unwrap();
        let fault = built(&[("green", 0.2), ("blue", -2.0)]).unwrap();
        let changed = fault.change(&image, &mut Seed::new(1).stream());
        assert_eq!(changed.rgb(), [100, 151, 0, 0, 179, 0]);
        assert!(!fault.draws());
        assert_eq!(fault.dose(), Dose { axis: "green", amount: 0.2 });
        for wrong in [("most", 0.5), ("severity", 1.0)] {
            let error = built(&[("red", 0.1), wrong]).err().unwrap();
            assert!(error.0.contains("not several"), "{error}");
        }
        assert!(built(&[]).is_err());
    }
}
