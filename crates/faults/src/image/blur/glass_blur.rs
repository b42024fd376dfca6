//! Frosted glass (`glass_blur` of ImageNet-C): a Gaussian, local pixel swaps, and a Gaussian again.

use crate::doc::described;
use crate::image::facts::{Domain, Facts, Range};
use crate::image::fault::Fault;
use crate::image::level::{Level, Points, SEVERITY, TABLE, strength};
use crate::image::paint::edge::Edge;
use crate::image::paint::pixels::with_rgb;
use crate::image::paint::smooth::{MAX_DEVIATION, blurred};
use faultlens_core::{
    Dose, Hazard, HazardLocation, Image, ImageFault, Seed, SettingError, Settings, Stream,
};

described! {
    /// # What it does
    /// Blurs the image, swaps in the value of a random neighbour for every pixel, and blurs again.
    /// # When it happens
    /// Frosted or scratched glass, a shower door, a worn lens cover.
    pub struct GlassBlur(Level<3>);
}

impl Fault for GlassBlur {
    const FACTS: Facts = Facts {
        name: "glass_blur",
        doc: Self::DOC,
        hazard: Some(Hazard::new(HazardLocation::Observer, "transparency", "other than")),
        parameters: &[
            SEVERITY,
            TABLE,
            strength("deviation", "standard deviation of the blur, in pixels", 0.0, MAX_DEVIATION),
            strength(
                "reach",
                "largest distance of the pixel that is swapped in, in pixels",
                1.0,
                100.0,
            ),
            strength("passes", "number of passes over all pixels", 1.0, 20.0),
        ],
        domain: Some(Domain::together(&[
            Range::new("deviation", 0.0, 1.5),
            Range::whole("reach", 1.0, 4.0),
            Range::whole("passes", 1.0, 2.0),
        ])),
        ..Facts::DEFAULT
    };

    fn build(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self(POINTS.level(settings)?))
    }
}

const POINTS: Points<3> = Points {
    names: ["deviation", "reach", "passes"],
    photo: [[0.7, 1.0, 2.0], [0.9, 2.0, 1.0], [1.0, 2.0, 3.0], [1.1, 3.0, 2.0], [1.5, 4.0, 2.0]],
    small: Some([
        [0.05, 1.0, 1.0],
        [0.25, 1.0, 1.0],
        [0.4, 1.0, 1.0],
        [0.25, 1.0, 2.0],
        [0.4, 1.0, 2.0],
    ]),
};

impl ImageFault for GlassBlur {
    fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        let [deviation, reach, passes] = self.0.numbers;
        let mut rgb = blurred(image, deviation, Edge::Repeat).rgb().to_vec();
        let (pixels, _) = rgb.as_chunks_mut::<3>();
        for _ in 0..passes as usize {
            shuffle(pixels, image.width(), reach as usize, Seed::new(stream.next_u64()));
        }
        blurred(&with_rgb(image, rgb), deviation, Edge::Repeat)
    }

    fn dose(&self) -> Dose {
        self.0.dose
    }
}

/// From the lower right to the upper left, every pixel away from the edges takes the value of one
/// within reach, which may have changed already: values travel.
fn shuffle(pixels: &mut [[u8; 3]], width: usize, reach: usize, seed: Seed) {
    let height = pixels.len() / width;
    let span = 2 * reach as u32;
    let mut words = (0..).flat_map(|block| seed.block(block));
    for y in (reach + 1..(height + 1).saturating_sub(reach)).rev() {
        for x in (reach + 1..(width + 1).saturating_sub(reach)).rev() {
            // Two offsets from one word; the bias of so few values in sixteen bits is out of sight.
            let word = words.next().unwrap_or(0);
            let from_x = x + (((word & 0xffff) * span) >> 16) as usize - reach;
            let from_y = y + (((word >> 16) * span) >> 16) as usize - reach;
            pixels[y * width + x] = pixels[from_y * width + from_x];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_from_within_reach() {
        let width = 40;
        let height = 30;
        let reach = 3;
        let mut pixels: Vec<[u8; 3]> =
            (0..width * height).map(|at| [(at % width) as u8, (at / width) as u8, 0]).collect();
        let before = pixels.clone();
        shuffle(&mut pixels, width, reach, Seed::new(1));
        for (at, (pixel, old)) in pixels.iter().zip(&before).enumerate() {
            let x = at % width;
            let y = at / width;
            let inner = (4..=37).contains(&x) && (4..=27).contains(&y);
            if !inner {
                assert_eq!(pixel, old);
            }
            assert!(usize::from(pixel[0]) < width && usize::from(pixel[1]) < height);
        }
        assert!(pixels.iter().zip(&before).filter(|(now, old)| now != old).count() > 600);
        for tiny in 1..9 {
            shuffle(&mut vec![[0; 3]; tiny * 5], tiny, 4, Seed::new(1));
        }
    }
}
