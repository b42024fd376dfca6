//! Fewer colours.

use faultlens_core::{Defence, Image, Parameter, ParameterKind, Plugin, Setting, Unset};

/// # What it does
/// Rounds every channel to as many levels as so many bits can tell apart, evenly from black to
/// white.
/// # When to use it
/// Noise of a few grey levels; known as feature squeezing (Xu et al., 2018).
pub(super) const BIT_DEPTH_REDUCTION: Plugin<dyn Defence> = Plugin {
    name: "bit_depth_reduction",
    about: "rounds every channel to fewer levels",
    when: "noise of a few grey levels; known as feature squeezing",
    parameters: &[BITS],
    build: |settings| {
        let steps = (1u32 << settings.number(BITS.name)? as u32) - 1;
        let level = |value: u32| (value * steps * 2 + 255) / 510;
        let table =
            std::array::from_fn(|at| ((level(at as u32) * 510 + steps) / (2 * steps)) as u8);
        Ok(Box::new(BitDepthReduction { table }))
    },
};

const BITS: Parameter = Parameter {
    name: "bits",
    about: "how many bits a channel keeps",
    kind: ParameterKind::Whole { least: 1, most: 8 },
    unset: Unset::Is(Setting::Number(5.0)),
};

struct BitDepthReduction {
    table: [u8; 256],
}

impl Defence for BitDepthReduction {
    fn clean(&self, image: &Image) -> Image {
        image.map_pixels(|pixel| pixel.map(|value| self.table[usize::from(value)]))
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
    fn levels_are_those_of_rounding() {
        for bits in 1..=8 {
            let steps = f64::from((1 << bits) - 1);
            let wanted = (0..=255).map(|v| {
                let share = (f64::from(v) / 255.0 * steps).round() / steps;
                (share * 255.0).round() as u8
            });
            assert_eq!(levels(f64::from(bits)), wanted.collect::<Vec<_>>(), "{bits}");
        }
    }
}
