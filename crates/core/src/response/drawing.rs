//! Answers drawn on the image that was shown.

use super::{Detection, Segments};
use crate::{Bounds, Image};

/// Colours by class: told apart on photos and by most colour-blind people; they repeat.
const COLOURS: [[u8; 3]; 8] = [
    [255, 212, 0],
    [0, 176, 255],
    [255, 64, 129],
    [0, 200, 83],
    [255, 109, 0],
    [170, 0, 255],
    [0, 230, 210],
    [198, 40, 40],
];

/// How many pixels of the longer side one pixel of a line stands for: lines are seen on pictures that
/// are shown 200 pixels wide.
const PIXELS_PER_LINE: usize = 120;

fn colour(class: usize) -> [u8; 3] {
    COLOURS[class % COLOURS.len()]
}

/// The image with a frame around every object; the highest scores lie on top.
pub(super) fn boxes(on: &Image, found: &[Detection]) -> Image {
    let frames = found.iter().rev().map(|object| (object.bounds, colour(object.class)));
    framed(on, &frames.collect::<Vec<_>>())
}

/// The image with frames of these colours, the last ones on top.
pub fn framed(on: &Image, frames: &[(Bounds, [u8; 3])]) -> Image {
    let mut image = on.clone();
    let thick = on.width().max(on.height()).div_ceil(PIXELS_PER_LINE) as i64;
    for (bounds, colour) in frames {
        frame(image.rgb_mut(), [on.width(), on.height()], bounds, *colour, thick);
    }
    image
}

/// A frame, inside the box; what lies outside of the image is left out.
fn frame(rgb: &mut [u8], [width, height]: [usize; 2], b: &Bounds, colour: [u8; 3], thick: i64) {
    // Casts saturate: NaN becomes 0, and boxes far outside end at the limits of i64.
    let left = b.left.round() as i64;
    let top = b.top.round() as i64;
    // An empty box still gets a frame of one pixel, so that it can be seen.
    let right = (b.right.round() as i64).max(left.saturating_add(1));
    let bottom = (b.bottom.round() as i64).max(top.saturating_add(1));
    // A small object must not be hidden behind its own frame.
    let shorter = right.saturating_sub(left).min(bottom.saturating_sub(top));
    let thick = thick.min(shorter / 4).max((thick + 1) / 2);
    for y in top.max(0)..bottom.min(height as i64) {
        for x in left.max(0)..right.min(width as i64) {
            let inner = x >= left.saturating_add(thick)
                && x < right.saturating_sub(thick)
                && y >= top.saturating_add(thick)
                && y < bottom.saturating_sub(thick);
            if !inner {
                let at = (y as usize * width + x as usize) * 3;
                rgb[at..at + 3].copy_from_slice(&colour);
            }
        }
    }
}

/// The image with the area of every class tinted; the first, mostly background, stays as it is.
pub(super) fn areas(on: &Image, segments: &Segments) -> Option<Image> {
    let mut at = 0;
    let tinted = on.map_pixels(|pixel| {
        let x = at % on.width();
        let y = at / on.width();
        at += 1;
        match segments.class_at(x as f32 + 0.5, y as f32 + 0.5) {
            None | Some(0) => pixel,
            Some(class) => {
                let tint = colour(usize::from(class) - 1);
                [0, 1, 2].map(|i| u8::midpoint(pixel[i], tint[i]))
            }
        }
    });
    Some(tinted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grey(width: usize, height: usize) -> Image {
        Image::from_rgb(width, height, vec![100; width * height * 3]).unwrap()
    }

    fn changed(image: &Image) -> Vec<usize> {
        let pixels = image.rgb().chunks_exact(3).enumerate();
        pixels.filter(|(_, pixel)| *pixel != [100; 3]).map(|(at, _)| at).collect()
    }

    fn changed_in_row(image: &Image, y: usize) -> usize {
        changed(image).into_iter().filter(|at| at / image.width() == y).count()
    }

    fn found(left: f32, top: f32, right: f32, bottom: f32) -> Detection {
        Detection { class: 9, score: 0.5, bounds: Bounds { left, top, right, bottom } }
    }

    #[test]
    fn a_frame_is_drawn_inside_its_box() {
        let drawn = boxes(&grey(5, 5), &[found(1.0, 1.0, 4.0, 4.0)]);
        assert_eq!(changed(&drawn), [6, 7, 8, 11, 13, 16, 17, 18]);
        assert_eq!(drawn.rgb()[6 * 3..][..3], COLOURS[1]);
    }

    #[test]
    fn frames_are_seen_on_small_copies_and_hide_nothing() {
        let large = found(100.0, 100.0, 500.0, 400.0);
        let small = found(10.0, 10.0, 22.0, 22.0);
        // Six pixels on each side of 640 are two of 200; a box of twelve has its middle left.
        assert_eq!(changed_in_row(&boxes(&grey(640, 480), &[large]), 250), 12);
        assert_eq!(changed_in_row(&boxes(&grey(640, 480), &[small]), 16), 6);
    }

    #[test]
    fn what_lies_outside_is_left_out() {
        let inf = f32::INFINITY;
        let nan = f32::NAN;
        for (bounds, wanted) in [
            (found(-3.0, -3.0, 1.0, 1.0), vec![0]),
            (found(9.0, 9.0, 12.0, 12.0), vec![]),
            (found(-inf, -inf, inf, inf), vec![]),
            (found(1.0, 0.0, 1.0, 0.0), vec![1]),
            (found(nan, nan, nan, nan), vec![0]),
        ] {
            assert_eq!(changed(&boxes(&grey(3, 3), &[bounds])), wanted, "{bounds:?}");
        }
    }

    #[test]
    fn areas_are_tinted_where_they_lie_in_the_image() {
        // Two columns that cover the image's right half: background and class 1.
        let covers = Bounds { left: 2.0, top: 0.0, right: 4.0, bottom: 2.0 };
        let classes = vec![0, 1, 0, 2];
        let names = crate::Names::reported([]);
        let segments = Segments { width: 2, height: 2, classes, covers, names, finite: true };
        let drawn = areas(&grey(4, 2), &segments).unwrap();
        assert_eq!(changed(&drawn), [3, 7]);
        assert_eq!(drawn.rgb()[9..12], [177, 156, 50]);
        assert_eq!(segments.class_at(3.5, 1.5), Some(2));
        assert_eq!((segments.class_at(1.9, 0.5), segments.class_at(4.0, 0.5)), (None, None));
    }
}
