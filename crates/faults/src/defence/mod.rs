//! What stands between a target and those who ask it: changes of what it is shown, to undo what
//! faults have done, and of what it says.
//!
//! They stand beside the faults since both change images with the same tools; each is a
//! [`Plugin`] of [`DEFENCES`].

mod bit_depth_reduction;
mod conf;
mod gauss_out;
mod gaussian_filter;
mod jpeg_filter;
mod median_filter;
mod wavelet;
mod wavelet_denoising;

use faultlens_core::{Defence, Plugin};

/// Every defence, in alphabetical order. Add yours here.
pub const DEFENCES: &[Plugin<dyn Defence>] = &[
    bit_depth_reduction::BIT_DEPTH_REDUCTION,
    conf::CONF,
    gauss_out::GAUSS_OUT,
    gaussian_filter::GAUSSIAN_FILTER,
    jpeg_filter::JPEG_FILTER,
    median_filter::MEDIAN_FILTER,
    wavelet_denoising::WAVELET_DENOISING,
];

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::{Image, Seed, Settings, Unset};

    fn built(plugin: &Plugin<dyn Defence>) -> Box<dyn Defence> {
        let mut settings = Settings::default();
        for parameter in plugin.parameters {
            let Unset::Is(setting) = &parameter.unset else { panic!("{}", parameter.name) };
            settings.set(parameter.name, setting.clone());
        }
        (plugin.build)(&settings).unwrap()
    }

    #[test]
    fn names_are_in_order_and_sizes_stay() {
        assert!(DEFENCES.is_sorted_by(|a, b| a.name < b.name));
        for (width, height) in [(1, 1), (1, 9), (8, 8), (33, 17)] {
            let mut rgb = vec![0; width * height * 3];
            let mut stream = Seed::new(7).stream();
            rgb.iter_mut().for_each(|byte| *byte = stream.next_u32() as u8);
            let image = Image::from_rgb(width, height, rgb).unwrap();
            for plugin in DEFENCES {
                let defence = built(plugin);
                let clean = defence.clean(&image);
                assert_eq!((clean.width(), clean.height()), (width, height), "{}", plugin.name);
                assert_eq!(clean, defence.clean(&image), "{}", plugin.name);
            }
        }
    }

    #[test]
    fn what_has_one_colour_keeps_it() {
        let image = Image::from_rgb(20, 12, [255, 0, 128].repeat(240)).unwrap();
        for plugin in DEFENCES {
            let clean = built(plugin).clean(&image);
            let far = clean.rgb().iter().zip(image.rgb()).map(|(a, b)| a.abs_diff(*b)).max();
            assert!(far.unwrap() <= 5, "{}: {far:?}", plugin.name);
        }
    }
}
