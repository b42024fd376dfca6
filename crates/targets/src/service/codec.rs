//! Images become files, clean and faulty ones alike.

use super::spec::Codec;
use faultlens_core::{Image, TargetError};
use faultlens_data::{encode_jpeg, encode_png};

impl Codec {
    /// The image as a file, and its media type.
    pub(super) fn encode(self, image: &Image) -> Result<(Vec<u8>, &'static str), TargetError> {
        let (bytes, media) = match self {
            Self::Png => (encode_png(image), "image/png"),
            Self::Jpeg(quality) => (encode_jpeg(image, quality), "image/jpeg"),
        };
        let size = || format!("{}×{} pixels are too many", image.width(), image.height());
        let bytes =
            bytes.ok_or_else(|| TargetError::Rejected(format!("{} for {media}", size())))?;
        Ok((bytes, media))
    }
}
