//! Blurs.

use super::same_images;
use super::statistics::check;

#[test]
fn gaussian_blur_is_that_of_the_reference() {
    same_images("gaussian_blur", 0.05);
}

#[test]
fn defocus_blur_is_that_of_the_reference() {
    same_images("defocus_blur", 0.05);
}

#[test]
fn zoom_blur_is_that_of_the_reference() {
    same_images("zoom_blur", 0.05);
}

/// The reference has three seeds only, which happen to lie close together.
#[test]
fn glass_blur_has_the_statistics_of_the_reference() {
    check("glass_blur", 5, 0.5);
}

#[test]
fn motion_blur_has_the_statistics_of_the_reference() {
    check("motion_blur", 20, 0.0);
}

/// The reference's rim takes away from some pixels what it gives to others; none wraps around.
#[test]
fn a_single_bright_pixel_spreads_over_its_disk_alone() {
    let mut rgb = vec![0; 61 * 61 * 3];
    rgb[(30 * 61 + 30) * 3..][..3].fill(255);
    let image = faultlens_core::Image::from_rgb(61, 61, rgb).unwrap();
    for radius in [3.0, 6.0, 8.0, 9.0, 10.0, 14.0] {
        let fault = super::fault("defocus_blur", &[("radius", radius), ("softness", 0.5)]);
        let seen = fault.change(&image, &mut faultlens_core::Seed::new(1).stream());
        let brightest = seen.rgb().iter().max().unwrap();
        assert!(
            f64::from(*brightest) < 3.0 + 2.0 * 255.0 / (std::f64::consts::PI * radius * radius),
            "{radius}"
        );
    }
}
