//! Collections of faults that have a name of their own.

/// Several fault entries under one name.
#[derive(Debug, Clone, Copy)]
pub struct Preset {
    /// The name in campaign files.
    pub name: &'static str,
    /// What is in it, in a sentence without a full stop.
    pub about: &'static str,
    /// The entries, as a campaign file would have them.
    pub yaml: &'static str,
}

/// Every preset, in alphabetical order. Add yours here.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "bit_flips",
        about: "any bit flipped, in the outputs of operators and in weights; 20 trials per case",
        yaml: "
- fault: bit_flip
  in: [outputs, weights]
  trials: 20
",
    },
    Preset {
        name: "exponent_bits",
        about: "each bit of the exponent flipped, in outputs and in weights; 5 trials per case",
        yaml: "
- fault: bit_flip
  in: [outputs, weights]
  bit: 23..30
  trials: 5
",
    },
    Preset {
        name: "images",
        about: "noise and too much light, from hardly visible to severe",
        yaml: "
- fault: gaussian_noise
  severity: 1..5
- fault: brightness
  severity: 1..5
",
    },
    Preset {
        name: "quick",
        about: "one fault of each family, for a first look",
        yaml: "
- fault: gaussian_noise
  severity: 3
- fault: bit_flip
  trials: 5
",
    },
];

#[cfg(test)]
mod tests {
    use super::super::points;
    use super::*;
    use crate::config::tree;

    #[test]
    fn every_preset_reads_as_it_says() {
        assert!(PRESETS.is_sorted_by_key(|preset| preset.name));
        let counts = PRESETS.iter().map(|preset| {
            let written = points(&tree::parse(preset.yaml).unwrap(), None).unwrap();
            let entry = format!("[{{preset: {}}}]", preset.name);
            let named = points(&tree::parse(&entry).unwrap(), None).unwrap();
            let specs = |all: &[super::super::FaultPoint]| {
                all.iter().map(|point| (point.spec(), point.trials)).collect::<Vec<_>>()
            };
            assert_eq!(specs(&written), specs(&named), "{}", preset.name);
            written.len()
        });
        assert_eq!(counts.collect::<Vec<_>>(), [2, 16, 10, 2]);
    }
}
