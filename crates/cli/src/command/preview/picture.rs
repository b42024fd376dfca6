//! The contact sheet as one picture.

use anyhow::Context;
use faultlens::Image;

use super::Row;
use crate::command::canvas::{Canvas, GAP};
use crate::command::letters;

/// Pixels of the picture for each of a letter.
const PIXEL: usize = 2;

/// The image with a longer side of at most so many pixels, each the mean of those that it covers.
pub(super) fn shrunk(image: &Image, limit: usize) -> anyhow::Result<Image> {
    let longer = image.width().max(image.height());
    if longer <= limit {
        return Ok(image.clone());
    }
    let side = |side: usize| (side * limit / longer).max(1);
    let width = side(image.width());
    let height = side(image.height());
    let span = |at: usize, new: usize, old: usize| at * old / new..((at + 1) * old).div_ceil(new);
    let mut rgb = Vec::with_capacity(width * height * 3);
    for y in 0..height {
        let rows = span(y, height, image.height());
        for x in 0..width {
            let columns = span(x, width, image.width());
            let count = rows.len() * columns.len();
            for channel in 0..3 {
                let all = rows.clone().flat_map(|y| columns.clone().map(move |x| (y, x)));
                let sum: usize = all
                    .map(|(y, x)| usize::from(image.rgb()[(y * image.width() + x) * 3 + channel]))
                    .sum();
                rgb.push(((sum + count / 2) / count) as u8);
            }
        }
    }
    Image::from_rgb(width, height, rgb).context("the image has no pixels")
}

/// A row per fault with its name above, the image without a fault at the top.
pub(super) fn sheet(image: &Image, rows: &[Row]) -> anyhow::Result<Image> {
    let columns = rows.iter().map(|row| row.pictures.len()).max().unwrap_or(1).max(1);
    let line = letters::HEIGHT * PIXEL + GAP;
    let step = [image.width() + GAP, image.height() + line + GAP];
    let names = rows.iter().map(|row| letters::width(row.fault.name, PIXEL)).max().unwrap_or(0);
    let width = (columns * step[0]).max(names + GAP) + GAP;
    let mut canvas = Canvas::new(width, (rows.len() + 1) * step[1] + GAP);
    canvas.write("no fault", GAP, GAP, PIXEL);
    canvas.show(image, GAP, GAP + line);
    for (at, row) in rows.iter().enumerate() {
        let top = (at + 1) * step[1] + GAP;
        for (column, (severity, picture)) in row.pictures.iter().enumerate() {
            let left = column * step[0] + GAP;
            let number = severity.map(|severity| severity.to_string()).unwrap_or_default();
            let right = left + image.width().saturating_sub(letters::width(&number, PIXEL));
            // A long name takes the place of the first number.
            if right > letters::width(row.fault.name, PIXEL) + 2 * GAP {
                canvas.write(&number, right, top, PIXEL);
            }
            canvas.show(picture, left, top + line);
        }
        canvas.write(row.fault.name, GAP, top, PIXEL);
    }
    canvas.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_becomes_smaller_by_means() {
        let rgb = [0u8, 100, 200, 50].iter().flat_map(|&grey| [grey; 3]).collect();
        let image = Image::from_rgb(4, 1, rgb).unwrap();
        let small = shrunk(&image, 2).unwrap();
        assert_eq!((small.width(), small.height()), (2, 1));
        assert_eq!(small.rgb(), [50, 50, 50, 125, 125, 125]);
        assert_eq!(shrunk(&image, 4).unwrap(), image);
        assert_eq!(shrunk(&Image::from_rgb(1, 9, vec![7; 27]).unwrap(), 3).unwrap().height(), 3);
    }
}
