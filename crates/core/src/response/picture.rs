//! An image that a target makes.

use crate::Image;

/// An image that a target makes, such as a generated face or an enhanced photo.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// 1 for grey, 3 for red, green and blue.
    pub channels: usize,
    /// From 0, black, to 1, white: rows from the top, channels interleaved. What is not a number
    /// stands as 0.
    pub values: Vec<f32>,
    /// Whether every value was a number.
    pub finite: bool,
}

impl Picture {
    /// As an 8-bit image; `None` where sides, channels and values do not fit together.
    pub fn image(&self) -> Option<Image> {
        let bytes =
            self.values.iter().map(|&value| (value * 255.0).round().clamp(0.0, 255.0) as u8);
        let rgb = match self.channels {
            1 => bytes.flat_map(|grey| [grey; 3]).collect(),
            3 => bytes.collect(),
            _ => return None,
        };
        Image::from_rgb(self.width, self.height, rgb).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(channels: usize, values: &[f32]) -> Option<Image> {
        let width = values.len() / channels;
        let values = values.to_vec();
        Picture { width, height: 1, channels, values, finite: true }.image()
    }

    #[test]
    fn values_become_bytes() {
        let grey = image(1, &[0.0, 0.5, 1.0]).unwrap();
        assert_eq!(grey.rgb(), [0, 0, 0, 128, 128, 128, 255, 255, 255]);
        let colours = image(3, &[1.0, 0.2, 0.0]).unwrap();
        assert_eq!(colours.rgb(), [255, 51, 0]);
        assert_eq!(image(2, &[0.0, 0.0]), None);
    }
}
