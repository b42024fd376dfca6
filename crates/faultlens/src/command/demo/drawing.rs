//! Pictures drawn from a seed, and how a terminal shows them.

use faultlens::{Image, ImageError};

/// Both sides of every picture.
pub(super) const SIDE: usize = 32;
/// What stands between two pictures in a terminal.
pub(super) const GAP: &str = "    ";
/// How many pixels a stripe or a square of the checkerboard is wide.
const BAND: usize = 4;
const LIGHT: [u8; 3] = [230, 200, 60];
const DARK: [u8; 3] = [30, 60, 120];
/// The most that noise adds to or takes from a channel.
const NOISE: i16 = 20;

/// What a picture shows; the model's classes, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pattern {
    HorizontalStripes,
    VerticalStripes,
    Checkerboard,
    Disc,
}

impl Pattern {
    pub(super) const ALL: [Self; 4] =
        [Self::HorizontalStripes, Self::VerticalStripes, Self::Checkerboard, Self::Disc];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::HorizontalStripes => "horizontal stripes",
            Self::VerticalStripes => "vertical stripes",
            Self::Checkerboard => "checkerboard",
            Self::Disc => "disc",
        }
    }

    /// The picture of this pattern: the seed shifts it and adds noise.
    pub(super) fn draw(self, seed: u64) -> Result<Image, ImageError> {
        let mut noise = Noise(seed);
        let shift = noise.below(BAND * 2);
        let mut rgb = Vec::with_capacity(SIDE * SIDE * 3);
        for y in 0..SIDE {
            for x in 0..SIDE {
                let colour = if self.is_light(x, y, shift) { LIGHT } else { DARK };
                rgb.extend(colour.map(|channel| noise.on(channel)));
            }
        }
        Image::from_rgb(SIDE, SIDE, rgb)
    }

    fn is_light(self, x: usize, y: usize, shift: usize) -> bool {
        let band = |at: usize| (at + shift) / BAND;
        match self {
            Self::HorizontalStripes => band(y).is_multiple_of(2),
            Self::VerticalStripes => band(x).is_multiple_of(2),
            Self::Checkerboard => (band(x) + band(y)).is_multiple_of(2),
            Self::Disc => {
                let centre = (SIDE + shift - BAND) as f32 / 2.0;
                (x as f32 - centre).hypot(y as f32 - centre) < SIDE as f32 * 0.29
            }
        }
    }
}

/// The same random numbers on every machine (SplitMix64).
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn on(&mut self, channel: u8) -> u8 {
        let noise = self.below(2 * NOISE as usize + 1) as i16 - NOISE;
        (i16::from(channel) + noise).clamp(0, 255) as u8
    }
}

/// Pictures side by side in half-block characters, 2×2 pixels to a half.
pub(super) fn in_terminal(pictures: &[Image]) -> Vec<String> {
    let light = |picture: &Image, x: usize, y: usize| {
        picture.rgb()[(2 * y * picture.width() + 2 * x) * 3] > 127
    };
    let character = |picture: &Image, x: usize, row: usize| match (
        light(picture, x, 2 * row),
        light(picture, x, 2 * row + 1),
    ) {
        (true, true) => '█',
        (true, false) => '▀',
        (false, true) => '▄',
        (false, false) => ' ',
    };
    let line = |row: usize| {
        let part = |p: &Image| (0..SIDE / 2).map(|x| character(p, x, row)).collect::<String>();
        pictures.iter().map(part).collect::<Vec<_>>().join(GAP)
    };
    (0..SIDE / 4).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_picture_and_another_seed_another() {
        for pattern in Pattern::ALL {
            assert_eq!(pattern.draw(1).unwrap(), pattern.draw(1).unwrap());
            assert_ne!(pattern.draw(1).unwrap(), pattern.draw(2).unwrap());
        }
    }

    #[test]
    fn pictures_stand_side_by_side() {
        let pictures = [Pattern::Disc.draw(0).unwrap(), Pattern::Checkerboard.draw(0).unwrap()];
        let lines = in_terminal(&pictures);
        assert_eq!(lines.len(), 8);
        assert!(lines.iter().all(|line| line.chars().count() == 36));
    }
}
