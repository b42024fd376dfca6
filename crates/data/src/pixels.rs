//! From the bytes of one image in an array to an image.

use faultlens_core::Image;

/// How an array lays out one image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) height: usize,
    pub(crate) width: usize,
    /// 1 for grey, 3 for RGB, 4 for RGB with transparency, which is dropped.
    pub(crate) channels: usize,
    /// Whether one channel follows the other, instead of one pixel the other.
    pub(crate) planar: bool,
}

impl Layout {
    /// Values of one image; `None` where no machine can count them.
    pub(crate) fn len(&self) -> Option<usize> {
        self.height.checked_mul(self.width)?.checked_mul(self.channels)
    }

    /// The image; `None` where the bytes are not as many as the layout says or it has no pixel.
    pub(crate) fn image(&self, bytes: &[u8]) -> Option<Image> {
        if self.len()? != bytes.len() {
            return None;
        }
        let pixels = self.height * self.width;
        let (pixel, channel) = if self.planar { (1, pixels) } else { (self.channels, 1) };
        // Grey is spread to three channels.
        let channel = if self.channels < 3 { 0 } else { channel };
        let rgb =
            (0..pixels).flat_map(|p| [0, 1, 2].map(|c| bytes[p * pixel + c * channel])).collect();
        Image::from_rgb(self.width, self.height, rgb).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layout_becomes_rgb() {
        let wanted = [1, 2, 3, 4, 5, 6];
        let cases: [(usize, bool, &[u8], &[u8]); 5] = [
            (3, false, &[1, 2, 3, 4, 5, 6], &wanted),
            (3, true, &[1, 4, 2, 5, 3, 6], &wanted),
            (4, false, &[1, 2, 3, 9, 4, 5, 6, 9], &wanted),
            (4, true, &[1, 4, 2, 5, 3, 6, 9, 9], &wanted),
            (1, true, &[7, 8], &[7, 7, 7, 8, 8, 8]),
        ];
        for (channels, planar, bytes, wanted) in cases {
            let layout = Layout { height: 1, width: 2, channels, planar };
            assert_eq!(layout.image(bytes).unwrap().rgb(), wanted);
            assert!(layout.image(&bytes[1..]).is_none());
        }
        assert!(Layout { height: 0, width: 2, channels: 1, planar: false }.image(&[]).is_none());
    }
}
