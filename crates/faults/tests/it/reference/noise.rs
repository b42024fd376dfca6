//! Noise.

use super::statistics::check;

#[test]
fn gaussian_noise_is_that_of_the_reference() {
    check("gaussian_noise", 5, 0.0);
}

#[test]
fn shot_noise_is_that_of_the_reference() {
    check("shot_noise", 5, 0.0);
}

#[test]
fn impulse_noise_is_that_of_the_reference() {
    check("impulse_noise", 5, 0.0);
}

#[test]
fn speckle_noise_is_that_of_the_reference() {
    check("speckle_noise", 5, 0.0);
}
