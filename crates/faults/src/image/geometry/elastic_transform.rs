//! Elastic displacement (`elastic_transform` of ImageNet-C; Simard, Steinkraus and Platt 2003): uniform
//! noise under a Gaussian moves every pixel.

use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Level, Points, SEVERITY, strength};
use crate::image::paint::edge::Edge;
use crate::image::paint::grain::levels;
use crate::image::paint::resample::{Fill, moved};
use crate::image::paint::round::{larger, smaller};
use crate::image::paint::smooth::{Gaussian, MAX_DEVIATION};
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, Motion, SettingError, Settings, Stream,
};

described! {
    /// # What it does
    /// Displaces every pixel by a smooth random field, by a few pixels at most.
    /// # When it happens
    /// Heat haze, a rolling shutter on a shaking mount, a picture printed on paper or cloth.
    pub struct ElasticTransform(Level<1>);
}

impl Fault for ElasticTransform {
    const FACTS: Facts = Facts {
        name: "elastic_transform",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Medium, "refraction", "spatial aperiodic")),
        moves: true,
        parameters: &[
            SEVERITY,
            strength("amount", "how far pixels move; 10 is about one pixel", 0.0, 1000.0),
        ],
        domain: Some(Domain::together(&[Range::new("amount", 0.0, 30.0)])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self(POINTS.level(settings)?))
    }
}

const POINTS: Points<1> =
    Points { names: ["amount"], photo: [[12.5], [16.25], [21.25], [25.0], [30.0]], small: None };

/// The field before it is smoothed: from 0 to this, the middle standing for no movement.
const RANGE: u16 = 32_000;

impl ElasticTransform {
    /// How far every pixel is from where its content was, in one direction.
    fn offsets(&self, width: usize, height: usize, stream: &mut Stream) -> Vec<f32> {
        let rough = levels(width * height, RANGE, stream);
        let deviations = [width, height].map(|n| (0.01 * n as f64).min(MAX_DEVIATION));
        let gaussian = Gaussian { deviations, cut: 3.0, edge: Edge::Reflect };
        let smooth = gaussian.smoothed(rough, width, 1);
        let max = 0.005 * height as f64 * self.0.numbers[0];
        let scale = (2.0 * max / f64::from(RANGE)) as f32;
        smooth.iter().map(|&level| (f32::from(level) - f32::from(RANGE / 2)) * scale).collect()
    }

    fn field(&self, width: usize, height: usize, stream: &mut Stream) -> Motion {
        let across = self.offsets(width, height, stream);
        let down = self.offsets(width, height, stream);
        let mut points = vec![[0.0; 2]; width * height];
        let rows = points.chunks_exact_mut(width).zip(across.chunks_exact(width));
        for (y, ((points, across), down)) in rows.zip(down.chunks_exact(width)).enumerate() {
            let row = y as f32 + 0.5;
            for (x, ((point, across), down)) in points.iter_mut().zip(across).zip(down).enumerate()
            {
                let column = x as u32 as f32 + 0.5;
                *point = [fold(column + across, width as f32), fold(row + down, height as f32)];
            }
        }
        Motion::Field { width, points }
    }
}

/// A place beyond an edge, folded back inside: what a mirror shows is where it is. A small image
/// may be moved by several times its length.
fn fold(at: f32, length: f32) -> f32 {
    let once = at.abs();
    let at = if once > 2.0 * length { once.rem_euclid(2.0 * length) } else { once };
    let at = if at > length { 2.0 * length - at } else { at };
    smaller(larger(at, 0.0), length - 1e-3)
}

impl ImageFault for ElasticTransform {
    fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        let field = self.field(image.width(), image.height(), stream);
        moved(image, &field, Fill::Beyond(Edge::Reflect))
    }

    fn dose(&self) -> Dose {
        self.0.dose
    }

    fn motion(&self, width: usize, height: usize, stream: &mut Stream) -> Option<Motion> {
        Some(self.field(width, height, stream))
    }
}
