//! Every image fault at odd sizes: one pixel, one row, kernels larger than the image.

use faultlens_core::{Image, ImageFault, ParameterKind, Seed};
use faultlens_faults::image::{Facts, all_facts, named};

/// A fault with its defaults, a severity where it has one, and these numbers.
fn built(facts: &Facts, severity: u8, numbers: &[(&str, f64)]) -> Box<dyn ImageFault> {
    let mut builder = named(facts.name).unwrap();
    if facts.has_severity() {
        builder = builder.set("severity", f64::from(severity));
    }
    for &(name, number) in numbers {
        builder = builder.set(name, number);
    }
    builder.build().unwrap()
}

#[test]
fn every_size_is_taken() {
    let sizes =
        [(1, 1), (1, 2), (2, 1), (3, 1), (1, 40), (40, 1), (2, 2), (5, 3), (17, 33), (129, 7)];
    for ((width, height), white) in sizes.into_iter().flat_map(|size| [(size, false), (size, true)])
    {
        let rgb = (0..width * height * 3).map(|at| if white { 255 } else { (at * 37 % 256) as u8 });
        let image = Image::from_rgb(width, height, rgb.collect()).unwrap();
        for facts in all_facts() {
            for severity in [1, 5] {
                let fault = built(facts, severity, &[]);
                let changed = fault.apply(&image, 1);
                let size = (changed.width(), changed.height());
                assert_eq!(size, (width, height), "{} at {severity}", facts.name);
                fault.motion(width, height, &mut Seed::new(1).stream());
            }
        }
    }
}

const CHANNELS: [&str; 3] = ["red", "green", "blue"];

/// Whatever a parameter allows, at either end of its range.
#[test]
fn every_limit_is_taken() {
    let rgb = (0..41 * 30 * 3).map(|at| (at * 37 % 256) as u8).collect();
    let image = Image::from_rgb(41, 30, rgb).unwrap();
    for facts in all_facts() {
        for parameter in facts.parameters {
            let ParameterKind::Number { min, max } = parameter.kind else { continue };
            for (severity, number) in [(1, min), (5, min), (1, max), (5, max)] {
                let fault = if CHANNELS.contains(&parameter.name) {
                    // Offsets of channels are set all three, and without a severity.
                    let mut shift = named(facts.name).unwrap();
                    for channel in CHANNELS {
                        shift = shift.set(channel, number);
                    }
                    shift.build().unwrap()
                } else {
                    built(facts, severity, &[(parameter.name, number)])
                };
                let changed = fault.apply(&image, 1);
                assert_eq!(changed.width(), 41, "{} {} {number}", facts.name, parameter.name);
            }
        }
    }
}
