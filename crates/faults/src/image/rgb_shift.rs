//! A tint.

use super::by_value::change_by_channel;
use super::level::{Level, Points, SEVERITY, strength};
use super::vectors::wide;
use faultlens_core::{Dose, Image, ImageFault, Plugin, Stream};

/// # What it does
/// Adds a random number to every channel, one for all pixels of the image.
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
    ],
    build: |settings| Ok(Box::new(RgbShift(POINTS.level(settings)?))),
};

const POINTS: Points<1> =
    Points { names: ["most"], photo: [[0.05], [0.1], [0.2], [0.3], [0.45]], small: None };

struct RgbShift(Level<1>);

impl ImageFault for RgbShift {
    fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        let most = 255.0 * self.0.numbers[0];
        let offsets = [(); 3].map(|()| libm::round(stream.between(-most, most)) as i16);
        let mut changed = image.clone();
        add(changed.rgb_mut(), offsets);
        changed
    }

    fn dose(&self) -> Dose {
        self.0.dose
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
    use faultlens_core::Seed;

    #[test]
    fn all_pixels_of_a_channel_gain_the_same_and_not_too_much() {
        let image = Image::from_rgb(50, 2, vec![128; 300]).unwrap();
        let dose = Dose { axis: "most", amount: 0.2 };
        let fault = RgbShift(Level { numbers: [0.2], dose });
        for seed in 0..20 {
            let changed = fault.change(&image, &mut Seed::new(seed).stream());
            let (pixels, _) = changed.rgb().as_chunks::<3>();
            assert!(pixels.iter().all(|pixel| *pixel == pixels[0]));
            assert!(pixels[0].iter().all(|value| value.abs_diff(128) <= 51), "{:?}", pixels[0]);
        }
    }
}
