//! A tint.

use super::by_value::change_by_channel;
use super::level::{Level, Points, SEVERITY, strength};
use super::vectors::wide;
use faultlens_core::{Dose, Hazard, Image, ImageFault, Place, Plugin, SettingError, Stream};

/// # What it does
/// Adds a number to every channel, one for all pixels of the image: a random one each, or those
/// that are set as `red`, `green` and `blue`.
/// # When it happens
/// A wrong white balance, coloured light, filters that age.
pub(super) const RGB_SHIFT: Plugin<dyn ImageFault> = Plugin {
    name: "rgb_shift",
    about: "adds a random number to each channel, the same for all pixels",
    when: "a wrong white balance, coloured light, or filters that age",
    parameters: &[
        SEVERITY,
        strength(
            "most",
            "the most that a channel gains or loses, in shares of the full range",
            0.0,
            1.0,
        ),
        strength(
            CHANNELS[0],
            "what red gains, in shares of the full range; instead of most",
            -2.0,
            2.0,
        ),
        strength(CHANNELS[1], "what green gains; instead of most", -2.0, 2.0),
        strength(CHANNELS[2], "what blue gains; instead of most", -2.0, 2.0),
    ],
    build: |settings| {
        let set = CHANNELS.map(|name| settings.number_if_set(name));
        let Some(first) = set.iter().position(Option::is_some) else {
            return Ok(Box::new(RgbShift::Drawn(POINTS.level(settings)?)));
        };
        let drawn = [SEVERITY.name, POINTS.names[0]];
        if drawn.iter().any(|name| settings.number_if_set(name).is_some()) {
            let reason = "set red, green and blue, or most, or a severity; not several of them";
            return Err(SettingError(reason.to_owned()));
        }
        let shares = set.map(|share| share.unwrap_or(0.0));
        let dose = Dose { axis: CHANNELS[first], amount: shares[first] };
        Ok(Box::new(RgbShift::Fixed { shares, dose }))
    },
};

const CHANNELS: [&str; 3] = ["red", "green", "blue"];

const POINTS: Points<1> =
    Points { names: ["most"], photo: [[0.05], [0.1], [0.2], [0.3], [0.45]], small: None };

enum RgbShift {
    Drawn(Level<1>),
    Fixed { shares: [f64; 3], dose: Dose },
}

impl ImageFault for RgbShift {
    fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        let levels = match self {
            Self::Drawn(Level { numbers: [most], .. }) => {
                let most = 255.0 * most;
                [(); 3].map(|()| stream.between(-most, most))
            }
            Self::Fixed { shares, .. } => shares.map(|share| 255.0 * share),
        };
        let mut changed = image.clone();
        add(changed.rgb_mut(), levels.map(|levels| libm::round(levels) as i16));
        changed
    }

    fn dose(&self) -> Dose {
        match self {
            Self::Drawn(level) => level.dose,
            Self::Fixed { dose, .. } => *dose,
        }
    }

    fn hazard(&self) -> Option<Hazard> {
        Some(Hazard::new(Place::LightSource, "spectrum", "other than"))
    }

    fn draws(&self) -> bool {
        matches!(self, Self::Drawn(_))
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
        let fault = RgbShift::Drawn(Level { numbers: [0.2], dose });
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
            (RGB_SHIFT.build)(&settings)
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
