//! Where each pixel goes: every resize mode as a cut, a resize and an offset.

use super::{Align, Resize, VisionError};

/// The most pixels that a resize may produce on the way to the model's input.
const MAX_RESIZED: usize = 1 << 26;

/// Where an image came to lie in the model's input, so that what is found there can be mapped
/// back: `input = image × scale + offset`, each as `[x, y]` in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    /// Pixels of the model's input per pixel of the image.
    pub scale: [f64; 2],
    /// Where the image's corner lies; negative when it was cut away.
    pub offset: [f64; 2],
}

impl Placement {
    /// The point of the model's input that shows this point of the image.
    pub fn to_input(&self, point: [f64; 2]) -> [f64; 2] {
        [0, 1].map(|i| point[i] * self.scale[i] + self.offset[i])
    }

    /// The point of the image that this point of the model's input shows.
    pub fn to_image(&self, point: [f64; 2]) -> [f64; 2] {
        [0, 1].map(|i| (point[i] - self.offset[i]) / self.scale[i])
    }
}

/// A resize mode worked out for one image: cut a rectangle out, resize it, lay it at `offset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ResizeSteps {
    /// Left and top of the cut.
    pub(super) from: [usize; 2],
    /// Width and height of the cut.
    pub(super) cut: [usize; 2],
    /// Width and height of the cut after the resize.
    pub(super) resized: [usize; 2],
    /// Left and top of the resized cut in the model's input; negative to cut again.
    pub(super) offset: [i64; 2],
}

impl ResizeSteps {
    /// Works out `resize` for an image of `[width, height]` and an input of `[width, height]`.
    pub(super) fn new(
        resize: Resize,
        image: [usize; 2],
        input: [usize; 2],
    ) -> Result<Self, VisionError> {
        let whole = Self { from: [0, 0], cut: image, resized: input, offset: [0, 0] };
        let steps = match resize {
            Resize::Stretch => whole,
            Resize::None if image == input => whole,
            Resize::None => {
                let [width, height] = image;
                return Err(VisionError::ImageSize { width, height, wanted: [input[1], input[0]] });
            }
            Resize::CentreCrop { share } => {
                let cut = inside(image, input, share);
                Self { from: [0, 1].map(|i| centred(image[i], cut[i]) as usize), cut, ..whole }
            }
            Resize::ShortSide(pixels) => {
                // torchvision's `Resize` and `CenterCrop`.
                let short = image[0].min(image[1]);
                let resized = image.map(|side| grown(side, pixels, short));
                Self { resized, offset: [0, 1].map(|i| centred(input[i], resized[i])), ..whole }
            }
            Resize::Letterbox { align, .. } => {
                let resized = fitted(image, input);
                let offset = match align {
                    Align::TopLeft => [0, 0],
                    Align::Centre => [0, 1].map(|i| centred(input[i], resized[i])),
                };
                Self { resized, offset, ..whole }
            }
        };
        steps.bounded(image)
    }

    /// Refuses what needs too much memory, also halfway, when only the columns are resized.
    fn bounded(self, [width, height]: [usize; 2]) -> Result<Self, VisionError> {
        let rows = self.resized[1].max(self.cut[1]);
        if self.resized[0].saturating_mul(rows) > MAX_RESIZED {
            return Err(VisionError::TooLong { width, height });
        }
        Ok(self)
    }

    pub(super) fn placement(&self) -> Placement {
        // Cut, resize and offset are one affine map per axis.
        let scale = [0, 1].map(|i| self.resized[i] as f64 / self.cut[i] as f64);
        let offset = [0, 1].map(|i| self.offset[i] as f64 - self.from[i] as f64 * scale[i]);
        Placement { scale, offset }
    }
}

/// Half of what `inner` leaves of `outer`, halves to even as Pillow and torchvision round.
fn centred(outer: usize, inner: usize) -> i64 {
    ((outer as f64 - inner as f64) / 2.0).round_ties_even() as i64
}

/// `side × pixels / short`, cut off as torchvision does; the short side is met exactly.
fn grown(side: usize, pixels: usize, short: usize) -> usize {
    (side as u128 * pixels as u128 / short as u128).try_into().unwrap_or(usize::MAX)
}

/// The largest `[width, height]` with `of`'s aspect ratio inside `within`, times `share`.
fn inside(within: [usize; 2], of: [usize; 2], share: f64) -> [usize; 2] {
    // The smaller of both factors fits both axes.
    let factor = (within[0] as f64 / of[0] as f64).min(within[1] as f64 / of[1] as f64);
    [0, 1].map(|i| ((of[i] as f64 * factor * share).round() as usize).clamp(1, within[i]))
}

/// The largest size with `image`'s aspect ratio inside `input`, rounded as Pillow rounds.
fn fitted(image: [usize; 2], input: [usize; 2]) -> [usize; 2] {
    // The axis along which the image fills the input; cross-multiplied, so that nothing is rounded.
    let limiting = usize::from(input[0] * image[1] > input[1] * image[0]);
    let other = 1 - limiting;
    let mut fitted = input;
    let exact = image[other] as f64 / image[limiting] as f64 * input[limiting] as f64;
    fitted[other] = (exact.round_ties_even() as usize).clamp(1, input[other]);
    fitted
}

#[cfg(test)]
mod tests {
    use super::*;

    const LETTERBOX: Resize = Resize::Letterbox { pad: 114, align: Align::Centre };

    #[test]
    fn modes_give_the_expected_steps() {
        let steps = |r, image, input| {
            let s = ResizeSteps::new(r, image, input).unwrap();
            (s.from, s.cut, s.resized, s.offset)
        };
        let square = [224, 224];
        assert_eq!(
            steps(Resize::Stretch, [500, 375], square),
            ([0, 0], [500, 375], square, [0, 0])
        );
        assert_eq!(
            steps(Resize::CentreCrop { share: 0.875 }, [341, 256], square),
            ([58, 16], [224, 224], square, [0, 0])
        );
        assert_eq!(
            steps(Resize::ShortSide(256), [500, 375], square),
            ([0, 0], [500, 375], [341, 256], [-58, -16])
        );
        assert_eq!(
            steps(LETTERBOX, [640, 480], [416, 416]),
            ([0, 0], [640, 480], [416, 312], [0, 52])
        );
        assert_eq!(
            steps(Resize::Letterbox { pad: 0, align: Align::TopLeft }, [427, 640], [416, 416]),
            ([0, 0], [427, 640], [278, 416], [0, 0])
        );
    }

    #[test]
    fn extreme_images_neither_vanish_nor_explode() {
        assert_eq!(ResizeSteps::new(LETTERBOX, [100_000, 1], [64, 64]).unwrap().resized, [64, 1]);
        let crop = Resize::CentreCrop { share: 0.001 };
        assert_eq!(ResizeSteps::new(crop, [9, 3], [64, 64]).unwrap().cut, [1, 1]);
        assert!(matches!(
            ResizeSteps::new(Resize::ShortSide(256), [1_000_000, 1], [224, 224]),
            Err(VisionError::TooLong { .. })
        ));
        assert!(matches!(
            ResizeSteps::new(Resize::Stretch, [1, 1_000_000], [224, 224]),
            Err(VisionError::TooLong { .. })
        ));
        assert!(matches!(
            ResizeSteps::new(Resize::None, [9, 8], [8, 8]),
            Err(VisionError::ImageSize { .. })
        ));
    }

    #[test]
    fn placement_maps_there_and_back() {
        for resize in [Resize::Stretch, Resize::ShortSide(256), LETTERBOX] {
            let placement = ResizeSteps::new(resize, [500, 375], [224, 224]).unwrap().placement();
            let back = placement.to_image(placement.to_input([123.0, 45.0]));
            assert!((back[0] - 123.0).abs() < 1e-9 && (back[1] - 45.0).abs() < 1e-9, "{back:?}");
        }
        let centre = ResizeSteps::new(LETTERBOX, [640, 480], [416, 416]).unwrap().placement();
        assert_eq!(centre.to_input([320.0, 240.0]), [208.0, 208.0]);
    }
}
