//! Image files become images, or errors that say what is wrong with the file.

use crate::{DataError, limits};
use faultlens_core::{Image, catch_panic};
use image::error::ImageError;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};
use std::fs;
use std::io::{Cursor, ErrorKind};
use std::path::Path;

/// Which way up an image is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Orient {
    /// As a viewer shows it, after its EXIF orientation.
    Upright,
    /// As boxes of this width and height were drawn: as it is stored, unless only the turned
    /// image has this size.
    Sized(usize, usize),
}

/// Reads an image file as a viewer shows it: upright after its EXIF orientation, in 8-bit RGB.
pub fn read_image(path: &Path) -> Result<Image, DataError> {
    read(path, Orient::Upright)
}

/// Decodes an image that came over a wire, by the same rules and limits as a file.
pub fn decode_image(bytes: &[u8]) -> Result<Image, DataError> {
    decode(bytes, Orient::Upright).map_err(|reason| DataError::Undecodable { reason })
}

/// Reads an image in 8-bit RGB; grey is spread to three channels, 16-bit channels are rounded to
/// 8, transparency is dropped.
pub(crate) fn read(path: &Path, orient: Orient) -> Result<Image, DataError> {
    decode(&bytes(path)?, orient).map_err(|reason| DataError::image(reason, path))
}

/// The bytes of an image file, if there are any and not too many.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, DataError> {
    let about = fs::metadata(path).map_err(DataError::io("open the image", path))?;
    let len = about.len();
    let limit = limits::IMAGE_FILE_BYTES;
    if len > limit {
        return Err(DataError::too_large("image file", format!("{len} bytes"), limit, path));
    }
    if len == 0 {
        return Err(DataError::image("the image file is empty", path));
    }
    fs::read(path).map_err(DataError::io("read the image", path))
}

/// An image of a known size, and one byte of opacity for each of its pixels.
pub(crate) fn decode_rgba(
    bytes: &[u8],
    width: usize,
    height: usize,
) -> Result<(Image, Vec<u8>), String> {
    let (picture, _) = picture(bytes)?;
    if !picture.color().has_alpha() {
        return Err("the image has no transparency".into());
    }
    let rgba = picture.into_rgba8();
    let w = rgba.width() as usize;
    let h = rgba.height() as usize;
    if (w, h) != (width, height) {
        return Err(format!("the image has {w}×{h} pixels, its description says {width}×{height}"));
    }
    let pixels = rgba.as_raw().as_chunks::<4>().0;
    let rgb = pixels.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect();
    let alpha = pixels.iter().map(|&[.., alpha]| alpha).collect();
    Image::from_rgb(width, height, rgb).map(|image| (image, alpha)).map_err(|e| e.to_string())
}

fn decode(bytes: &[u8], orient: Orient) -> Result<Image, String> {
    let (mut picture, orientation) = picture(bytes)?;
    let stored = (picture.width() as usize, picture.height() as usize);
    if !matches!(orient, Orient::Sized(width, height) if stored == (width, height)) {
        picture.apply_orientation(orientation);
    }
    let rgb = picture.into_rgb8();
    let width = rgb.width() as usize;
    let height = rgb.height() as usize;
    if let Orient::Sized(w, h) = orient
        && (w, h) != (width, height)
    {
        return Err(format!("the image has {width}×{height} pixels, its description says {w}×{h}"));
    }
    Image::from_rgb(width, height, rgb.into_raw()).map_err(|error| error.to_string())
}

/// A file's picture as it is stored, and how it is to be turned. The only place where the project
/// decodes images: decoders panic on some damaged files, which must not end a campaign.
fn picture(bytes: &[u8]) -> Result<(DynamicImage, Orientation), String> {
    catch_panic(|| decoded(bytes)).unwrap_or_else(|panic| {
        Err(format!("the image file is damaged; its decoder gave up ({panic}): replace the file"))
    })
}

fn decoded(bytes: &[u8]) -> Result<(DynamicImage, Orientation), String> {
    let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format();
    let mut reader = reader.map_err(|error| error.to_string())?;
    let Some(format) = reader.format().filter(ImageFormat::reading_enabled) else {
        return Err("this is no PNG, JPEG, WebP or BMP file".into());
    };
    if format == ImageFormat::Jpeg && !jpeg_ends(bytes) {
        return Err("the JPEG file is truncated: its end is missing".into());
    }
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(limits::DECODING_BYTES);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(explained)?;
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > limits::PIXELS {
        let max = limits::PIXELS / 1_000_000;
        return Err(format!(
            "the image is too large: it has {width}×{height} pixels, at most {max} million are read"
        ));
    }
    let orientation = decoder.orientation().map_err(explained)?;
    let picture = DynamicImage::from_decoder(decoder).map_err(explained)?;
    Ok((picture, orientation))
}

fn explained(error: ImageError) -> String {
    match error {
        ImageError::Limits(_) => "the image is too large to decode".into(),
        ImageError::IoError(e) if e.kind() == ErrorKind::UnexpectedEof => {
            "the image file is truncated".into()
        }
        other => format!("the image file is damaged ({other})"),
    }
}

/// Whether a JPEG's pixels are followed by its end marker: decoders fill what is missing with
/// grey in silence, and a model would be judged on that. Within pixel data, `FF` is always
/// followed by `00` or a restart marker, so the end marker cannot occur by chance.
fn jpeg_ends(bytes: &[u8]) -> bool {
    const START_OF_SCAN: u8 = 0xDA;
    let mut at = 2;
    while let Some(&[0xFF, marker, high, low]) = bytes.get(at..at + 4) {
        if marker == START_OF_SCAN {
            return bytes[at..].windows(2).any(|pair| pair == [0xFF, 0xD9]);
        }
        let fill = marker == 0xFF;
        at += if fill { 1 } else { 2 + usize::from(u16::from_be_bytes([high, low])) };
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::codecs::jpeg::JpegEncoder;
    use image::{ImageBuffer, Rgb, RgbImage};

    /// Red on the left, blue on the right.
    fn two_colours() -> RgbImage {
        ImageBuffer::from_fn(
            32,
            16,
            |x, _| {
                if x < 16 { Rgb([255, 0, 0]) } else { Rgb([0, 0, 255]) }
            },
        )
    }

    fn encoded(format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        two_colours().write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    /// A JPEG with orientation (0x112) `value`, in a TIFF header with one entry.
    fn turned(value: u8) -> Vec<u8> {
        let mut exif = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0".to_vec();
        exif[18] = value;
        let mut bytes = Vec::new();
        let mut encoder = JpegEncoder::new_with_quality(&mut bytes, 100);
        image::ImageEncoder::set_exif_metadata(&mut encoder, exif).unwrap();
        two_colours().write_with_encoder(encoder).unwrap();
        bytes
    }

    #[test]
    fn boxes_decide_which_way_up_an_image_is() {
        // 6: to be turned clockwise; 3: upside down.
        let cases = [
            (6, Orient::Upright, Some((16, 32, true))),
            (6, Orient::Sized(32, 16), Some((32, 16, true))),
            (6, Orient::Sized(16, 32), Some((16, 32, true))),
            (6, Orient::Sized(31, 16), None),
            (3, Orient::Upright, Some((32, 16, false))),
            (3, Orient::Sized(32, 16), Some((32, 16, true))),
        ];
        for (orientation, turn, wanted) in cases {
            let image = decode(&turned(orientation), turn).ok();
            let got = image.map(|i| (i.width(), i.height(), i.rgb()[0] > 200));
            assert_eq!(got, wanted, "{orientation} {turn:?}");
        }
    }

    /// The length of the palette is no multiple of three.
    const PALETTE: &[u8] = include_bytes!("../tests/fixtures/hostile/palette.png");

    #[test]
    fn a_file_on_which_the_decoder_panics_is_refused() {
        let error = decode(PALETTE, Orient::Upright).unwrap_err();
        assert!(error.contains("damaged") && error.contains("replace the file"), "{error}");
        assert!(decode_rgba(PALETTE, 8, 8).is_err());
    }

    #[test]
    fn truncated_and_foreign_files_are_refused() {
        for format in [ImageFormat::Png, ImageFormat::Bmp, ImageFormat::WebP, ImageFormat::Jpeg] {
            let bytes = encoded(format);
            assert!(decode(&bytes, Orient::Upright).is_ok());
            for length in [bytes.len() / 4, bytes.len() / 2] {
                let error = decode(&bytes[..length], Orient::Upright).unwrap_err();
                assert!(error.contains("truncated") || error.contains("damaged"), "{error}");
            }
        }
        assert!(decode(b"GIF89a\x01\0\x01\0", Orient::Upright).is_err());
    }
}
