//! Rain.

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
    /// Draws falling drops as bright streaks of one slant and veils the scene in grey. Near drops
    /// are long and clear, far ones short and faint.
    /// # When it happens
    /// Rain.
    pub struct Rain(Level<3>);
}

impl Fault for Rain {
    const FACTS: Facts = Facts {
        name: "rain",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Medium, "particles", "faster")),
        parameters: &[
            SEVERITY,
            strength("drops", "number of drops", 0.0, 100_000.0),
            strength(
                "length",
                "length of near streaks, as a fraction of the longer side",
                0.0,
                1.0,
            ),
            strength("haze", "weight of the grey veil", 0.0, 1.0),
        ],
        domain: Some(Domain::together(&[
            Range::whole("drops", 0.0, 1500.0),
            Range::new("length", 0.06, 0.16),
            Range::new("haze", 0.0, 0.35),
        ])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self(POINTS.level(settings)?))
    }
}

const POINTS: Points<3> = Points {
    names: ["drops", "length", "haze"],
    photo: [
        [150.0, 0.06, 0.05],
        [300.0, 0.08, 0.1],
        [550.0, 0.1, 0.17],
        [900.0, 0.13, 0.25],
        [1500.0, 0.16, 0.35],
    ],
    small: None,
};

/// Colours of drops and of the veil.
const DROP: [f32; 3] = [214.0, 220.0, 228.0];
const VEIL: [f32; 3] = [128.0, 134.0, 142.0];

impl ImageFault for Rain {
    fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        let [_, _, haze] = self.0.numbers;
        let streaks = self.streaks(image.width(), image.height(), stream);
        let haze = haze as f32;
        let (pixels, _) = image.rgb().as_chunks::<3>();
        let mut rgb = Vec::with_capacity(image.rgb().len());
        for (pixel, &streak) in pixels.iter().zip(&streaks.values) {
            rgb.extend_from_slice(&[0, 1, 2].map(|channel| {
                let level = f32::from(pixel[channel]);
                let veiled = level + haze * (VEIL[channel] - level);
                (veiled + streak * (DROP[channel] - veiled)) as i32 as u8
            }));
        }
        with_rgb(image, rgb)
    }

    fn dose(&self) -> Dose {
        self.0.dose
    }
}

impl Rain {
    fn streaks(&self, width: usize, height: usize, stream: &mut Stream) -> Opacity {
        let [drops, length, _] = self.0.numbers;
        let longer = width.max(height) as f64;
        let slant = stream.between(-20.0, 20.0);
        let mut opacity = Opacity::new(width, height);
        for _ in 0..drops as usize {
            // Near drops are few: most of the air is far away.
            let near = stream.uniform();
            let near = 0.2 + 0.8 * near * near * near;
            let radians = (slant + stream.between(-2.0, 2.0)).to_radians();
            let fall = longer * length * near * stream.between(0.7, 1.3);
            let x = stream.between(-0.1, 1.1) * width as f64;
            let y = stream.between(-0.1, 1.1) * height as f64;
            let clear = stream.between(0.3, 0.75) * (0.5 + 0.5 * near);
            let to = [x + fall * libm::sin(radians), y + fall * libm::cos(radians)];
            opacity.draw(&Stroke {
                from: [x, y].map(|at| at as f32),
                to: to.map(|at| at as f32),
                radius: (longer / 560.0 * near).max(0.3) as f32,
                // A drop leaves the streak at its lower end.
                opacity: [0.35 * clear as f32, clear as f32],
            });
        }
        opacity
    }
}
