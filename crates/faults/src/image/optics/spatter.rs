//! Splashes on the lens (`spatter` of imagecorruptions): smoothed noise above a threshold is a drop; the
//! relief of water comes from Canny's edges and their distance transform.

use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Level, Points, SEVERITY, strength};
use crate::image::paint::edge::Edge;
use crate::image::paint::grain::{DEVIATION, MEAN, normals};
use crate::image::paint::pixels::{weighed, with_rgb};
use crate::image::paint::rim::{Relief, relief};
use crate::image::paint::round::{level_byte, level_word, smaller};
use crate::image::paint::smooth::{Gaussian, MAX_DEVIATION};
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, SettingError, Settings, Stream,
};

described! {
    /// # What it does
    /// Covers the lens with drops of water that shine at their rims, or with opaque mud. Drops are
    /// cut out of smoothed noise.
    /// # When it happens
    /// Rain, a puddle, a car ahead on a wet or dirty road.
    pub struct Spatter(Level<6>);
}

impl Fault for Spatter {
    const FACTS: Facts = Facts {
        name: "spatter",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "transparency", "spatial aperiodic")),
        parameters: &[
            SEVERITY,
            strength("amount", "mean of the noise that drops are cut from", 0.0, 1.0),
            strength("spread", "standard deviation of that noise before it is blurred", 0.0, 1.0),
            strength(
                "size",
                "standard deviation of the blur: the size of drops",
                0.0,
                MAX_DEVIATION,
            ),
            strength("cut", "noise below this makes no drop", 0.0, 1.0),
            strength("strength", "how bright water is; how soft mud is", 0.0, 10.0),
            strength("mud", "0 for water, 1 for mud", 0.0, 1.0),
        ],
        domain: Some(Domain::together(&[
            Range::new("amount", 0.67, 0.67),
            Range::new("spread", 0.4, 0.4),
            Range::new("size", 1.0, 1.0),
            Range::new("cut", 1.0, 0.65),
            Range::new("strength", 1.5, 1.5),
            Range::new("mud", 1.0, 1.0),
        ])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self(POINTS.level(settings)?))
    }
}

const POINTS: Points<6> = Points {
    names: ["amount", "spread", "size", "cut", "strength", "mud"],
    photo: [
        [0.65, 0.3, 4.0, 0.69, 0.6, 0.0],
        [0.65, 0.3, 3.0, 0.68, 0.6, 0.0],
        [0.65, 0.3, 2.0, 0.68, 0.5, 0.0],
        [0.65, 0.3, 1.0, 0.65, 1.5, 1.0],
        [0.67, 0.4, 1.0, 0.65, 1.5, 1.0],
    ],
    small: None,
};

/// Pale turquoise, in 65536ths of the brightest.
const WATER: [u16; 3] = [44975, 61166, 61166];

/// Brown.
const MUD: [f32; 3] = [63.0, 42.0, 20.0];

/// Mud thinner than this is not seen.
const THIN: f32 = 0.8;

impl ImageFault for Spatter {
    fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        let [amount, spread, size, cut, strength, mud] = self.0.numbers;
        let [width, height] = [image.width(), image.height()];
        let smoothed = |values: Vec<u16>, deviation: f64| {
            let gaussian = Gaussian { deviations: [deviation; 2], cut: 4.0, edge: Edge::Repeat };
            gaussian.smoothed(values, width, 1)
        };
        let noise = smoothed(normals(width * height, stream), size);
        let scale = spread as f32 / f32::from(DEVIATION);
        let base = amount as f32 - scale * f32::from(MEAN);
        let value = |&level: &u16| base + scale * f32::from(level);
        let cut = cut as f32;
        if mud >= 0.5 {
            // 32640 stands for all mud.
            let mask: Vec<u16> =
                noise.iter().map(|level| if value(level) > cut { 32640 } else { 0 }).collect();
            return muddy(image, &smoothed(mask, strength));
        }
        let layer: Vec<u8> = noise
            .iter()
            .map(|level| {
                let value = value(level);
                if value < cut { 0 } else { level_byte(smaller(value * 255.0, 255.0)) }
            })
            .collect();
        watery(image, &layer, &relief(&layer, width), strength as f32)
    }

    fn dose(&self) -> Dose {
        self.0.dose
    }
}

fn muddy(image: &Image, mask: &[u16]) -> Image {
    let mut rgb = image.rgb().to_vec();
    let (pixels, _) = rgb.as_chunks_mut::<3>();
    for (pixel, &mask) in pixels.iter_mut().zip(mask) {
        let share = f32::from(mask) / 32640.0;
        if share >= THIN {
            let share = smaller(share, 1.0);
            for (level, mud) in pixel.iter_mut().zip(MUD) {
                *level = level_byte(f32::from(*level) + share * (mud - f32::from(*level)));
            }
        }
    }
    with_rgb(image, rgb)
}

/// Drops are as bright as the noise is high, most where their relief faces the light.
fn watery(image: &Image, layer: &[u8], relief: &Relief, strength: f32) -> Image {
    let lights = layer.iter().zip(&relief.0);
    let lights: Vec<u16> =
        lights.map(|(&level, &relief)| u16::from(level) * u16::from(relief)).collect();
    let max = lights.iter().copied().max().unwrap_or(0).max(1);
    let scale = 65535.0 * strength / f32::from(max);
    let width = image.width();
    let tint = WATER.repeat(width);
    let mut glow = vec![0u16; 3 * width];
    let mut rgb = image.rgb().to_vec();
    for (row, lights) in rgb.chunks_exact_mut(3 * width).zip(lights.chunks_exact(width)) {
        let (pixels, _) = glow.as_chunks_mut::<3>();
        for (glow, &light) in pixels.iter_mut().zip(lights) {
            *glow = [level_word(smaller(f32::from(light) * scale, 65535.0)); 3];
        }
        for ((level, &glow), &tint) in row.iter_mut().zip(&glow).zip(&tint) {
            *level = (u16::from(*level) + (weighed(glow, tint) >> 8)).min(255) as u8;
        }
    }
    with_rgb(image, rgb)
}
