//! Defences against what scikit-image and SciPy make of the same photo.

use super::{difference, load};
use faultlens_core::{Image, Setting, Settings, Unset};
use faultlens_faults::DEFENCES;

fn clean(name: &str, numbers: &[(&'static str, f64)]) -> Image {
    let plugin = DEFENCES.iter().find(|plugin| plugin.name == name).unwrap();
    let mut settings = Settings::default();
    for parameter in plugin.parameters {
        if let Unset::Is(setting) = &parameter.unset {
            settings.set(parameter.name, setting.clone());
        }
    }
    numbers.iter().for_each(|&(name, number)| settings.set(name, Setting::Number(number)));
    (plugin.build)(&settings).unwrap().clean(&load("input.png"))
}

#[test]
fn medians_are_those_of_scipy() {
    assert_eq!(clean("median_filter", &[]), load("scipy_median_filter.png"));
    assert_eq!(clean("median_filter", &[("radius", 3.0)]), load("scipy_median_filter_7.png"));
}

#[test]
fn wavelets_are_shrunk_as_by_scikit_image() {
    let (mean, far) =
        difference(&clean("wavelet_denoising", &[]), &load("skimage_wavelet_denoising.png"));
    assert!(mean < 0.01 && far == 0.0, "{mean} {far}");
}

/// It cuts fractions off, as the fault of the same filter must; scikit-image rounds.
#[test]
fn the_gaussian_is_that_of_scikit_image() {
    let (ours, theirs) = (clean("gaussian_filter", &[]), load("skimage_gaussian_filter.png"));
    let above = ours.rgb().iter().zip(theirs.rgb()).filter(|(ours, theirs)| ours > theirs).count();
    let below = ours.rgb().iter().zip(theirs.rgb()).map(|(a, b)| b.saturating_sub(*a)).max();
    assert_eq!((above, below), (0, Some(1)));
}
