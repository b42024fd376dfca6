//! Light and colour.

use crate::{changed, difference, load};

/// The mean difference allowed is far below that between neighbouring severities (several levels).
#[test]
fn light_and_colour_are_those_of_the_reference() {
    for (name, mean) in [("brightness", 0.03), ("contrast", 0.02), ("saturate", 0.04)] {
        for severity in 1..=5 {
            let reference = load(&format!("{name}_{severity}.png"));
            let got = difference(&changed(name, severity, 0), &reference);
            assert!(got.0 <= mean && got.1 == 0.0, "{name} {severity}: {got:?}");
        }
    }
}
