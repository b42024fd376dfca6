//! Images as services take them: within the provider's limits, in the provider's formats.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use faultlens_core::Image;
use faultlens_data::decode_image;

/// What a service takes.
pub(crate) struct Rules {
    pub(crate) most_bytes: usize,
    pub(crate) least_side: usize,
    pub(crate) most_side: usize,
    /// Whether PNG and JPEG are all that it reads.
    pub(crate) only_png_and_jpeg: bool,
}

/// Why bytes are no image for a service.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// Too many bytes, or too many pixels.
    Large(String),
    /// Too few pixels.
    Small(String),
    /// No image, a damaged one, or one in another format.
    Format(String),
}

impl Rules {
    /// The image, upright, if the service would take it.
    pub(crate) fn decode(&self, bytes: &[u8]) -> Result<Image, Unfit> {
        if bytes.len() > self.most_bytes {
            let (found, most) = (bytes.len(), self.most_bytes);
            return Err(Unfit::Large(format!(
                "the image has {found} bytes, at most {most} are taken"
            )));
        }
        let known = bytes.starts_with(b"\x89PNG") || bytes.starts_with(b"\xff\xd8");
        if self.only_png_and_jpeg && !known {
            return Err(Unfit::Format("this is no PNG or JPEG image".to_owned()));
        }
        let image = decode_image(bytes).map_err(|error| Unfit::Format(error.to_string()))?;
        let (width, height) = (image.width(), image.height());
        let told = format!("the image has {width}×{height} pixels");
        if width.min(height) < self.least_side {
            return Err(Unfit::Small(format!("{told}, both sides need {}", self.least_side)));
        }
        if width.max(height) > self.most_side {
            return Err(Unfit::Large(format!("{told}, no side may exceed {}", self.most_side)));
        }
        Ok(image)
    }
}

const CONFIG: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, CONFIG);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, CONFIG);

/// Base64 in either alphabet, with or without padding, as the providers read it.
pub(crate) fn from_base64(text: &str) -> Option<Vec<u8>> {
    let plain = STANDARD.decode(text);
    plain.or_else(|_| URL_SAFE.decode(text)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_data::{encode_jpeg, encode_png};

    const RULES: Rules =
        Rules { most_bytes: 20_000, least_side: 80, most_side: 200, only_png_and_jpeg: true };

    fn grey(width: usize, height: usize) -> Image {
        Image::from_rgb(width, height, vec![128; width * height * 3]).unwrap()
    }

    #[test]
    fn limits_are_the_services_own() {
        let decode = |image: &Image| RULES.decode(&encode_png(image).unwrap());
        assert_eq!(decode(&grey(80, 200)).unwrap(), grey(80, 200));
        assert!(matches!(decode(&grey(79, 100)), Err(Unfit::Small(_))));
        assert!(matches!(decode(&grey(201, 100)), Err(Unfit::Large(_))));
        assert!(matches!(RULES.decode(&[0xff; 20_001]), Err(Unfit::Large(_))));
        assert!(matches!(RULES.decode(b"BM no image"), Err(Unfit::Format(_))));
        let jpeg = encode_jpeg(&grey(100, 100), 90).unwrap();
        assert!(RULES.decode(&jpeg).is_ok());
        assert!(matches!(RULES.decode(&jpeg[..jpeg.len() / 2]), Err(Unfit::Format(_))));
    }

    #[test]
    fn both_alphabets_are_read() {
        for text in ["+/8=", "-_8=", "+/8", "-_8"] {
            assert_eq!(from_base64(text), Some(vec![0xfb, 0xff]), "{text}");
        }
        assert_eq!(from_base64("a*b"), None);
    }
}
