//! A picture to put others and words on.

use anyhow::Context;
use faultlens::Image;

use super::letters;

/// Between pictures, and around them.
pub(crate) const GAP: usize = 8;
const BACK: [u8; 3] = [24, 27, 32];
const INK: [u8; 3] = [232, 235, 239];

/// A picture in the making.
pub(crate) struct Canvas {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
}

impl Canvas {
    /// A dark ground.
    pub(crate) fn new(width: usize, height: usize) -> Self {
        Self { width, height, rgb: BACK.repeat(width * height) }
    }

    /// Lays an image on it.
    pub(crate) fn show(&mut self, image: &Image, left: usize, top: usize) {
        for (y, row) in image.rgb().chunks(image.width() * 3).enumerate() {
            let start = ((top + y) * self.width + left) * 3;
            self.rgb[start..start + row.len()].copy_from_slice(row);
        }
    }

    /// Writes a line, each pixel of a letter so many wide.
    pub(crate) fn write(&mut self, text: &str, left: usize, top: usize, pixel: usize) {
        for (x, y) in letters::pixels(text, pixel) {
            let (x, y) = (left + x, top + y);
            if x < self.width && y < self.height {
                let at = (y * self.width + x) * 3;
                self.rgb[at..at + 3].copy_from_slice(&INK);
            }
        }
    }

    /// The picture.
    pub(crate) fn finish(self) -> anyhow::Result<Image> {
        Image::from_rgb(self.width, self.height, self.rgb).context("the sheet has no pixels")
    }
}
