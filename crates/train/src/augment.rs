//! Changes to training images, drawn anew each time an image is seen: one line per augmentation
//! in [`AUGMENTATIONS`].

use crate::error::TrainError;
use faultlens_core::{Image, ImageError, Stream, did_you_mean};

/// A way to vary training images. It sees pixels only, so it serves tasks that do not ask for
/// places: see `Recipe::check`.
pub trait Augment: Sync {
    /// Its name in recipes.
    fn name(&self) -> &'static str;

    /// The image as it is seen this time.
    fn apply(&self, image: Image, stream: &mut Stream) -> Result<Image, ImageError>;
}

/// Every augmentation, in alphabetical order. Add yours here.
pub const AUGMENTATIONS: &[&dyn Augment] = &[&Flip, &Shift];

/// The augmentations of these names, in their order.
pub(crate) fn named(names: &[String]) -> Result<Vec<&'static dyn Augment>, TrainError> {
    let known = || AUGMENTATIONS.iter().map(|augment| augment.name());
    let found = names.iter().map(|name| {
        let found = AUGMENTATIONS.iter().find(|augment| augment.name() == name).copied();
        found.ok_or_else(|| TrainError::Recipe {
            what: "an augmentation",
            given: name.clone(),
            why: match did_you_mean(name, known()) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("known are {}", known().collect::<Vec<_>>().join(", ")),
            },
        })
    });
    found.collect()
}

/// Mirrors every second image; only for classes that look the same in a mirror.
struct Flip;

impl Augment for Flip {
    fn name(&self) -> &'static str {
        "flip"
    }

    fn apply(&self, image: Image, stream: &mut Stream) -> Result<Image, ImageError> {
        if stream.chance(0.5) {
            let width = image.width();
            return moved(&image, |x, y| (width - 1 - x, y));
        }
        Ok(image)
    }
}

/// Moves the image by up to an eighth of its sides; the edge pixels fill the gap.
struct Shift;

impl Augment for Shift {
    fn name(&self) -> &'static str {
        "shift"
    }

    fn apply(&self, image: Image, stream: &mut Stream) -> Result<Image, ImageError> {
        let width = image.width();
        let height = image.height();
        let mut by = |side: usize| stream.below(side / 8 * 2 + 1) as isize - (side / 8) as isize;
        let right = by(width);
        let down = by(height);
        let clamped = |at: usize, by: isize, side: usize| {
            at.saturating_add_signed(by).min(side.saturating_sub(1))
        };
        moved(&image, |x, y| (clamped(x, right, width), clamped(y, down, height)))
    }
}

/// Takes each pixel from another place.
fn moved(
    image: &Image,
    from: impl Fn(usize, usize) -> (usize, usize),
) -> Result<Image, ImageError> {
    let width = image.width();
    let height = image.height();
    let pixels = (0..width * height).flat_map(|at| {
        let (x, y) = from(at % width, at / width);
        let start = (y * width + x) * 3;
        image.rgb()[start..start + 3].iter().copied()
    });
    Image::from_rgb(width, height, pixels.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Seed;

    /// Every pixel says where it lies.
    fn places() -> Image {
        let pixels = (0..16 * 9).flat_map(|at| [(at % 16) as u8, (at / 16) as u8, 7]);
        Image::from_rgb(16, 9, pixels.collect()).unwrap()
    }

    /// Where each pixel of what is seen comes from, rows from the top.
    fn origins(augment: &dyn Augment, stream: &mut Stream) -> Vec<[isize; 2]> {
        let seen = augment.apply(places(), stream).unwrap();
        assert_eq!((seen.width(), seen.height()), (16, 9));
        seen.rgb().chunks_exact(3).map(|p| [p[0].into(), p[1].into()]).collect()
    }

    fn all(from: impl Fn(isize, isize) -> [isize; 2]) -> Vec<[isize; 2]> {
        (0..16 * 9).map(|at| from(at % 16, at / 16)).collect()
    }

    #[test]
    fn names_are_sorted() {
        assert!(AUGMENTATIONS.is_sorted_by_key(|a| a.name()));
    }

    #[test]
    fn a_flip_mirrors_columns_of_about_half_of_the_images() {
        let mut stream = Seed::new(3).stream();
        let plain = all(|x, y| [x, y]);
        let mirrored = all(|x, y| [15 - x, y]);
        let seen: Vec<_> = (0..40).map(|_| origins(&Flip, &mut stream)).collect();
        let flips = seen.iter().filter(|origins| **origins == mirrored).count();
        assert_eq!(seen.iter().filter(|origins| **origins == plain).count(), 40 - flips);
        assert!((10..=30).contains(&flips), "{flips}");
    }

    #[test]
    fn a_shift_moves_by_up_to_an_eighth_and_repeats_the_edge() {
        let mut stream = Seed::new(3).stream();
        let shifts: Vec<[isize; 2]> = (-2..=2).flat_map(|x| [[x, -1], [x, 0], [x, 1]]).collect();
        let mut met = vec![false; shifts.len()];
        for _ in 0..200 {
            let origins = origins(&Shift, &mut stream);
            let is = |[right, down]: [isize; 2]| {
                origins == all(|x, y| [(x + right).clamp(0, 15), (y + down).clamp(0, 8)])
            };
            let at = shifts.iter().position(|&shift| is(shift)).unwrap();
            met[at] = true;
        }
        assert!(met.iter().all(|&met| met), "{met:?}");
    }
}
