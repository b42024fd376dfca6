//! Images become files; clean and faulty ones go through the same encoder.

use super::spec::Codec;
use faultlens_core::{Image, TargetError};
use faultlens_data::{encode_jpeg, encode_png};

impl Codec {
    /// The image as a file, and its media type.
    pub(super) fn encode(self, image: &Image) -> Result<(Vec<u8>, &'static str), TargetError> {
        let (encoded, media_type) = match self {
            Self::Png => (encode_png(image), "image/png"),
            Self::Jpeg(quality) => (encode_jpeg(image, quality), "image/jpeg"),
        };
        let Some(bytes) = encoded else {
            return Err(TargetError::Rejected(format!(
                "{}×{} pixels are too many for {media_type}",
                image.width(),
                image.height()
            )));
        };
        Ok((bytes, media_type))
    }
}
