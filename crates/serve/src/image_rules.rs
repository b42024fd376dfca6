//! Which images a service accepts: the provider's limits and formats.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use faultlens_core::Image;
use faultlens_data::decode_image;

/// The images that a service accepts.
pub(crate) struct ImageRules {
    pub(crate) max_bytes: usize,
    pub(crate) min_side: usize,
    pub(crate) max_side: usize,
    /// Whether PNG and JPEG are all that it reads.
    pub(crate) only_png_and_jpeg: bool,
}

/// Why a service does not accept an image.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ImageError {
    /// Too many bytes, or too many pixels.
    Large(String),
    /// Too few pixels.
    Small(String),
    /// Not an image, a damaged one, or one in another format.
    Format(String),
}

impl ImageRules {
    /// The decoded image, upright, if the service would accept it.
    pub(crate) fn decode(&self, bytes: &[u8]) -> Result<Image, ImageError> {
        if bytes.len() > self.max_bytes {
            return Err(ImageError::Large(format!(
                "the image has {} bytes, at most {} are accepted",
                bytes.len(),
                self.max_bytes
            )));
        }
        let known = bytes.starts_with(b"\x89PNG") || bytes.starts_with(b"\xff\xd8");
        if self.only_png_and_jpeg && !known {
            return Err(ImageError::Format("this is not a PNG or JPEG image".to_owned()));
        }
        let image = decode_image(bytes).map_err(|error| ImageError::Format(error.to_string()))?;
        let width = image.width();
        let height = image.height();
        let size = format!("the image has {width}×{height} pixels");
        if width.min(height) < self.min_side {
            return Err(ImageError::Small(format!("{size}, both sides need {}", self.min_side)));
        }
        if width.max(height) > self.max_side {
            return Err(ImageError::Large(format!("{size}, no side may exceed {}", self.max_side)));
        }
        Ok(image)
    }
}

const CONFIG: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, CONFIG);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, CONFIG);

/// Base64 in either alphabet of RFC 4648, with or without padding, as the providers read it.
pub(crate) fn from_base64(text: &str) -> Option<Vec<u8>> {
    let plain = STANDARD.decode(text);
    plain.or_else(|_| URL_SAFE.decode(text)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_data::{encode_jpeg, encode_png};

    const RULES: ImageRules =
        ImageRules { max_bytes: 20_000, min_side: 80, max_side: 200, only_png_and_jpeg: true };

    fn grey(width: usize, height: usize) -> Image {
        Image::from_rgb(width, height, vec![128; width * height * 3]).unwrap()
    }

    #[test]
    fn limits_are_the_services_own() {
        let [accepted, small, large] = [(80, 200), (79, 100), (201, 100)]
            .map(|(width, height)| RULES.decode(&encode_png(&grey(width, height)).unwrap()));
        assert_eq!(accepted.unwrap(), grey(80, 200));
        assert!(matches!(small, Err(ImageError::Small(_))));
        assert!(matches!(large, Err(ImageError::Large(_))));
        assert!(matches!(RULES.decode(&[0xff; 20_001]), Err(ImageError::Large(_))));
        assert!(matches!(RULES.decode(b"BM no image"), Err(ImageError::Format(_))));
        let jpeg = encode_jpeg(&grey(100, 100), 90).unwrap();
        assert!(RULES.decode(&jpeg).is_ok());
        assert!(matches!(RULES.decode(&jpeg[..jpeg.len() / 2]), Err(ImageError::Format(_))));
    }

    #[test]
    fn both_alphabets_are_read() {
        for text in ["+/8=", "-_8=", "+/8", "-_8"] {
            assert_eq!(from_base64(text), Some(vec![0xfb, 0xff]), "{text}");
        }
        assert_eq!(from_base64("a*b"), None);
    }
}
