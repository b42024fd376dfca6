//! Image files become images, or errors that say what is wrong with the file.

use std::fs;
use std::io::{Cursor, ErrorKind};
use std::path::Path;

use anyhow::{Context, anyhow, bail, ensure};
use faultlens::Image;
use image::error::ImageError;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};

/// Larger files are refused before they are read.
const MAX_FILE_BYTES: u64 = 256 << 20;
/// Larger images are refused before any pixel is decoded.
const MAX_PIXELS: u64 = 100_000_000;
/// What decoding may allocate: [`MAX_PIXELS`] of 16-bit RGBA.
const MAX_MEMORY: u64 = MAX_PIXELS * 8;

/// Reads an image as a viewer shows it: upright after its EXIF orientation, in 8-bit RGB; grey
/// is spread to three channels, 16-bit channels are rounded to 8, transparency is dropped.
pub(crate) fn read(path: &Path) -> anyhow::Result<Image> {
    let about = fs::metadata(path).context("cannot open the image")?;
    ensure!(!about.is_dir(), "this is a directory, not an image; name the files in it");
    ensure!(about.len() > 0, "the file is empty");
    ensure!(
        about.len() <= MAX_FILE_BYTES,
        "the file has {} MB, more than {} MB are not read",
        about.len() >> 20,
        MAX_FILE_BYTES >> 20
    );
    decode(&fs::read(path).context("cannot read the image")?)
}

fn decode(bytes: &[u8]) -> anyhow::Result<Image> {
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format()?;
    let Some(format) = reader.format().filter(ImageFormat::reading_enabled) else {
        bail!("this is no PNG, JPEG, WebP or BMP file");
    };
    ensure!(
        format != ImageFormat::Jpeg || jpeg_ends(bytes),
        "the JPEG file is truncated: its end is missing"
    );
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MAX_MEMORY);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(explained)?;
    let (width, height) = decoder.dimensions();
    ensure!(
        u64::from(width) * u64::from(height) <= MAX_PIXELS,
        "the image is too large: it has {width}×{height} pixels, at most {} million are read",
        MAX_PIXELS / 1_000_000
    );
    let orientation = decoder.orientation().map_err(explained)?;
    let mut picture = DynamicImage::from_decoder(decoder).map_err(explained)?;
    picture.apply_orientation(orientation);
    let rgb = picture.into_rgb8();
    let (width, height) = (rgb.width() as usize, rgb.height() as usize);
    Ok(Image::from_rgb(width, height, rgb.into_raw())?)
}

fn explained(error: ImageError) -> anyhow::Error {
    match error {
        ImageError::Limits(_) => anyhow!("the image is too large to decode"),
        ImageError::IoError(e) if e.kind() == ErrorKind::UnexpectedEof => {
            anyhow!("the image file is truncated")
        }
        other => anyhow!("the image file is damaged: {other}"),
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
    use image::codecs::jpeg::JpegEncoder;
    use image::{ImageBuffer, ImageEncoder, Luma, Rgb, RgbImage, Rgba};

    use super::*;

    fn encoded(picture: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        picture.into().write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    /// Red on the left, blue on the right.
    fn two_colours() -> RgbImage {
        let colour = |x| if x < 16 { Rgb([255, 0, 0]) } else { Rgb([0, 0, 255]) };
        ImageBuffer::from_fn(32, 16, |x, _| colour(x))
    }

    #[test]
    fn every_kind_of_pixel_becomes_8_bit_rgb() {
        let deep: ImageBuffer<Luma<u16>, _> = ImageBuffer::from_pixel(2, 1, Luma([0x8080]));
        let clear: ImageBuffer<Rgba<u8>, _> = ImageBuffer::from_pixel(2, 1, Rgba([9, 8, 7, 0]));
        let read = |bytes: Vec<u8>| decode(&bytes).unwrap().rgb().to_vec();
        assert_eq!(read(encoded(deep, ImageFormat::Png)), [128; 6]);
        assert_eq!(read(encoded(clear, ImageFormat::Png)), [9, 8, 7, 9, 8, 7]);
        for format in [ImageFormat::Png, ImageFormat::Bmp, ImageFormat::WebP] {
            assert_eq!(read(encoded(two_colours(), format)), *two_colours().as_raw());
        }
    }

    #[test]
    fn an_image_is_turned_upright() {
        // A TIFF header with one entry: orientation (0x112) = 6, to be turned clockwise.
        let exif = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
        let mut bytes = Vec::new();
        let mut encoder = JpegEncoder::new_with_quality(&mut bytes, 100);
        encoder.set_exif_metadata(exif.to_vec()).unwrap();
        two_colours().write_with_encoder(encoder).unwrap();
        let image = decode(&bytes).unwrap();
        assert_eq!((image.width(), image.height()), (16, 32));
        assert!(image.rgb()[0] > 200, "red is on top after turning");
    }

    #[test]
    fn truncated_and_foreign_files_are_refused() {
        for format in [ImageFormat::Png, ImageFormat::Bmp, ImageFormat::WebP, ImageFormat::Jpeg] {
            let bytes = encoded(two_colours(), format);
            for length in [bytes.len() / 4, bytes.len() / 2] {
                let error = decode(&bytes[..length]).map(|_| format).unwrap_err().to_string();
                assert!(error.contains("truncated") || error.contains("damaged"), "{error}");
            }
        }
        let jpeg = encoded(two_colours(), ImageFormat::Jpeg);
        assert!(decode(&jpeg[..jpeg.len() - 2]).is_err(), "only the end marker is missing");
        assert!(decode(b"GIF89a\x01\0\x01\0").is_err());
        assert!(decode(b"no image at all").is_err());
    }
}
