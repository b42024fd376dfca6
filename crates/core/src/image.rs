//! Images as users see them: 8-bit pixels, rows from the top, channels interleaved.

use thiserror::Error;

/// What can be wrong with an image's parts.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum ImageError {
    /// An image without a single pixel answers no question.
    #[error("an image of {width}×{height} pixels is empty")]
    Empty {
        /// Columns.
        width: usize,
        /// Rows.
        height: usize,
    },
    /// The size and the number of bytes disagree.
    #[error("an RGB image of {width}×{height} pixels cannot hold {bytes} bytes")]
    ByteCount {
        /// Columns.
        width: usize,
        /// Rows.
        height: usize,
        /// How many bytes came with it.
        bytes: usize,
    },
}

/// An 8-bit RGB image, as models and services are asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
}

impl Image {
    /// An image from interleaved RGB bytes, rows from the top.
    pub fn from_rgb(width: usize, height: usize, rgb: Vec<u8>) -> Result<Self, ImageError> {
        if width == 0 || height == 0 {
            return Err(ImageError::Empty { width, height });
        }
        let wanted = width.checked_mul(height).and_then(|n| n.checked_mul(3));
        if wanted != Some(rgb.len()) {
            return Err(ImageError::ByteCount { width, height, bytes: rgb.len() });
        }
        Ok(Self { width, height, rgb })
    }

    /// Columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Interleaved RGB bytes, rows from the top.
    pub fn rgb(&self) -> &[u8] {
        &self.rgb
    }

    /// The bytes themselves, for others who hold images in the same order.
    pub fn into_rgb(self) -> Vec<u8> {
        self.rgb
    }

    /// The same bytes, to be changed in place: a size once checked stays right.
    pub fn rgb_mut(&mut self) -> &mut [u8] {
        &mut self.rgb
    }

    /// An image of the same size with every pixel changed on its own, rows from the top.
    #[must_use]
    #[inline(always)]
    pub fn map_pixels(&self, mut change: impl FnMut([u8; 3]) -> [u8; 3]) -> Self {
        let mut image = self.clone();
        for pixel in image.rgb.as_chunks_mut::<3>().0 {
            *pixel = change(*pixel);
        }
        image
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_and_short_images_are_refused() {
        assert!(Image::from_rgb(2, 1, vec![0; 6]).is_ok());
        assert!(matches!(Image::from_rgb(0, 4, vec![]), Err(ImageError::Empty { .. })));
        assert!(matches!(Image::from_rgb(2, 2, vec![0; 11]), Err(ImageError::ByteCount { .. })));
    }
}
