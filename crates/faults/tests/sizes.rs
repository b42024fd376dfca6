//! Every image fault at odd sizes: one pixel, one row, kernels larger than the image.

#![expect(clippy::unwrap_used, reason = "tests")]

use faultlens_core::{Image, ImageFault, ParameterKind, Plugin, Seed, Setting, Settings, Unset};
use faultlens_faults::IMAGE_FAULTS;

/// A fault with its defaults and these numbers.
fn built(plugin: &Plugin<dyn ImageFault>, numbers: &[(&'static str, f64)]) -> Box<dyn ImageFault> {
    let mut settings = Settings::default();
    for parameter in plugin.parameters {
        if let Unset::Is(setting) = &parameter.unset {
            settings.set(parameter.name, setting.clone());
        }
    }
    for (name, number) in numbers {
        settings.set(name, Setting::Number(*number));
    }
    (plugin.build)(&settings).unwrap()
}

#[test]
fn every_size_is_taken() {
    let sizes =
        [(1, 1), (1, 2), (2, 1), (3, 1), (1, 40), (40, 1), (2, 2), (5, 3), (17, 33), (129, 7)];
    for ((width, height), white) in sizes.into_iter().flat_map(|size| [(size, false), (size, true)])
    {
        let level = |at: usize| if white { 255 } else { (at * 37 % 256) as u8 };
        let rgb = (0..width * height * 3).map(level).collect();
        let image = Image::from_rgb(width, height, rgb).unwrap();
        for plugin in IMAGE_FAULTS {
            for severity in [1.0, 5.0] {
                let fault = built(plugin, &[("severity", severity)]);
                let changed = fault.change(&image, &mut Seed::new(1).stream());
                let size = (changed.width(), changed.height());
                assert_eq!(size, (width, height), "{} at {severity}", plugin.name);
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
    for plugin in IMAGE_FAULTS {
        for parameter in plugin.parameters {
            let ParameterKind::Number { min, max } = parameter.kind else { continue };
            for (severity, number) in [(1.0, min), (5.0, min), (1.0, max), (5.0, max)] {
                // Set shifts stand for themselves: all three, and no severity.
                let fault = match CHANNELS.contains(&parameter.name) {
                    true => built(plugin, &CHANNELS.map(|channel| (channel, number))),
                    false => built(plugin, &[("severity", severity), (parameter.name, number)]),
                };
                let changed = fault.change(&image, &mut Seed::new(1).stream());
                assert_eq!(changed.width(), 41, "{} {} {number}", plugin.name, parameter.name);
            }
        }
    }
}
