//! Snow (`snow` of ImageNet-C): thresholded Gaussian noise, magnified and smeared by a motion blur.

use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Level, Points, SEVERITY, TABLE, strength};
use crate::image::paint::grain::{DEVIATION, MEAN, normals};
use crate::image::paint::pixels::{FULL_SCALE, with_rgb};
use crate::image::paint::round::{larger, level_byte, level_word, smaller};
use crate::image::paint::streak::Streak;
use crate::image::paint::zoom::{Step, Zoom};
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, SettingError, Settings, Stream,
};

described! {
    /// # What it does
    /// Draws falling flakes and makes the scene whiter and paler. Flakes are specks of magnified
    /// noise, smeared in one direction.
    /// # When it happens
    /// Falling snow.
    pub struct Snow(Level<7>);
}

impl Fault for Snow {
    const FACTS: Facts = Facts {
        name: "snow",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Medium, "particles", "more")),
        parameters: &[
            SEVERITY,
            TABLE,
            strength("amount", "mean of the noise that flakes are cut from", 0.0, 1.0),
            strength("spread", "standard deviation of that noise", 0.0, 1.0),
            strength("size", "magnification of the noise: the size of flakes", 1.0, 50.0),
            strength("cut", "noise below this makes no flake", 0.0, 1.0),
            strength("fall", "half the length of a flake's streak, in pixels", 0.0, 200.0),
            strength("fade", "how slowly the streak fades, in pixels", 0.1, 200.0),
            strength("kept", "weight of the scene's own colours", 0.0, 1.0),
        ],
        domain: Some(Domain::together(&[
            Range::new("amount", 0.0, 0.55),
            Range::new("spread", 0.0, 0.3),
            Range::new("size", 2.5, 2.5),
            Range::new("cut", 0.85, 0.85),
            Range::new("fall", 12.0, 12.0),
            Range::new("fade", 12.0, 12.0),
            Range::new("kept", 1.0, 0.55),
        ])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self(POINTS.level(settings)?))
    }
}

const POINTS: Points<7> = Points {
    names: ["amount", "spread", "size", "cut", "fall", "fade", "kept"],
    photo: [
        [0.1, 0.3, 3.0, 0.5, 10.0, 4.0, 0.8],
        [0.2, 0.3, 2.0, 0.5, 12.0, 4.0, 0.7],
        [0.55, 0.3, 4.0, 0.9, 12.0, 8.0, 0.7],
        [0.55, 0.3, 4.5, 0.85, 12.0, 8.0, 0.65],
        [0.55, 0.3, 2.5, 0.85, 12.0, 12.0, 0.55],
    ],
    small: Some([
        [0.1, 0.2, 1.0, 0.6, 8.0, 3.0, 0.95],
        [0.1, 0.2, 1.0, 0.5, 10.0, 4.0, 0.9],
        [0.15, 0.3, 1.75, 0.55, 10.0, 4.0, 0.9],
        [0.25, 0.3, 2.25, 0.6, 12.0, 6.0, 0.85],
        [0.3, 0.3, 1.25, 0.65, 14.0, 12.0, 0.8],
    ]),
};

impl ImageFault for Snow {
    fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        let [.., fall, fade, kept] = self.0.numbers;
        let flakes = self.flakes(image.width(), image.height(), stream);
        let streak = Streak::new(fall, fade, stream.between(-135.0, -45.0));
        let layer = streak.smear(&flakes, image.width(), 1);
        // Flakes fall before and behind each other: the layer, and the layer upside down.
        let layers = layer.iter().zip(layer.iter().rev());
        let kept = kept as f32;
        let (pixels, _) = image.rgb().as_chunks::<3>();
        let mut rgb = vec![0; image.rgb().len()];
        let (out, _) = rgb.as_chunks_mut::<3>();
        for ((out, &pixel), (&front, &back)) in out.iter_mut().zip(pixels).zip(layers) {
            let light = f32::from(level(front) + level(back));
            let [red, green, blue] = pixel.map(f32::from);
            let grey = 0.299 * red + 0.587 * green + 0.114 * blue;
            let pale = 1.5 * grey + 127.5;
            *out = [red, green, blue].map(|channel| {
                let paler = larger(channel, pale);
                level_byte(smaller(kept * channel + (1.0 - kept) * paler + light, 255.0))
            });
        }
        with_rgb(image, rgb)
    }

    fn dose(&self) -> Dose {
        self.0.dose
    }
}

/// The nearest grey level: the reference keeps its layer in bytes.
fn level(wide: u16) -> u16 {
    (wide.saturating_add(1 << (FULL_SCALE - 1)) >> FULL_SCALE).min(255)
}

impl Snow {
    /// Specks of magnified noise; only the part that is magnified into view is drawn.
    fn flakes(&self, width: usize, height: usize, stream: &mut Stream) -> Vec<u16> {
        let [amount, spread, size, cut, ..] = self.0.numbers;
        let [across, down] = [Zoom::new(width, size), Zoom::new(height, size)];
        let noise = normals(across.count * down.count, stream);
        let top = (255 << FULL_SCALE) as f32;
        let scale = top * spread as f32 / f32::from(DEVIATION);
        let base = top * amount as f32 - scale * f32::from(MEAN);
        let cut = top * cut as f32;
        let mut between = vec![0.0; across.count + 1];
        let mut flakes = vec![0; width * height];
        for (out, step) in flakes.chunks_exact_mut(width).zip(&down.steps) {
            let row = |at: usize| noise.get(at * across.count..(at + 1) * across.count);
            let Some(upper) = row(step.first) else { continue };
            let lower = row(step.first + 1).unwrap_or(upper);
            for ((out, &upper), &lower) in between.iter_mut().zip(upper).zip(lower) {
                let [upper, lower] = [upper, lower].map(f32::from);
                *out = base + scale * (upper + step.part * (lower - upper));
            }
            for (out, &Step { first, part }) in out.iter_mut().zip(&across.steps) {
                if let Some([left, right]) = between.get(first..first + 2) {
                    let value = left + part * (right - left);
                    *out = if value < cut { 0 } else { level_word(smaller(value, top)) };
                }
            }
        }
        flakes
    }
}
