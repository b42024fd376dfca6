//! A picture as a page holds it: as it is where single pixels matter, else as small as it is shown.

use faultlens_data::decode_image;
use image::codecs::jpeg::JpegEncoder;
use image::imageops::{FilterType, resize};
use image::{ImageFormat, RgbImage, guess_format};
use std::collections::BTreeSet;

/// Up to this width or height an image is shown with its pixels as squares.
const TINY: u32 = 128;

/// Up to so many colours an image is drawn, not taken: soft edges would spoil it.
const FEW_COLOURS: usize = 256;

/// The quality of photographs: what it loses is not seen at the density of a screen.
const QUALITY: u8 = 85;

/// The parts of the wanted width that are tried one after the other, until there is room.
const PARTS: [(u32, u32); 3] = [(1, 1), (2, 3), (4, 9)];

/// A picture of the run directory.
pub(super) struct Original {
    png: Vec<u8>,
    image: RgbImage,
}

/// A picture as it goes into a page.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Edition {
    /// What the bytes are, as addresses name it.
    pub(super) kind: &'static str,
    /// The file.
    pub(super) bytes: Vec<u8>,
    /// Whether it is smaller than the original, or less exact.
    pub(super) lesser: bool,
}

impl Original {
    /// The image of a PNG file; `None` where it is none, or a larger one than anybody shows.
    pub(super) fn read(png: Vec<u8>) -> Option<Self> {
        if guess_format(&png).ok()? != ImageFormat::Png {
            return None;
        }
        let image = decode_image(&png).ok()?;
        let width = u32::try_from(image.width()).ok()?;
        let height = u32::try_from(image.height()).ok()?;
        let image = RgbImage::from_raw(width, height, image.into_rgb())?;
        Some(Self { png, image })
    }

    /// Width and height in pixels.
    pub(super) fn size(&self) -> (u32, u32) {
        self.image.dimensions()
    }

    /// Whether smoothing would blur away what there is to see.
    pub(super) fn is_tiny(&self) -> bool {
        self.image.width().max(self.image.height()) <= TINY
    }

    /// Editions for this width, the best first; the further ones take less room.
    pub(super) fn editions(&self, width: u32) -> impl Iterator<Item = Edition> {
        let exact = self.is_tiny() || self.is_drawn();
        let whole = || Edition { kind: "png", bytes: self.png.clone(), lesser: false };
        let wanted = width.clamp(1, self.image.width().max(1));
        let scaled = PARTS.into_iter().filter_map(move |(part, of)| {
            let taken = self.taken((wanted * part / of).max(1))?;
            // What is smaller without a loss is better in every way.
            let better = wanted == self.image.width() && self.png.len() <= taken.bytes.len();
            Some(if better { whole() } else { taken })
        });
        exact.then(whole).into_iter().chain(scaled)
    }

    /// Whether it has few colours.
    fn is_drawn(&self) -> bool {
        let mut colours = BTreeSet::new();
        self.image.pixels().all(|pixel| {
            colours.insert(pixel.0);
            colours.len() <= FEW_COLOURS
        })
    }

    /// As a photograph of this width.
    fn taken(&self, width: u32) -> Option<Edition> {
        let (own, tall) = self.size();
        let height = (f64::from(tall) * f64::from(width) / f64::from(own)).round().max(1.0) as u32;
        let mut bytes = Vec::new();
        let mut encoder = JpegEncoder::new_with_quality(&mut bytes, QUALITY);
        let encoded = if width == own {
            encoder.encode_image(&self.image)
        } else {
            encoder.encode_image(&resize(&self.image, width, height, FilterType::CatmullRom))
        };
        encoded.ok()?;
        Some(Edition { kind: "jpeg", bytes, lesser: true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{GenericImageView as _, Rgb};
    use std::io::Cursor;

    fn original(image: &RgbImage) -> Original {
        let mut png = Cursor::new(Vec::new());
        image.write_to(&mut png, ImageFormat::Png).unwrap();
        Original::read(png.into_inner()).unwrap()
    }

    /// A photograph of sorts: soft, with grain.
    fn photo(width: u32, height: u32) -> RgbImage {
        RgbImage::from_fn(width, height, |x, y| {
            let grain =
                x.wrapping_mul(2_654_435_761).wrapping_add(y.wrapping_mul(40_503)) >> 5 & 15;
            let [r, g, b] = [x / 4 + grain, y / 3 + grain, (x + y) / 8 + grain];
            Rgb([r, g, b].map(|value| value.min(255) as u8))
        })
    }

    fn decoded(edition: &Edition) -> RgbImage {
        let format = if edition.kind == "png" { ImageFormat::Png } else { ImageFormat::Jpeg };
        image::load_from_memory_with_format(&edition.bytes, format).unwrap().to_rgb8()
    }

    #[test]
    fn small_and_drawn_images_keep_every_pixel() {
        let drawn = RgbImage::from_fn(900, 20, |x, _| Rgb([(x / 100) as u8, 0, 200]));
        for image in [photo(128, 96), drawn] {
            let best = original(&image).editions(64).next().unwrap();
            assert_eq!((best.kind, best.lesser), ("png", false));
            assert_eq!(decoded(&best), image);
        }
    }

    #[test]
    fn photographs_are_as_large_as_they_are_shown() {
        let editions: Vec<Edition> = original(&photo(640, 480)).editions(480).collect();
        let sizes: Vec<_> = editions.iter().map(|one| decoded(one).dimensions()).collect();
        assert_eq!(sizes, [(480, 360), (320, 240), (213, 160)]);
        assert!(editions.iter().all(|one| one.kind == "jpeg" && one.lesser));
        assert!(editions.windows(2).all(|pair| pair[1].bytes.len() < pair[0].bytes.len()));
        // Never larger than it is.
        let own = original(&photo(200, 150)).editions(480).next().unwrap();
        assert_eq!(decoded(&own).dimensions(), (200, 150));
    }

    #[test]
    fn a_thumbnail_looks_like_its_original() {
        let image = photo(640, 480);
        let small = decoded(&original(&image).editions(320).next().unwrap());
        let far = (0..320).flat_map(|x| (0..240).map(move |y| (x, y))).map(|(x, y)| {
            let mean = |channel: usize| {
                let four = image.view(2 * x, 2 * y, 2, 2).to_image();
                four.pixels().map(|pixel| f64::from(pixel.0[channel])).sum::<f64>() / 4.0
            };
            (0..3).map(|c| (mean(c) - f64::from(small.get_pixel(x, y).0[c])).abs()).sum::<f64>()
                / 3.0
        });
        let mean = far.sum::<f64>() / (320.0 * 240.0);
        assert!(mean < 4.0, "{mean} grey levels apart");
    }

    #[test]
    fn what_is_no_image_is_none() {
        assert!(Original::read(b"no image".to_vec()).is_none());
        let mut cut = original(&photo(60, 60)).png;
        cut.truncate(200);
        assert!(Original::read(cut).is_none());
        // A file may say that it is larger than any memory.
        let mut huge = original(&photo(8, 8)).png;
        huge[16..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
        assert!(Original::read(huge).is_none());
    }
}
