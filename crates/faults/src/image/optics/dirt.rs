//! Dirt on the lens: the highest values of a fractal with bumps on it are covered, as many as make up
//! the wanted area.

use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Level, Points, SEVERITY, strength};
use crate::image::paint::cover::covered;
use crate::image::paint::pixels::with_rgb;
use crate::image::paint::plasma::Plasma;
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, SettingError, Settings, Stream,
};

described! {
    /// # What it does
    /// Covers part of the image with brown smears and specks, blurred because they are too close to
    /// focus on.
    /// # When it happens
    /// Dust, dried mud or insects on the lens.
    pub struct Dirt(Level<1>);
}

impl Fault for Dirt {
    const FACTS: Facts = Facts {
        name: "dirt",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "transparency", "part of")),
        parameters: &[
            SEVERITY,
            strength("share", "fraction of the area that is covered", 0.0, 1.0),
        ],
        domain: Some(Domain::together(&[Range::new("share", 0.0, 0.45)])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self(POINTS.level(settings)?))
    }
}

const POINTS: Points<1> =
    Points { names: ["share"], photo: [[0.03], [0.08], [0.16], [0.28], [0.45]], small: None };

const SPECKS: usize = 130;

/// Lumps that a speck is made of.
const LUMPS: usize = 4;

/// Dry earth.
const EARTH: [f32; 3] = [88.0, 68.0, 47.0];

/// What is seen through the thickest dirt.
const LET_THROUGH: f32 = 0.08;

impl ImageFault for Dirt {
    fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        let [width, height] = [image.width(), image.height()];
        let (smears, grains) = layers(width, height, stream);
        let dirt = covered(&smears, self.0.numbers[0], 0.045);
        let (pixels, _) = image.rgb().as_chunks::<3>();
        let mut rgb = Vec::with_capacity(image.rgb().len());
        for ((pixel, &dirt), &grain) in pixels.iter().zip(&dirt).zip(&grains) {
            let opaque = (1.0 - LET_THROUGH) * dirt;
            rgb.extend_from_slice(&[0, 1, 2].map(|channel| {
                let level = f32::from(pixel[channel]);
                (level + opaque * (EARTH[channel] * (0.55 + 0.9 * grain) - level)) as i32 as u8
            }));
        }
        with_rgb(image, rgb)
    }

    fn dose(&self) -> Dose {
        self.0.dose
    }
}

/// Where dirt settles first, and how light it is.
fn layers(width: usize, height: usize, stream: &mut Stream) -> (Vec<f32>, Vec<f32>) {
    let longer = width.max(height);
    let [smears, grains] = [1.4, 1.25].map(|decay| {
        let plasma = Plasma::new(longer, decay, stream);
        let mut all = Vec::with_capacity(width * height);
        for y in 0..height {
            all.extend_from_slice(&plasma.row(y, width));
        }
        all
    });
    // Smears with ragged rims; they stay below specks, which are the last to be wiped off.
    let mut smears: Vec<f32> =
        smears.iter().zip(&grains).map(|(smear, grain)| 0.42 * smear + 0.33 * grain).collect();
    for _ in 0..SPECKS {
        let [x, y] = [width, height].map(|n| stream.uniform() * n as f64);
        let small = stream.uniform();
        let radius = (longer as f64 * (0.003 + 0.022 * small * small * small)).max(0.7) as f32;
        let thick = stream.between(0.2, 0.45) as f32;
        // Several lumps make a crumb: nothing round falls from the road.
        for _ in 0..LUMPS {
            let at = [x, y].map(|at| at as f32 + stream.between(-0.8, 0.8) as f32 * radius);
            let radius = radius * stream.between(0.35, 0.8) as f32;
            speck(&mut smears, &grains, width, &Speck { at, radius, thick });
        }
    }
    (smears, grains)
}

/// A bump that dirt gathers on.
struct Speck {
    at: [f32; 2],
    radius: f32,
    thick: f32,
}

/// Raises the values on a bump, whose rim is as ragged as the grain.
fn speck(values: &mut [f32], grains: &[f32], width: usize, speck: &Speck) {
    let height = values.len() / width;
    let Speck { at: [x, y], radius, thick } = *speck;
    for row in reach(y, radius, height) {
        for column in reach(x, radius, width) {
            let [across, down] = [column as f32 + 0.5 - x, row as f32 + 0.5 - y];
            let off = (across * across + down * down) / (radius * radius);
            let at = row * width + column;
            let ragged = 0.15 + 1.4 * grains[at] * grains[at];
            values[at] = (values[at] + thick * (1.0 - ragged * off).max(0.0)).min(1.0);
        }
    }
}

/// The pixels of a row or column of `n` that a speck may touch.
fn reach(at: f32, radius: f32, n: usize) -> std::ops::Range<usize> {
    let first = (at - 2.0 * radius).max(0.0) as usize;
    let end = (at + 2.0 * radius + 1.0).max(0.0) as usize;
    first.min(n)..end.min(n)
}
