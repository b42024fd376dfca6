//! Faults that change what a target sees.

mod brightness;
mod gaussian_noise;
mod level;

use faultlens_core::{ImageFault, Plugin};

/// Every image fault, in alphabetical order. Add yours here.
pub const IMAGE_FAULTS: &[Plugin<dyn ImageFault>] =
    &[brightness::BRIGHTNESS, gaussian_noise::GAUSSIAN_NOISE];

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::{Image, Seed, Setting, Settings};

    fn built(plugin: &Plugin<dyn ImageFault>, severity: f64) -> Box<dyn ImageFault> {
        let mut settings = Settings::default();
        settings.set("severity", Setting::Number(severity));
        (plugin.build)(&settings).unwrap()
    }

    fn distance(a: &Image, b: &Image) -> f64 {
        let squares =
            a.rgb().iter().zip(b.rgb()).map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2));
        squares.sum()
    }

    /// One test for every image fault: named in order, same numbers same image, size kept,
    /// stronger with severity.
    #[test]
    fn every_fault_keeps_the_contract() {
        assert!(IMAGE_FAULTS.is_sorted_by_key(|plugin| plugin.name));
        let pixels = (0..48 * 32 * 3).map(|i| (i * 7 % 200 + 20) as u8).collect();
        let image = Image::from_rgb(48, 32, pixels).unwrap();
        for plugin in IMAGE_FAULTS {
            let mut last = 0.0;
            for severity in 1..=5 {
                let fault = built(plugin, f64::from(severity));
                let changed = fault.change(&image, &mut Seed::new(3).stream());
                let again = fault.change(&image, &mut Seed::new(3).stream());
                let other = fault.change(&image, &mut Seed::new(4).stream());
                assert_eq!(changed, again, "{}", plugin.name);
                assert_eq!(changed != other, fault.draws(), "{}", plugin.name);
                assert_eq!((changed.width(), changed.height()), (48, 32));
                let now = distance(&image, &changed);
                assert!(now > last, "{} at {severity}", plugin.name);
                assert_eq!(fault.dose().amount, f64::from(severity));
                last = now;
            }
            let mut settings = Settings::default();
            settings.set("severity", Setting::Number(2.5));
            assert!((plugin.build)(&settings).is_err(), "{}", plugin.name);
        }
    }
}
