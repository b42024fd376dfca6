//! Faults that change what a target sees.

mod banding;
mod black;
mod brightness;
mod by_value;
mod byte_noise;
mod channels;
mod chromatic_aberration;
mod colour_jitter;
mod contrast;
mod cosine;
mod dead_lines;
mod dead_pixels;
mod distinct;
mod exposure;
mod gamma;
mod gaussian_noise;
mod grey;
mod impulse_noise;
mod jpeg;
mod jpeg_compression;
mod lanczos;
mod level;
mod missing_sharpness;
mod no_demosaicing;
mod null;
mod pixelate;
mod reencode;
mod rgb_shift;
mod saturate;
mod shot_noise;
mod speckle_noise;
mod vectors;
mod white;

use faultlens_core::{ImageFault, Plugin};

/// Every image fault, in alphabetical order. Add yours here.
pub const IMAGE_FAULTS: &[Plugin<dyn ImageFault>] = &[
    banding::BANDING,
    black::BLACK,
    brightness::BRIGHTNESS,
    chromatic_aberration::CHROMATIC_ABERRATION,
    colour_jitter::COLOUR_JITTER,
    contrast::CONTRAST,
    dead_lines::DEAD_LINES,
    dead_pixels::DEAD_PIXELS,
    exposure::EXPOSURE,
    gamma::GAMMA,
    gaussian_noise::GAUSSIAN_NOISE,
    grey::GREY,
    impulse_noise::IMPULSE_NOISE,
    jpeg_compression::JPEG_COMPRESSION,
    missing_sharpness::MISSING_SHARPNESS,
    no_demosaicing::NO_DEMOSAICING,
    null::NULL,
    pixelate::PIXELATE,
    reencode::REENCODE,
    rgb_shift::RGB_SHIFT,
    saturate::SATURATE,
    shot_noise::SHOT_NOISE,
    speckle_noise::SPECKLE_NOISE,
    white::WHITE,
];

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::{Image, Seed, Setting, SettingError, Settings, Unset};

    /// Severities of these are not one thing getting stronger.
    const TURNING: &[&str] = &["saturate"];

    fn has_severity(plugin: &Plugin<dyn ImageFault>) -> bool {
        plugin.parameters.iter().any(|parameter| parameter.name == "severity")
    }

    fn built(
        plugin: &Plugin<dyn ImageFault>,
        severity: f64,
    ) -> Result<Box<dyn ImageFault>, SettingError> {
        let mut settings = Settings::default();
        for parameter in plugin.parameters {
            if let Unset::Is(setting) = &parameter.unset {
                settings.set(parameter.name, setting.clone());
            }
        }
        if has_severity(plugin) {
            settings.set("severity", Setting::Number(severity));
        }
        (plugin.build)(&settings)
    }

    fn scene(width: usize, height: usize) -> Image {
        let mut stream = Seed::new(1).stream();
        let pixel = |at: usize| {
            let (x, y) = (at % width, at / width);
            let texture = stream.below(37);
            let board = 50 * (((2 * x + y) / 61 + (x + 3 * y) / 83) % 2) + texture;
            [
                40 + 2 * x % 90 + board,
                30 + 3 * y % 120 + board,
                25 + x * y / 60 + 40 * ((3 * x + y) / 71 % 2) + texture,
            ]
        };
        let rgb = (0..width * height).flat_map(pixel).map(|value| value as u8).collect();
        Image::from_rgb(width, height, rgb).unwrap()
    }

    fn distance(a: &Image, b: &Image) -> f64 {
        let squares =
            a.rgb().iter().zip(b.rgb()).map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2));
        squares.sum()
    }

    /// One test for every image fault: named in order, same numbers same image, size kept,
    /// stronger with severity.
    #[test]
    fn every_fault_keeps_the_contract() {
        assert!(IMAGE_FAULTS.is_sorted_by_key(|plugin| plugin.name));
        let image = scene(96, 80);
        for plugin in IMAGE_FAULTS {
            let severities = if has_severity(plugin) { 5 } else { 1 };
            let mut last = 0.0;
            for severity in 1..=severities {
                let fault = built(plugin, f64::from(severity)).unwrap();
                let changed = fault.change(&image, &mut Seed::new(3).stream());
                let again = fault.change(&image, &mut Seed::new(3).stream());
                let other = fault.change(&image, &mut Seed::new(4).stream());
                assert_eq!(changed, again, "{}", plugin.name);
                assert_eq!(changed != other, fault.draws(), "{}", plugin.name);
                assert_eq!((changed.width(), changed.height()), (96, 80));
                let now = distance(&image, &changed);
                let steady = !TURNING.contains(&plugin.name) && plugin.name != "null";
                assert!(now > last || !steady, "{} at {severity}", plugin.name);
                assert_eq!(fault.dose().amount, f64::from(severity));
                last = now;
            }
            assert_eq!(built(plugin, 2.5).is_err(), has_severity(plugin), "{}", plugin.name);
        }
    }

    /// Narrower than any kernel, odd, and as long as a line.
    #[test]
    fn every_fault_takes_every_size() {
        for plugin in IMAGE_FAULTS {
            for severity in [1.0, 5.0] {
                let fault = built(plugin, severity).unwrap();
                for (width, height) in [(1, 1), (1, 9), (9, 1), (2, 2), (3, 5), (33, 17), (700, 2)]
                {
                    let changed = fault.change(&scene(width, height), &mut Seed::new(1).stream());
                    assert_eq!((changed.width(), changed.height()), (width, height));
                }
            }
        }
    }
}
