//! Contact sheets: many pictures in one, with boxes and tinted areas where wanted.

use crate::paint::{Canvas, Coverage, Path, Rgb, hex};
use crate::scene::Scene;
use crate::sign::{Conditions, SIGN_CLASSES, sign_of};
use faultlens_core::{Bounds, Image, Seed};

/// Colours of boxes, by class; they repeat.
pub const BOX_COLOURS: [Rgb; 6] =
    [hex(0xffd400), hex(0x00e5ff), hex(0xff4fa0), hex(0x7cff4f), hex(0xff8a1e), hex(0xb48cff)];

/// Tints of areas, by segment class; the first, background, is left as it is.
pub const TINTS: [Option<Rgb>; 4] =
    [None, Some(hex(0x8040ff)), Some(hex(0xff9000)), Some(hex(0x00e060))];

/// All signs: a row per class, `columns` crops each.
pub fn signs(seed: Seed, columns: usize) -> Image {
    let crops = (0..SIGN_CLASSES.len()).flat_map(|class| {
        (0..columns as u64).map(move |column| {
            let own = seed.child(SIGN_CLASSES[class]).at(column);
            sign_of(class, Conditions::random(&mut own.child("conditions").stream()), own).image
        })
    });
    grid(&crops.collect::<Vec<_>>(), columns)
}

/// Scenes as they are, `columns` to a row.
pub fn scenes(scenes: &[Scene], columns: usize) -> Image {
    let images: Vec<Image> = scenes.iter().map(|scene| scene.case.image.clone()).collect();
    grid(&images, columns)
}

/// Scenes with their ground truth: boxes, road, vehicles and signs.
pub fn truths(scenes: &[Scene], columns: usize) -> Image {
    grid(
        &scenes
            .iter()
            .map(|scene: &Scene| {
                let boxes: Vec<_> =
                    scene.case.objects.iter().map(|o| (o.bounds, o.class)).collect();
                overlay(&scene.case.image, &boxes, &scene.case.segments)
            })
            .collect::<Vec<_>>(),
        columns,
    )
}

/// A picture at twice its size with boxes drawn around things and areas tinted: ground truth or a
/// model's answer. A box comes with the number of its colour; `segments` may be empty.
pub fn overlay(image: &Image, boxes: &[(Bounds, usize)], segments: &[u8]) -> Image {
    let mut canvas = enlarged(image, 2);
    let width = image.width();
    canvas.each(|x, y, colour| {
        let segment = segments.get(y / 2 * width + x / 2).copied().unwrap_or(0);
        match TINTS.get(usize::from(segment)).copied().flatten() {
            Some(tint) => crate::paint::mix(colour, tint, 0.3),
            None => colour,
        }
    });
    for (b, colour) in boxes {
        let corner = |x: f32, y: f32| [x * 2.0, y * 2.0];
        let corners = [
            corner(b.left, b.top),
            corner(b.right, b.top),
            corner(b.right, b.bottom),
            corner(b.left, b.bottom),
        ];
        let coverage = Coverage::of(&Path::ring(&corners, 1.4), canvas.width(), canvas.height());
        canvas.fill(&coverage, BOX_COLOURS[colour % BOX_COLOURS.len()]);
    }
    canvas.image()
}

/// Pictures side by side, `columns` to a row, with a thin gap; cells are as large as the largest.
pub fn grid(images: &[Image], columns: usize) -> Image {
    const GAP: usize = 2;
    let columns = columns.max(1);
    let width = images.iter().map(Image::width).max().unwrap_or(1) + GAP;
    let height = images.iter().map(Image::height).max().unwrap_or(1) + GAP;
    let rows = images.len().div_ceil(columns).max(1);
    let mut canvas = Canvas::new(columns * width + GAP, rows * height + GAP);
    let cells: Vec<Canvas> = images.iter().map(Canvas::from_image).collect();
    canvas.each(|x, y, _| {
        let (Some(x), Some(y)) = (x.checked_sub(GAP), y.checked_sub(GAP)) else { return [1.0; 3] };
        let cell = (x / width < columns).then(|| cells.get(y / height * columns + x / width));
        match cell.flatten() {
            Some(cell) if x % width < cell.width() && y % height < cell.height() => {
                cell.at(x % width, y % height)
            }
            _ => [1.0; 3],
        }
    });
    canvas.image()
}

/// Every pixel as a square of `times` pixels.
fn enlarged(image: &Image, times: usize) -> Canvas {
    let small = Canvas::from_image(image);
    let mut canvas = Canvas::new(image.width() * times, image.height() * times);
    canvas.each(|x, y, _| small.at(x / times, y / times));
    canvas
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grey(width: usize, height: usize) -> Image {
        Image::from_rgb(width, height, vec![100; width * height * 3]).unwrap()
    }

    #[test]
    fn a_grid_has_room_for_all() {
        let sheet = grid(&[grey(4, 3), grey(2, 5), grey(1, 1)], 2);
        assert_eq!((sheet.width(), sheet.height()), (14, 16));
        assert_eq!(&sheet.rgb()[..3], &[255; 3]);
        let dark = sheet.rgb().chunks_exact(3).filter(|p| p == &[100; 3]).count();
        assert_eq!(dark, 12 + 10 + 1);
        assert_eq!(grid(&[], 0).width(), 5);
    }

    #[test]
    fn sheets_hold_every_class_and_every_scene() {
        let signs = signs(Seed::new(1), 3);
        assert_eq!((signs.width(), signs.height()), (3 * 50 + 2, SIGN_CLASSES.len() * 50 + 2));
        let three = crate::scenes(Seed::new(1), 3);
        assert_eq!(scenes(&three, 2).height(), 2 * 130 + 2);
        assert_eq!(truths(&three, 2).height(), 2 * 258 + 2);
    }

    #[test]
    fn overlays_show_boxes_and_areas() {
        let bounds = Bounds { left: 2.0, top: 2.0, right: 8.0, bottom: 8.0 };
        let plain = overlay(&grey(10, 10), &[], &[]);
        let boxed = overlay(&grey(10, 10), &[(bounds, 0)], &[]);
        let tinted = overlay(&grey(10, 10), &[], &[3; 100]);
        assert_eq!((plain.width(), plain.rgb()[0]), (20, 100));
        let at = |image: &Image, x: usize, y: usize| image.rgb()[(y * 20 + x) * 3];
        assert!(at(&boxed, 4, 8) > 150 && at(&boxed, 9, 9) == 100);
        assert!(tinted.rgb()[1] > tinted.rgb()[0] && at(&tinted, 9, 9) < 100);
    }
}
