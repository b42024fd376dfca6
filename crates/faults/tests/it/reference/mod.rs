//! Image faults against imagecorruptions 1.1.2 on the same photo; see `fixtures/README.md`.

mod blurs;
mod codec;
mod colours;
mod defences;
mod moves;
mod noise;
mod pinned;
mod statistics;
mod weather;

use faultlens_core::{Image, ImageFault};
use faultlens_faults::image::named;
use std::path::PathBuf;

/// A file beside the tests.
pub(super) fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// An image beside the tests.
pub(super) fn load(name: &str) -> Image {
    let photo = image::open(fixture(name)).unwrap().to_rgb8();
    let (width, height) = photo.dimensions();
    Image::from_rgb(width as usize, height as usize, photo.into_raw()).unwrap()
}

/// A fault with its defaults and these numbers.
pub(super) fn fault(name: &str, numbers: &[(&str, f64)]) -> Box<dyn ImageFault> {
    let mut builder = named(name).unwrap();
    for &(name, number) in numbers {
        builder = builder.set(name, number);
    }
    builder.build().unwrap()
}

/// The photo with a fault of a severity in it.
pub(super) fn changed(name: &str, severity: u8, seed: u64) -> Image {
    named(name).unwrap().severity(severity).unwrap().apply(&load("input.png"), seed)
}

/// The mean difference of all values, and the share of those that differ by more than 3.
pub(super) fn difference(a: &Image, b: &Image) -> (f64, f64) {
    let differences = a.rgb().iter().zip(b.rgb()).map(|(a, b)| a.abs_diff(*b));
    let n = a.rgb().len() as f64;
    let mean = differences.clone().map(f64::from).sum::<f64>() / n;
    (mean, differences.filter(|&difference| difference > 3).count() as f64 / n)
}

/// Panics unless the fault's images are those of the reference at every severity: so far apart on
/// average, and beyond three levels in at most one of a thousand places.
pub(super) fn same_images(name: &str, mean: f64) {
    for severity in 1..=5 {
        let reference = load(&format!("{name}_{severity}.png"));
        let got = difference(&changed(name, severity, 1), &reference);
        assert!(got.0 <= mean && got.1 <= 0.001, "{name} {severity}: {got:?}");
    }
}
