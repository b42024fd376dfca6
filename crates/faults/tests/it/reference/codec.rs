//! Pixels and compression.

use super::{changed, difference, fault, load};
use faultlens_core::{Image, Seed};

#[test]
fn big_pixels_are_those_of_the_reference() {
    for severity in 1..=5 {
        let reference = load(&format!("pixelate_{severity}.png"));
        assert!(changed("pixelate", severity, 0) == reference, "{severity}");
    }
}

/// libjpeg rounds some sums to 13 bits which are exact here: rarely, a wave falls to another step,
/// and one block of 320 differs.
#[test]
fn compression_is_that_of_the_reference() {
    for severity in 1..=5 {
        let reference = load(&format!("jpeg_compression_{severity}.png"));
        let got = difference(&changed("jpeg_compression", severity, 0), &reference);
        assert!(got.0 <= 0.03 && got.1 <= 0.002, "{severity}: {got:?}");
    }
}

/// A size that no block divides: edges are filled up, and chroma enlarged, as the reference does.
#[test]
fn compression_of_odd_sizes_is_that_of_pillow() {
    let photo = load("input.png");
    let rows = photo.rgb().chunks(3 * photo.width()).skip(30).take(29);
    let rgb = rows.flat_map(|row| row[3 * 40..3 * 77].to_vec()).collect();
    let part = Image::from_rgb(37, 29, rgb).unwrap();
    for quality in [20, 75, 95] {
        let fault = fault("reencode", &[("quality", f64::from(quality))]);
        let reference = load(&format!("pillow_jpeg_{quality}.png"));
        let got = difference(&fault.change(&part, &mut Seed::new(0).stream()), &reference);
        assert!(got.0 <= 0.1 && got.1 == 0.0, "{quality}: {got:?}");
    }
}

/// Pillow weighs in whole numbers: rarely, a value rounds the other way.
#[test]
fn colours_part_as_pillow_enlarges_them() {
    let fault = fault("chromatic_aberration", &[("factor", 2.0)]);
    let changed = fault.change(&load("input.png"), &mut Seed::new(0).stream());
    let got = difference(&changed, &load("pillow_chromatic_aberration_2.png"));
    assert!(got.0 <= 0.01 && got.1 == 0.0, "{got:?}");
}

/// What a codec has lost once it does not lose again, and better qualities lose less.
#[test]
fn a_compressed_image_is_hardly_changed_by_the_same_compression() {
    let photo = load("input.png");
    let saved = |image: &Image, quality: f64| {
        fault("reencode", &[("quality", quality)]).change(image, &mut Seed::new(0).stream())
    };
    let once = saved(&photo, 75.0);
    let lost = difference(&photo, &once).0;
    let again = difference(&once, &saved(&once, 75.0)).0;
    assert!(again < 0.4 * lost, "{lost}, then {again}");
    assert!(difference(&photo, &saved(&photo, 100.0)).0 < 0.5 * lost);
}
