//! An outline, kept small: what is needed of a mask to cut its object out later.

use faultlens_core::{Bounds, Image, Mask};

/// The part of a mask inside the box around its pixels, eight pixels to a byte. Of a data set's
/// objects all outlines are known before it is clear which are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
    pixels: usize,
    bits: Vec<u8>,
}

impl Stamp {
    /// The outline of a mask; `None` where it has no pixel.
    pub fn of(mask: &Mask) -> Option<Self> {
        let b = mask.bounds()?;
        let [left, top, right, bottom] =
            [b.left, b.top, b.right, b.bottom].map(|side| side as usize);
        let width = right - left;
        let height = bottom - top;
        let mut bits = vec![0; (width * height).div_ceil(8)];
        let mut pixels = 0;
        for at in 0..width * height {
            let x = left + at % width;
            let y = top + at / width;
            if mask.bits()[y * mask.width() + x] {
                bits[at / 8] |= 1 << (at % 8);
                pixels += 1;
            }
        }
        Some(Self { left, top, width, height, pixels, bits })
    }

    /// How many pixels belong to the object.
    pub fn pixels(&self) -> usize {
        self.pixels
    }

    /// The box around them.
    pub fn bounds(&self) -> Bounds {
        let left = self.left as f32;
        let top = self.top as f32;
        let right = (self.left + self.width) as f32;
        let bottom = (self.top + self.height) as f32;
        Bounds { left, top, right, bottom }
    }

    /// The box of the image, and its object as transparency; `None` where the box reaches beyond
    /// the image.
    pub fn cut(&self, image: &Image) -> Option<(Image, Vec<u8>)> {
        if self.left + self.width > image.width() || self.top + self.height > image.height() {
            return None;
        }
        let mut rgb = Vec::with_capacity(self.width * self.height * 3);
        for y in self.top..self.top + self.height {
            let start = (y * image.width() + self.left) * 3;
            rgb.extend_from_slice(&image.rgb()[start..start + self.width * 3]);
        }
        let alpha = (0..self.width * self.height)
            .map(|at| if self.bits[at / 8] >> (at % 8) & 1 == 1 { 255 } else { 0 })
            .collect();
        Image::from_rgb(self.width, self.height, rgb).ok().map(|cut| (cut, alpha))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_box_is_cut_and_the_outline_is_transparency() {
        // 5×3 pixels; the object is a corner of three.
        let mut bits = vec![false; 15];
        for at in [6, 7, 12] {
            bits[at] = true;
        }
        let stamp = Stamp::of(&Mask::new(5, bits).unwrap()).unwrap();
        let image = Image::from_rgb(5, 3, (0..45).collect()).unwrap();
        let (cut, alpha) = stamp.cut(&image).unwrap();
        assert_eq!((cut.width(), cut.height(), stamp.pixels()), (2, 2, 3));
        assert_eq!(cut.rgb(), [18, 19, 20, 21, 22, 23, 33, 34, 35, 36, 37, 38]);
        assert_eq!(alpha, [255, 255, 0, 255]);
        let bounds = Bounds { left: 1.0, top: 1.0, right: 3.0, bottom: 3.0 };
        assert_eq!(stamp.bounds(), bounds);
        // Another image than the mask's.
        assert!(stamp.cut(&Image::from_rgb(2, 3, vec![0; 18]).unwrap()).is_none());
        assert!(Stamp::of(&Mask::new(5, vec![false; 15]).unwrap()).is_none());
    }
}
