//! Fewer colours.

use crate::doc::{about, described, when};
use faultlens_core::{Defence, Image, Parameter, ParameterKind, Plugin, Setting, Unset};

described! {
    /// # What it does
    /// Rounds every channel to fewer levels, evenly spaced from black to white.
    /// # When to use it
    /// Noise of a few grey levels; known as feature squeezing (Xu et al. 2018).
    struct BitDepthReduction {
        table: [u8; 256],
        /// Between black and white, for what is finer than a byte.
        steps: f64,
    }
}

pub(super) const BIT_DEPTH_REDUCTION: Plugin<dyn Defence> = Plugin {
    name: "bit_depth_reduction",
    about: about(BitDepthReduction::DOC),
    when: when(BitDepthReduction::DOC),
    parameters: &[BITS],
    build: |settings| {
        let bits = settings.number(BITS.name)?;
        // More bits than a byte has leave bytes as they are.
        let steps = (1u32 << bits.min(8.0) as u32) - 1;
        // Rounded in whole numbers: to the nearest level, and from there to the nearest byte.
        let table = std::array::from_fn(|value| {
            let level = (value as u32 * steps * 2 + 255) / 510;
            ((level * 510 + steps) / (2 * steps)) as u8
        });
        Ok(Box::new(BitDepthReduction { table, steps: libm::exp2(bits) - 1.0 }))
    },
};

const BITS: Parameter = Parameter {
    name: "bits",
    about: "bits that a channel keeps",
    kind: ParameterKind::Whole { min: 1, max: 64 },
    unset: Unset::Is(Setting::Number(5.0)),
};

impl Defence for BitDepthReduction {
    fn clean(&self, image: &Image) -> Image {
        image.map_pixels(|pixel| pixel.map(|value| self.table[usize::from(value)]))
    }

    fn clean_point(&self, point: &[f32]) -> Option<Vec<f32>> {
        let mut clean = point.to_vec();
        for value in &mut clean {
            *value = (libm::rint(f64::from(*value) * self.steps) / self.steps) as f32;
        }
        Some(clean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Settings;

    fn levels(bits: f64) -> Vec<u8> {
        let mut settings = Settings::default();
        settings.set(BITS.name, Setting::Number(bits));
        let ramp: Vec<u8> = (0..=255).flat_map(|value| [value; 3]).collect();
        let image = Image::from_rgb(256, 1, ramp).unwrap();
        let clean = (BIT_DEPTH_REDUCTION.build)(&settings).unwrap().clean(&image);
        clean.rgb().iter().step_by(3).copied().collect()
    }

    #[test]
    fn floats_are_squeezed_to_any_depth() {
        let squeezed = |bits: f64, value: f32| {
            let mut settings = Settings::default();
            settings.set(BITS.name, Setting::Number(bits));
            let defence = (BIT_DEPTH_REDUCTION.build)(&settings).unwrap();
            defence.clean_point(&[value]).unwrap()[0]
        };
        assert_eq!(squeezed(2.0, 0.4), 1.0 / 3.0);
        assert_eq!(squeezed(1.0, 0.501), 1.0);
        // Halves go to the even side, as numpy's rint has it.
        assert_eq!(squeezed(1.0, 0.5), 0.0);
        assert_eq!(squeezed(64.0, 0.123_456_7), 0.123_456_7);
        assert!((squeezed(16.0, 0.123_456_7) - 0.123_456_7).abs() < 1e-5);
    }

    #[test]
    fn levels_are_those_of_rounding() {
        for bits in 1..=9 {
            let steps = f64::from((1 << bits.min(8)) - 1);
            let wanted = (0..=255).map(|v| {
                let share = (f64::from(v) / 255.0 * steps).round() / steps;
                (share * 255.0).round() as u8
            });
            assert_eq!(levels(f64::from(bits)), wanted.collect::<Vec<_>>(), "{bits}");
        }
    }
}
