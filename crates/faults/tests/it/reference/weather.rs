//! Weather.

use super::statistics::check;

#[test]
fn fog_has_the_statistics_of_the_reference() {
    check("fog", 20, 0.0);
}

#[test]
fn snow_has_the_statistics_of_the_reference() {
    check("snow", 20, 0.0);
}

#[test]
fn spatter_has_the_statistics_of_the_reference() {
    check("spatter", 20, 0.0);
}

#[test]
fn frost_has_the_statistics_of_the_reference() {
    check("frost", 20, 0.0);
}
