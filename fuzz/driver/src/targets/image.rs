//! Image files.

use crate::{FuzzTarget, mutate};
use faultlens_data::decode_image;

/// PNG, JPEG, WebP and BMP.
pub const TARGET: FuzzTarget = FuzzTarget {
    name: "image",
    run,
    fixtures: &[("crates/data/tests/fixtures", ".png")],
    mutate: mutate::image,
};

/// Decodes an image.
pub fn run(bytes: &[u8]) {
    drop(decode_image(bytes));
}
