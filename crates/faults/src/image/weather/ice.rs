//! Ice on the lens.

use super::frost::TINT;
use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Level, Points, SEVERITY, strength};
use crate::image::paint::cover::covered;
use crate::image::paint::crystals::Crystals;
use crate::image::paint::edge::Edge;
use crate::image::paint::pixels::with_rgb;
use crate::image::paint::plasma::Plasma;
use crate::image::paint::smooth::{MAX_DEVIATION, blurred};
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, SettingError, Settings, Stream,
};

described! {
    /// # What it does
    /// Covers part of the image with thick ice that grows inwards from the edges. The ice blurs
    /// what lies behind it and is full of white crystals.
    /// # When it happens
    /// Freezing rain, or a camera iced over.
    pub struct Ice(Level<1>);
}

impl Fault for Ice {
    const FACTS: Facts = Facts {
        name: "ice",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "transparency", "less")),
        parameters: &[
            SEVERITY,
            strength("share", "fraction of the area that is covered", 0.0, 1.0),
        ],
        domain: Some(Domain::together(&[Range::new("share", 0.0, 0.8)])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self(POINTS.level(settings)?))
    }
}

const POINTS: Points<1> =
    Points { names: ["share"], photo: [[0.12], [0.25], [0.42], [0.6], [0.8]], small: None };

/// Deviation of the blur behind the ice, in shares of the longer side.
const BLUR: f64 = 0.008;

impl ImageFault for Ice {
    fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        let [width, height] = [image.width(), image.height()];
        let longer = width.max(height);
        let crystals = Crystals::new(width, height, stream);
        let plasma = Plasma::new(longer, 1.42, stream);
        let ice = covered(&growth(width, height, &plasma), self.0.numbers[0], 0.012);
        let behind = blurred(image, (BLUR * longer as f64).min(MAX_DEVIATION), Edge::Reflect);
        let tint = TINT.map(|tint| tint as f32);
        let mut row = vec![0; width];
        let mut rgb = Vec::with_capacity(image.rgb().len());
        let pixels = image.rgb().as_chunks::<3>().0.chunks_exact(width);
        let behind = behind.rgb().as_chunks::<3>().0.chunks_exact(width);
        for (y, ((pixels, behind), ice)) in
            pixels.zip(behind).zip(ice.chunks_exact(width)).enumerate()
        {
            crystals.row(y, &mut row);
            for (((pixel, behind), &ice), &crystal) in pixels.iter().zip(behind).zip(ice).zip(&row)
            {
                // Clear ice is grey and dark, crystals are white.
                let white = f32::from(crystal);
                let opaque = (0.2 + 0.0055 * (white - 110.0)).clamp(0.2, 0.95);
                rgb.extend_from_slice(&[0, 1, 2].map(|channel| {
                    let level = f32::from(pixel[channel]);
                    let behind = f32::from(behind[channel]);
                    let iced = behind + opaque * ((20.0 + white) * tint[channel] - behind);
                    ((level + ice * (iced - level)) as i32).min(255) as u8
                }));
            }
        }
        with_rgb(image, rgb)
    }

    fn dose(&self) -> Dose {
        self.0.dose
    }
}

/// Where ice grows first: near the edges, in bays and tongues.
fn growth(width: usize, height: usize, plasma: &Plasma) -> Vec<f32> {
    // How far from the middle, from 0 there to 1 at the edge.
    let [columns, rows] = [width, height].map(|n| {
        let middle = n as f32 / 2.0;
        (0..n).map(|at| ((at as f32 + 0.5 - middle) / middle).abs()).collect::<Vec<f32>>()
    });
    let mut growth = Vec::with_capacity(width * height);
    for (at, y) in rows.iter().enumerate() {
        growth.extend(columns.iter().zip(&*plasma.row(at, width)).map(|(x, plasma)| {
            let edge = ((x * x * x * x + y * y * y * y) / 2.0).sqrt();
            0.6 * edge + 0.4 * plasma
        }));
    }
    growth
}
