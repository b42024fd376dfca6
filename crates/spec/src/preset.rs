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
        name: "attacks",
        about: "attacks that follow gradients and attacks that only ask, for models",
        yaml: "
- fault: pgd
  epsilon: [0.003, 0.01, 0.03]
- fault: auto_pgd
  loss: dlr
  epsilon: 0.01
- fault: deepfool
- fault: square
  epsilon: [0.003, 0.01, 0.03]
  iterations: 1000
- fault: hop_skip_jump
- fault: random_noise
  epsilon: [0.003, 0.01, 0.03]
",
    },
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
        name: "camera",
        about: "failures of cameras: dead pixels and lines, banding, a broken or dirty lens, ice, rain, and a \
                black, white, unprocessed or unsharpened image",
        yaml: "
- fault: dead_pixels
  severity: 1..5
- fault: dead_lines
  severity: 1..5
- fault: banding
  severity: 1..5
- fault: broken_lens
  severity: 1..5
- fault: dirt
  severity: 1..5
- fault: ice
  severity: 1..5
- fault: rain
  severity: 1..5
- fault: missing_sharpness
  severity: 1..5
- fault: black
- fault: white
- fault: no_demosaicing
",
    },
    Preset {
        name: "cifar10-c",
        about: "17 faults in five severities for images of about 32×32 pixels",
        yaml: "
- fault: gaussian_noise
  severity: 1..5
  table: cifar10-c
- fault: shot_noise
  severity: 1..5
  table: cifar10-c
- fault: impulse_noise
  severity: 1..5
  table: cifar10-c
- fault: speckle_noise
  severity: 1..5
  table: cifar10-c
- fault: gaussian_blur
  severity: 1..5
  table: cifar10-c
- fault: defocus_blur
  severity: 1..5
  table: cifar10-c
- fault: glass_blur
  severity: 1..5
  table: cifar10-c
- fault: motion_blur
  severity: 1..5
  table: cifar10-c
- fault: zoom_blur
  severity: 1..5
  table: cifar10-c
- fault: snow
  severity: 1..5
  table: cifar10-c
- fault: frost
  severity: 1..5
  table: cifar10-c
- fault: fog
  severity: 1..5
  table: cifar10-c
- fault: brightness
  severity: 1..5
  table: cifar10-c
- fault: contrast
  severity: 1..5
  table: cifar10-c
- fault: saturate
  severity: 1..5
  table: cifar10-c
- fault: pixelate
  severity: 1..5
  table: cifar10-c
- fault: jpeg_compression
  severity: 1..5
  table: cifar10-c
",
    },
    Preset {
        name: "cifar10-car",
        about: "four faults as far as people still recognise cars in images of 32×32 pixels; 10 trials per case",
        yaml: "
- fault: brightness
  tolerance: cifar10-car
  trials: 10
- fault: contrast
  tolerance: cifar10-car
  trials: 10
- fault: frost
  tolerance: cifar10-car
  trials: 10
- fault: jpeg_compression
  tolerance: cifar10-car
  trials: 10
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
        name: "imagenet-c",
        about: "the 19 faults of imagecorruptions in five severities, for photographs",
        yaml: "
- fault: gaussian_noise
  severity: 1..5
- fault: shot_noise
  severity: 1..5
- fault: impulse_noise
  severity: 1..5
- fault: speckle_noise
  severity: 1..5
- fault: gaussian_blur
  severity: 1..5
- fault: defocus_blur
  severity: 1..5
- fault: glass_blur
  severity: 1..5
- fault: motion_blur
  severity: 1..5
- fault: zoom_blur
  severity: 1..5
- fault: snow
  severity: 1..5
- fault: frost
  severity: 1..5
- fault: fog
  severity: 1..5
- fault: brightness
  severity: 1..5
- fault: contrast
  severity: 1..5
- fault: saturate
  severity: 1..5
- fault: elastic_transform
  severity: 1..5
- fault: pixelate
  severity: 1..5
- fault: jpeg_compression
  severity: 1..5
- fault: spatter
  severity: 1..5
",
    },
    Preset {
        name: "imagenet-car",
        about: "eight faults as far as people still recognise cars in photographs; 10 trials per case",
        yaml: "
- fault: brightness
  tolerance: imagenet-car
  trials: 10
- fault: colour_jitter
  tolerance: imagenet-car
  trials: 10
- fault: contrast
  tolerance: imagenet-car
  trials: 10
- fault: defocus_blur
  tolerance: imagenet-car
  trials: 10
- fault: frost
  tolerance: imagenet-car
  trials: 10
- fault: gaussian_noise
  tolerance: imagenet-car
  trials: 10
- fault: jpeg_compression
  tolerance: imagenet-car
  trials: 10
- fault: rgb_shift
  tolerance: imagenet-car
  trials: 10
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
        name: "metaod",
        about: "what MetaOD does to detectors: an object more, beside others and anywhere, and moved on; 10 \
                trials for every object that is found, at most 100 per case",
        yaml: "
- fault: insert_object
  placing: [guided, random]
  per_object: 10
  trials: 100
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
    Preset {
        name: "thesis",
        about: "the 55 configurations of the mlaas-fi study of vision services",
        yaml: "
- fault: gaussian_blur
  severity: 1..5
- fault: motion_blur
  severity: 1..5
- fault: zoom_blur
  severity: 1..5
- fault: exposure
  factor: [0.3, 0.6, 1.5, 3, 4.5]
- fault: chromatic_aberration
  factor: [1, 2]
- fault: condensation
  blend: 0.4
- fault: fog
  severity: 1..5
- fault: frost
  added: 0.4
  kept: 0.6
- fault: snow
  severity: 1..5
- fault: contrast
  severity: 1..5
- fault: grey
- fault: gaussian_noise
  severity: 1..5
- fault: impulse_noise
  severity: 1..5
- fault: pixelate
  severity: 1..5
",
    },
    Preset {
        name: "trashfire",
        about: "the 69 attacks of the TRASHFIRE study with all their strengths, for models",
        yaml: "
- fault: fgm
  norm: ['1', '2', inf]
  epsilon: [0.001, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.8, 1]
- fault: pgd
  norm: ['1', '2', inf]
  epsilon: [0.001, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.8, 1]
- fault: deepfool
  classes: [1, 3, 5, 10]
- fault: pixel
  pixels: [1, 4, 16, 64, 256]
  iterations: 10
- fault: threshold
  threshold: [1, 4, 16, 64, 256]
  iterations: 10
- fault: hop_skip_jump
",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FaultPoint;
    use crate::fault::points;
    use crate::tree;

    #[test]
    fn every_preset_reads_as_it_says() {
        assert!(PRESETS.is_sorted_by_key(|preset| preset.name));
        let counts = PRESETS.iter().map(|preset| {
            let written = points(tree::parse(preset.yaml).unwrap().list(), None).unwrap();
            let entry = format!("[{{preset: {}}}]", preset.name);
            let named = points(tree::parse(&entry).unwrap().list(), None).unwrap();
            let specs = |all: &[FaultPoint]| {
                all.iter().map(|point| (point.spec(), point.trials)).collect::<Vec<_>>()
            };
            assert_eq!(specs(&written), specs(&named), "{}", preset.name);
            written.len()
        });
        assert_eq!(counts.collect::<Vec<_>>(), [12, 2, 43, 85, 4, 16, 95, 8, 10, 2, 2, 55, 69]);
    }
}
