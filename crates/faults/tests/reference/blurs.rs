//! Blurs.

use crate::same_images;
use crate::statistics::check;

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
