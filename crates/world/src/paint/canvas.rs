//! Where colours come together.

use super::{Coverage, Rgb, mix};
use faultlens_core::Image;

/// A picture in the making: colours as numbers, so that light and noise do not round.
#[derive(Debug, Clone, PartialEq)]
pub struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<Rgb>,
}

impl Canvas {
    /// A black canvas; at least one pixel each way.
    pub fn new(width: usize, height: usize) -> Self {
        let width = width.max(1);
        let height = height.max(1);
        Self { width, height, pixels: vec![[0.0; 3]; width * height] }
    }

    /// The colours of an image, to draw on.
    pub fn from_image(image: &Image) -> Self {
        let mut canvas = Self::new(image.width(), image.height());
        for (pixel, rgb) in canvas.pixels.iter_mut().zip(image.rgb().chunks_exact(3)) {
            *pixel = std::array::from_fn(|c| f32::from(rgb[c]) / 255.0);
        }
        canvas
    }

    /// Columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// The colour of a pixel.
    pub fn at(&self, x: usize, y: usize) -> Rgb {
        self.pixels[y * self.width + x]
    }

    /// Changes the colour of every pixel by its column, row and colour so far.
    pub fn each(&mut self, change: impl FnMut(usize, usize, Rgb) -> Rgb) {
        self.each_above(self.height, change);
    }

    /// Changes the colours of the rows above one, the upper part of the picture.
    pub fn each_above(&mut self, bottom: usize, mut change: impl FnMut(usize, usize, Rgb) -> Rgb) {
        for (y, row) in self.pixels.chunks_exact_mut(self.width).enumerate().take(bottom) {
            for (x, pixel) in row.iter_mut().enumerate() {
                *pixel = change(x, y, *pixel);
            }
        }
    }

    /// Lays a colour over a pixel, covering `part` of it; does nothing outside the canvas.
    pub fn blend(&mut self, x: usize, y: usize, colour: Rgb, part: f32) {
        if x < self.width && y < self.height {
            let pixel = &mut self.pixels[y * self.width + x];
            *pixel = mix(*pixel, colour, part);
        }
    }

    /// Fills what is covered with one colour.
    pub fn fill(&mut self, coverage: &Coverage, colour: Rgb) {
        for (x, y, part) in coverage.pixels() {
            self.blend(x, y, colour, part);
        }
    }

    /// Adds a soft halo about a centre, as a lamp makes in the air and in the lens.
    pub fn halo(&mut self, centre: [f32; 2], radius: f32, colour: Rgb, strength: f32) {
        let reach = |c: f32, side: usize| {
            let side = side as f32;
            let first = (c - radius).floor().clamp(0.0, side) as usize;
            first..(c + radius).ceil().clamp(0.0, side) as usize
        };
        for y in reach(centre[1], self.height) {
            for x in reach(centre[0], self.width) {
                let dx = x as f32 + 0.5 - centre[0];
                let dy = y as f32 + 0.5 - centre[1];
                let falloff = (1.0 - (dx * dx + dy * dy) / (radius * radius)).max(0.0);
                let added = strength * falloff * falloff;
                let pixel = &mut self.pixels[y * self.width + x];
                *pixel = std::array::from_fn(|c| pixel[c] + colour[c] * added);
            }
        }
    }

    /// The same picture at another size, colours in between by weight of their neighbours.
    pub fn resized(&self, width: usize, height: usize) -> Self {
        let mut out = Self::new(width, height);
        let step = |from: usize, to: usize, i: usize| {
            let at = (i as f32 + 0.5) * from as f32 / to as f32 - 0.5;
            let at = at.clamp(0.0, (from - 1) as f32);
            let low = at as usize;
            (low, (low + 1).min(from - 1), at - low as f32)
        };
        let tw = out.width;
        let th = out.height;
        out.each(|x, y, _| {
            let (x0, x1, fx) = step(self.width, tw, x);
            let (y0, y1, fy) = step(self.height, th, y);
            let row = |y| mix(self.at(x0, y), self.at(x1, y), fx);
            mix(row(y0), row(y1), fy)
        });
        out
    }

    /// The picture in 8 bits.
    pub fn image(&self) -> Image {
        let channels = self.pixels.iter().flatten();
        let rgb = channels.map(|c| (c.clamp(0.0, 1.0) * 255.0 + 0.5) as u8).collect();
        Image::from_rgb(self.width, self.height, rgb)
            .expect("a canvas has a byte for every channel")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paint::Path;

    #[test]
    fn an_image_comes_back_as_it_went_in() {
        let image = Image::from_rgb(16, 16, (0..=255).cycle().take(768).collect()).unwrap();
        assert_eq!(Canvas::from_image(&image).image(), image);
        assert_eq!(Canvas::from_image(&image).resized(16, 16).image(), image);
    }

    #[test]
    fn fills_blend_at_edges() {
        let mut canvas = Canvas::new(4, 1);
        canvas.fill(&Coverage::of(&Path::rect(0.5, 0.0, 2.0, 1.0), 4, 1), [1.0, 0.5, 0.0]);
        let reds: Vec<f32> = (0..4).map(|x| canvas.at(x, 0)[0]).collect();
        assert_eq!(reds, [0.5, 1.0, 0.0, 0.0]);
    }
}
