//! A cracked lens.

use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Level, Points, SEVERITY, strength};
use crate::image::paint::pixels::with_rgb;
use crate::image::paint::stroke::{Opacity, Stroke};
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, SettingError, Settings, Stream,
};

described! {
    /// # What it does
    /// Draws cracks that run outwards from a random point of impact, and shorter cracks between
    /// them. Every crack glints on one side and casts a shadow on the other.
    /// # When it happens
    /// A stone, or a fall.
    pub struct BrokenLens(Level<2>);
}

impl Fault for BrokenLens {
    const FACTS: Facts = Facts {
        name: "broken_lens",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "lens", "part of")),
        parameters: &[
            SEVERITY,
            strength("cracks", "number of cracks from the impact", 1.0, 100.0),
            strength("reach", "length of the cracks, as a fraction of the longer side", 0.0, 2.0),
        ],
        domain: Some(Domain::together(&[
            Range::whole("cracks", 1.0, 20.0),
            Range::new("reach", 0.0, 1.3),
        ])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self(POINTS.level(settings)?))
    }
}

const POINTS: Points<2> = Points {
    names: ["cracks", "reach"],
    photo: [[5.0, 0.25], [7.0, 0.4], [10.0, 0.6], [14.0, 0.9], [20.0, 1.3]],
    small: None,
};

/// The glass that splinters at the impact, in shares of the longer side.
const SPLINTERED: f64 = 0.02;

impl ImageFault for BrokenLens {
    fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        let [width, height] = [image.width(), image.height()];
        let cracks = self.cracks(width, height, stream);
        let thick = (width.max(height) as f64 / 900.0).max(0.35) as f32;
        let [mut glint, mut shadow] = [0, 1].map(|_| Opacity::new(width, height));
        for crack in &cracks {
            glint.draw(&Stroke { radius: crack.radius * thick, ..*crack });
            // The shadow lies beside the crack.
            let [from, to] = [crack.from, crack.to].map(|point| point.map(|at| at + 1.6 * thick));
            shadow.draw(&Stroke { from, to, radius: 1.5 * crack.radius * thick, ..*crack });
        }
        let (pixels, _) = image.rgb().as_chunks::<3>();
        let mut rgb = Vec::with_capacity(image.rgb().len());
        for ((pixel, &glint), &shadow) in pixels.iter().zip(&glint.values).zip(&shadow.values) {
            let cracked = pixel.map(|level| {
                let dark = f32::from(level) * (1.0 - 0.65 * shadow);
                (dark + 0.85 * glint * (240.0 - dark)) as i32 as u8
            });
            rgb.extend_from_slice(&cracked);
        }
        with_rgb(image, rgb)
    }

    fn dose(&self) -> Dose {
        self.0.dose
    }
}

/// A crack as it runs on, as corners from the impact outwards.
type Path = Vec<[f64; 2]>;

impl BrokenLens {
    fn cracks(&self, width: usize, height: usize, stream: &mut Stream) -> Vec<Stroke> {
        let [count, reach] = self.0.numbers;
        let longer = width.max(height) as f64;
        let impact = [width, height].map(|n| n as f64 * stream.between(0.25, 0.75));
        let turn = stream.between(0.0, 360.0);
        let count = count as usize;
        let paths: Vec<Path> = (0..count)
            .map(|at| {
                let angle = turn + 360.0 * (at as f64 + stream.between(-0.3, 0.3)) / count as f64;
                let length = longer * reach * stream.between(0.5, 1.0);
                path(impact, angle, length, longer / 28.0, stream)
            })
            .collect();
        let mut strokes = Vec::new();
        for path in &paths {
            let last = path.len().max(2) as f32 - 1.0;
            for (at, ends) in path.windows(2).enumerate() {
                // Cracks get thinner and fainter outwards.
                let [near, far] = [at, at + 1].map(|at| 1.0 - 0.6 * at as f32 / last);
                strokes.push(stroke(ends[0], ends[1], near, [near, far]));
            }
        }
        joints(&paths, &mut strokes, stream);
        for _ in 0..10 * count {
            // Small splinters all around the impact.
            let [from, to] = [0, 1].map(|_| {
                let far = longer * SPLINTERED * stream.gaussian();
                let radians = stream.between(0.0, 180.0).to_radians();
                [impact[0] + far * libm::cos(radians), impact[1] + far * libm::sin(radians)]
            });
            strokes.push(stroke(from, to, 0.5, [0.45; 2]));
        }
        strokes
    }
}

fn path(from: [f64; 2], angle: f64, length: f64, step: f64, stream: &mut Stream) -> Path {
    let mut at = from;
    let mut angle = angle;
    let mut run = 0.0;
    let mut path = vec![at];
    while run < length {
        let radians = angle.to_radians();
        let step = step * stream.between(0.5, 1.5);
        at = [at[0] + step * libm::cos(radians), at[1] + step * libm::sin(radians)];
        angle += stream.between(-11.0, 11.0);
        run += step;
        path.push(at);
    }
    path
}

/// Cracks across, from one that runs outwards to the next: near the impact most of them.
fn joints(paths: &[Path], strokes: &mut Vec<Stroke>, stream: &mut Stream) {
    for (at, path) in paths.iter().enumerate() {
        let next = &paths[(at + 1) % paths.len()];
        let mut corner = 1;
        while corner < path.len().min(next.len()) {
            let other = (corner + stream.below(2)).min(next.len() - 1);
            if stream.chance(0.75) {
                let [a, b] = [path[corner], next[other]];
                let sag = stream.between(-0.12, 0.12);
                let across = [b[0] - a[0], b[1] - a[1]];
                let middle = [0, 1].map(|i| (a[i] + b[i]) / 2.0 + sag * across[1 - i]);
                strokes.push(stroke(a, middle, 0.6, [0.75, 0.5]));
                strokes.push(stroke(middle, b, 0.6, [0.5, 0.75]));
            }
            corner += 1 + corner / 2 + stream.below(3);
        }
    }
}

fn stroke(from: [f64; 2], to: [f64; 2], radius: f32, opacity: [f32; 2]) -> Stroke {
    let [from, to] = [from, to].map(|point| point.map(|at| at as f32));
    Stroke { from, to, radius, opacity }
}
