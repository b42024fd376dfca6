//! Condensed water on the lens: drops are placed by random sequential adsorption, large ones first, and
//! shaded as small lenses. The blend follows the mask of the mlaas-fi study.

use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Level, Points, SEVERITY, strength};
use crate::image::paint::pixels::with_rgb;
use crate::image::paint::plasma::Plasma;
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, SettingError, Settings, Stream,
};

described! {
    /// # What it does
    /// Blends the image with a mask of droplets on fogged glass. `blend: 0.4` is the value of the
    /// published experiments with cloud services.
    /// # When it happens
    /// A cold camera in warm, humid air.
    pub struct Condensation(Level<1>);
}

impl Fault for Condensation {
    const FACTS: Facts = Facts {
        name: "condensation",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "transparency", "as well as")),
        parameters: &[SEVERITY, strength("blend", "weight of the mask", 0.0, 1.0)],
        domain: Some(Domain::together(&[Range::new("blend", 0.0, 0.7)])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self(POINTS.level(settings)?))
    }
}

const POINTS: Points<1> =
    Points { names: ["blend"], photo: [[0.15], [0.25], [0.4], [0.55], [0.7]], small: None };

/// How many places are tried for a drop; most are taken already in the end.
const TRIES: usize = 2600;

/// Radii of the largest and the smallest drops, in shares of the longer side, and in pixels for
/// images that are too small to show such drops.
const LARGEST: f64 = 0.034;
const SMALLEST: f64 = 0.0035;
const LARGEST_PIXELS: f64 = 4.5;
const SMALLEST_PIXELS: f64 = 0.9;

/// Colour of the mask at brightness one: a little blue.
const TINT: [f32; 3] = [0.96, 0.99, 1.0];

impl ImageFault for Condensation {
    fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        let blend = self.0.numbers[0] as f32;
        let mask = Glass::new(image.width(), image.height(), stream);
        let (pixels, _) = image.rgb().as_chunks::<3>();
        let mut rgb = Vec::with_capacity(image.rgb().len());
        for (pixel, &bright) in pixels.iter().zip(&mask.bright) {
            rgb.extend_from_slice(&[0, 1, 2].map(|channel| {
                let level = f32::from(pixel[channel]);
                (level + blend * (bright * TINT[channel] - level)) as i32 as u8
            }));
        }
        with_rgb(image, rgb)
    }

    fn dose(&self) -> Dose {
        self.0.dose
    }
}

/// A fogged glass with drops on it.
struct Glass {
    width: usize,
    height: usize,
    bright: Vec<f32>,
    wet: Vec<bool>,
}

struct Drop {
    at: [f32; 2],
    radius: f32,
    /// Height over width: drops sag a little.
    sag: f32,
}

impl Glass {
    fn new(width: usize, height: usize, stream: &mut Stream) -> Self {
        let longer = width.max(height);
        let fog = Plasma::new(longer, 1.9, stream);
        let mut bright = Vec::with_capacity(width * height);
        for y in 0..height {
            bright.extend(fog.row(y, width).iter().map(|fog| 150.0 + 60.0 * fog));
        }
        let mut glass = Self { width, height, bright, wet: vec![false; width * height] };
        let largest = (longer as f64 * LARGEST).max(LARGEST_PIXELS);
        for at in 0..TRIES {
            // From large to small, so that small ones fill the gaps.
            let share = libm::pow(SMALLEST / LARGEST, libm::sqrt(at as f64 / TRIES as f64));
            let radius = largest * share * stream.between(0.6, 1.1);
            if radius < SMALLEST_PIXELS {
                break;
            }
            let place = [width, height].map(|n| (n as f64 * stream.between(-0.02, 1.02)) as f32);
            let sag = stream.between(0.95, 1.2) as f32;
            let drop = Drop { at: place, radius: radius as f32, sag };
            if glass.is_free(&drop) {
                glass.wet(&drop);
            }
        }
        glass
    }

    /// Whether the middle and four points of the rim are dry.
    fn is_free(&self, drop: &Drop) -> bool {
        let reach = 0.9 * drop.radius;
        let points = [[0.0, 0.0], [reach, 0.0], [-reach, 0.0], [0.0, reach], [0.0, -reach]];
        points.iter().all(|[x, y]| {
            let [x, y] = [drop.at[0] + x, drop.at[1] + y * drop.sag];
            let outside =
                x < 0.0 || y < 0.0 || x as usize >= self.width || y as usize >= self.height;
            outside || !self.wet[y as usize * self.width + x as usize]
        })
    }

    /// A drop is a small lens: its rim is dark, the sky stands at its lower side, and a light
    /// glints at its upper left.
    fn wet(&mut self, drop: &Drop) {
        let [x, y] = drop.at;
        let tall = drop.radius * drop.sag;
        for row in reach(y, tall, self.height) {
            for column in reach(x, drop.radius, self.width) {
                let across = (column as f32 + 0.5 - x) / drop.radius;
                let down = (row as f32 + 0.5 - y) / tall;
                let off = (across * across + down * down).sqrt();
                let cover = ((1.0 - off) * drop.radius + 0.5).clamp(0.0, 1.0);
                if cover <= 0.0 {
                    continue;
                }
                let glint = [across + 0.33, down + 0.4];
                let glint =
                    (1.0 - 5.0 * (glint[0] * glint[0] + glint[1] * glint[1]).sqrt()).max(0.0);
                let rim = ((off - 0.72) / 0.28).clamp(0.0, 1.0);
                let sky = (0.35 * across + 0.75 * down) * off;
                let inside = 118.0 + 95.0 * sky - 70.0 * rim * (0.6 - 0.5 * down) + 190.0 * glint;
                let at = row * self.width + column;
                self.bright[at] += cover * (inside.clamp(20.0, 255.0) - self.bright[at]);
                self.wet[at] = true;
            }
        }
    }
}

/// The pixels of a row or column of `n` that a drop of this radius may touch.
fn reach(at: f32, radius: f32, n: usize) -> std::ops::Range<usize> {
    let first = (at - radius).max(0.0) as usize;
    let end = (at + radius + 2.0).max(0.0) as usize;
    first.min(n)..end.min(n)
}
