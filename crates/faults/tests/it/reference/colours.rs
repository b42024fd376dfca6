//! Light and colour.

use super::same_images;

/// The mean difference allowed is far below that between neighbouring severities (several levels).
#[test]
fn light_and_colour_are_those_of_the_reference() {
    for (name, mean) in [("brightness", 0.03), ("contrast", 0.02), ("saturate", 0.04)] {
        same_images(name, mean);
    }
}
