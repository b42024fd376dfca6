//! Data sets become files that this crate and others read.

mod class_folders;
mod coco;

pub use class_folders::write_class_folders;
pub use coco::{CocoWriter, write_coco};

use crate::DataError;
use faultlens_core::{Case, Image};
use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder, ImageFormat};
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Cursor, Write};
use std::path::Path;

/// Names longer than this are cut: file systems end at 255 bytes.
const MAX_NAME: usize = 120;

/// Makes a folder, or takes an empty one: files of two exports must not mix.
pub(crate) fn fresh(folder: &Path) -> Result<(), DataError> {
    let doing = "make the folder";
    fs::create_dir_all(folder).map_err(DataError::io(doing, folder))?;
    if fs::read_dir(folder).map_err(DataError::io(doing, folder))?.next().is_some() {
        return Err(DataError::NotEmpty { path: folder.to_path_buf() });
    }
    Ok(())
}

/// Writes an image as PNG; a file that is there already is replaced.
pub fn write_png(image: &Image, path: impl AsRef<Path>) -> Result<(), DataError> {
    let path = path.as_ref();
    faultlens_files::write_in_bulk(path, &png_of(image, path)?)
        .map_err(DataError::io("write the image", path))
}

/// Writes an image in the format that its ending names: PNG, JPEG in that quality, WebP or BMP. A
/// file that is there already is replaced.
pub fn write_image(image: &Image, path: &Path, quality: u8) -> Result<(), DataError> {
    let known = ImageFormat::from_path(path).ok().filter(ImageFormat::writing_enabled);
    let format = known.ok_or_else(|| {
        let what = "an image is written as .png, .jpg, .webp or .bmp";
        DataError::image(what, path)
    })?;
    let bytes = match format {
        ImageFormat::Jpeg => encode_jpeg(image, quality).ok_or("too large for JPEG".to_owned()),
        other => encoded(image, other),
    };
    let bytes =
        bytes.map_err(|why| DataError::image(format!("cannot write the image ({why})"), path))?;
    faultlens_files::write_in_bulk(path, &bytes).map_err(DataError::io("write the image", path))
}

fn encoded(image: &Image, format: ImageFormat) -> Result<Vec<u8>, String> {
    let [width, height] = sides(image)?;
    let mut bytes = Cursor::new(Vec::new());
    let colour = ExtendedColorType::Rgb8;
    image::write_buffer_with_format(&mut bytes, image.rgb(), width, height, colour, format)
        .map_err(|error| error.to_string())?;
    Ok(bytes.into_inner())
}

/// Width and height in the 32 bits of image files.
fn sides(image: &Image) -> Result<[u32; 2], String> {
    match (u32::try_from(image.width()), u32::try_from(image.height())) {
        (Ok(width), Ok(height)) => Ok([width, height]),
        _ => Err("too large".to_owned()),
    }
}

/// The bytes of an image as a JPEG file; `None` where it is too large for one.
pub fn encode_jpeg(image: &Image, quality: u8) -> Option<Vec<u8>> {
    let width = u16::try_from(image.width()).ok()?;
    let height = u16::try_from(image.height()).ok()?;
    let mut bytes = Vec::new();
    // Half the colours' resolution, as cameras and most programs write them.
    let mut encoder = Encoder::new(&mut bytes, quality);
    encoder.set_sampling_factor(SamplingFactor::F_2_2);
    encoder.encode(image.rgb(), width, height, ColorType::Rgb).ok()?;
    Some(bytes)
}

/// Writes an image of a set, whose files must not replace each other.
fn write_new(image: &Image, path: &Path) -> Result<(), DataError> {
    // The folder is this program's own; names that differ in case alone may be one file.
    if path.exists() {
        let error = io::Error::from(io::ErrorKind::AlreadyExists);
        return Err(DataError::io("write the image", path)(error));
    }
    write_png(image, path)
}

fn png_of(image: &Image, path: &Path) -> Result<Vec<u8>, DataError> {
    let mut bytes = Vec::new();
    png(image, &mut bytes)
        .map_err(|why| DataError::image(format!("cannot write the image ({why})"), path))?;
    Ok(bytes)
}

/// The bytes of an image as a PNG file; `None` where it is too large for one.
pub fn encode_png(image: &Image) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    png(image, &mut bytes).ok().map(|()| bytes)
}

/// The bytes of a PNG file of an image with one byte of opacity per pixel.
pub(crate) fn rgba_png(image: &Image, alpha: &[u8]) -> Result<Vec<u8>, String> {
    let [width, height] = sides(image)?;
    let pixels = image.rgb().as_chunks::<3>().0;
    if pixels.len() != alpha.len() {
        return Err(format!("{} pixels and {} of opacity", pixels.len(), alpha.len()));
    }
    let rgba: Vec<u8> =
        pixels.iter().zip(alpha).flat_map(|(&[r, g, b], &alpha)| [r, g, b, alpha]).collect();
    let mut bytes = Vec::new();
    PngEncoder::new(&mut bytes)
        .write_image(&rgba, width, height, ExtendedColorType::Rgba8)
        .map_err(|error| error.to_string())?;
    Ok(bytes)
}

fn png(image: &Image, into: &mut impl Write) -> Result<(), String> {
    let [width, height] = sides(image)?;
    PngEncoder::new(into)
        .write_image(image.rgb(), width, height, ExtendedColorType::Rgb8)
        .map_err(|error| error.to_string())
}

/// Names of files that were given out, so that none is given twice.
#[derive(Default)]
pub(crate) struct Names(BTreeSet<String>);

impl Names {
    /// A file name that says which case it is: its name without what file systems dislike, and
    /// with a number where that is taken. File systems that ignore case must not mix two.
    fn give(&mut self, case: &Case) -> String {
        let name = case.name.rsplit('/').next().unwrap_or_default();
        let is_image = crate::folder::is_image(name.as_ref());
        let stem =
            if is_image { name.rsplit_once('.').map_or(name, |(stem, _)| stem) } else { name };
        format!("{}.png", self.plain(stem, "case"))
    }

    /// A name without what file systems dislike, and with a number where that is taken; `unnamed`
    /// where nothing is left of it.
    pub(crate) fn plain(&mut self, name: &str, unnamed: &str) -> String {
        let stem: String = name
            .chars()
            .take(MAX_NAME)
            .map(|c| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' })
            .collect();
        let stem = if stem.is_empty() { unnamed.to_owned() } else { stem };
        let mut given = stem.clone();
        let mut number = 2;
        while !self.0.insert(given.to_lowercase()) {
            given = format!("{stem}_{number}");
            number += 1;
        }
        given
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_safe_and_given_once() {
        let mut names = Names::default();
        let cases = [
            ("cat/1.jpg", "1.png"),
            ("dog/1.png", "1_2.png"),
            ("../..", "__.png"),
            ("a b.c", "a_b_c.png"),
            ("A_B_C", "A_B_C_2.png"),
            ("", "case.png"),
            ("..\\x\0", "___x_.png"),
        ];
        for (name, wanted) in cases {
            let image = Image::from_rgb(1, 1, vec![0; 3]).unwrap();
            assert_eq!(names.give(&Case::new(name, image)), wanted);
        }
    }
}
