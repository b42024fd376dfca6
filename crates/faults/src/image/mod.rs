//! Faults that change what a target sees.

mod banding;
mod black;
mod brightness;
mod broken_lens;
mod by_value;
mod byte_noise;
mod channels;
mod chromatic_aberration;
mod colour_jitter;
mod condensation;
mod contrast;
mod cosine;
mod cover;
mod crystals;
mod dead_lines;
mod dead_pixels;
mod defocus_blur;
mod dirt;
mod distinct;
mod domain;
mod edge;
mod elastic_transform;
mod exposure;
mod fog;
mod frost;
mod gamma;
mod gaussian_blur;
mod gaussian_noise;
mod glass_blur;
mod grain;
mod grey;
mod ice;
mod impulse_noise;
mod jpeg;
mod jpeg_compression;
mod lanczos;
mod level;
mod mirror;
mod missing_sharpness;
mod motion_blur;
mod no_demosaicing;
mod occlusion;
mod pixelate;
mod pixels;
mod plasma;
mod rain;
mod reencode;
mod resample;
mod rescale;
mod rgb_shift;
mod rim;
mod rotation;
mod round;
mod saturate;
mod shot_noise;
mod smooth;
mod snow;
mod spatter;
mod speckle_noise;
mod streak;
mod stroke;
mod translation;
mod unchanged;
mod vectors;
mod white;
mod zoom;
mod zoom_blur;

pub use domain::{DOMAINS, Domain, Range, SMALL_DOMAINS, domain};
pub(crate) use edge::Edge;
use faultlens_core::{Hazard, ImageFault, Plugin, Setting, Settings, Unset};
pub(crate) use jpeg::Jpeg;
pub(crate) use smooth::blurred;

/// Faults that leave an image as it is, or as good as that: what changes under them is no fault's
/// doing.
pub const CONTROLS: [&str; 2] = [reencode::REENCODE.name, unchanged::UNCHANGED.name];

/// The hazard that a fault stands for, whatever its settings; `None` for controls.
pub fn hazard(plugin: &Plugin<dyn ImageFault>) -> Option<Hazard> {
    (plugin.build)(&weakest(plugin)).ok()?.hazard()
}

/// Settings that every fault can be made from.
fn weakest(plugin: &Plugin<dyn ImageFault>) -> Settings {
    let mut settings = Settings::default();
    for parameter in plugin.parameters {
        if let Unset::Is(setting) = &parameter.unset {
            settings.set(parameter.name, setting.clone());
        }
    }
    if plugin.parameters.iter().any(|parameter| parameter.name == level::SEVERITY.name) {
        settings.set(level::SEVERITY.name, Setting::Number(1.0));
    }
    settings
}

/// Every image fault, in alphabetical order. Add yours here.
pub const IMAGE_FAULTS: &[Plugin<dyn ImageFault>] = &[
    banding::BANDING,
    black::BLACK,
    brightness::BRIGHTNESS,
    broken_lens::BROKEN_LENS,
    chromatic_aberration::CHROMATIC_ABERRATION,
    colour_jitter::COLOUR_JITTER,
    condensation::CONDENSATION,
    contrast::CONTRAST,
    dead_lines::DEAD_LINES,
    dead_pixels::DEAD_PIXELS,
    defocus_blur::DEFOCUS_BLUR,
    dirt::DIRT,
    elastic_transform::ELASTIC_TRANSFORM,
    exposure::EXPOSURE,
    fog::FOG,
    frost::FROST,
    gamma::GAMMA,
    gaussian_blur::GAUSSIAN_BLUR,
    gaussian_noise::GAUSSIAN_NOISE,
    glass_blur::GLASS_BLUR,
    grey::GREY,
    ice::ICE,
    impulse_noise::IMPULSE_NOISE,
    jpeg_compression::JPEG_COMPRESSION,
    mirror::MIRROR,
    missing_sharpness::MISSING_SHARPNESS,
    motion_blur::MOTION_BLUR,
    no_demosaicing::NO_DEMOSAICING,
    occlusion::OCCLUSION,
    pixelate::PIXELATE,
    rain::RAIN,
    reencode::REENCODE,
    rescale::RESCALE,
    rgb_shift::RGB_SHIFT,
    rotation::ROTATION,
    saturate::SATURATE,
    shot_noise::SHOT_NOISE,
    snow::SNOW,
    spatter::SPATTER,
    speckle_noise::SPECKLE_NOISE,
    translation::TRANSLATION,
    unchanged::UNCHANGED,
    white::WHITE,
    zoom_blur::ZOOM_BLUR,
];

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::{GUIDE_WORDS, Image, Seed, SettingError};

    /// Severities of these are not one thing getting stronger.
    const TURNING: &[&str] = &["saturate"];

    fn has_severity(plugin: &Plugin<dyn ImageFault>) -> bool {
        plugin.parameters.iter().any(|parameter| parameter.name == "severity")
    }

    fn built(
        plugin: &Plugin<dyn ImageFault>,
        severity: f64,
    ) -> Result<Box<dyn ImageFault>, SettingError> {
        let mut settings = weakest(plugin);
        if has_severity(plugin) {
            settings.set("severity", Setting::Number(severity));
        }
        (plugin.build)(&settings)
    }

    fn distance(a: &Image, b: &Image) -> f64 {
        let squares =
            a.rgb().iter().zip(b.rgb()).map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2));
        squares.sum::<f64>().sqrt()
    }

    /// Blocks within blocks, so that there is something to see at every size, as in a photo.
    fn blocks(width: usize, height: usize) -> Image {
        let level = |at: usize| {
            let (x, y, channel) = (at / 3 % width, at / 3 / width, at % 3);
            let block = |size: usize| {
                let place = (x / size) as u64 + 1000 * (y / size) as u64;
                Seed::new(place).at(size as u64).block(channel as u64)[0] % 40
            };
            20 + [1, 3, 7, 13, 29].map(block).into_iter().sum::<u32>() as u8
        };
        Image::from_rgb(width, height, (0..width * height * 3).map(level).collect()).unwrap()
    }

    /// One test for every image fault: named in order, same numbers same image, size kept,
    /// stronger with severity.
    #[test]
    fn every_fault_keeps_the_contract() {
        assert!(IMAGE_FAULTS.is_sorted_by_key(|plugin| plugin.name));
        let image = blocks(96, 64);
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
                assert_eq!((changed.width(), changed.height()), (96, 64));
                let now = distance(&image, &changed);
                // Published tables are not strict: some step back a little on some images.
                let steady = !TURNING.contains(&plugin.name) && plugin.name != "unchanged";
                assert!(now > 0.8 * last && now > 0.0 || !steady, "{} at {severity}", plugin.name);
                assert_eq!(fault.dose().amount, f64::from(severity));
                last = now;
            }
            assert_eq!(built(plugin, 2.5).is_err(), has_severity(plugin), "{}", plugin.name);
        }
    }

    #[test]
    fn every_fault_but_the_controls_stands_for_a_hazard() {
        for plugin in IMAGE_FAULTS {
            let hazard = hazard(plugin);
            assert_eq!(hazard.is_none(), CONTROLS.contains(&plugin.name), "{}", plugin.name);
            let known = |hazard: Hazard| GUIDE_WORDS.contains(&hazard.guide_word);
            assert!(hazard.is_none_or(known), "{}: {hazard:?}", plugin.name);
        }
    }
}
