//! A picture to put others and words on.

use std::ops::Range;

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
        self.write_in(INK, text, left, top, pixel);
    }

    /// Writes a line in a colour.
    pub(crate) fn write_in(
        &mut self,
        colour: [u8; 3],
        text: &str,
        left: usize,
        top: usize,
        pixel: usize,
    ) {
        for (x, y) in letters::pixels(text, pixel) {
            self.fill(colour, left + x..left + x + 1, top + y..top + y + 1);
        }
    }

    /// Fills columns and rows with a colour, as far as there are any.
    pub(crate) fn fill(&mut self, colour: [u8; 3], columns: Range<usize>, rows: Range<usize>) {
        let columns = columns.start.min(self.width)..columns.end.min(self.width);
        for y in rows.start..rows.end.min(self.height) {
            let row = &mut self.rgb[y * self.width * 3..][..self.width * 3];
            row.as_chunks_mut::<3>().0[columns.clone()].fill(colour);
        }
    }

    /// The picture.
    pub(crate) fn finish(self) -> anyhow::Result<Image> {
        Image::from_rgb(self.width, self.height, self.rgb).context("the sheet has no pixels")
    }
}
