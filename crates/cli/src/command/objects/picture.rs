//! A picture of a pool: every object on a chequered ground, so that its outline is seen.

use anyhow::Context;
use faultlens::data::Pool;
use faultlens::{Cutout, Image};

use crate::command::canvas::{Canvas, GAP};
use crate::command::letters;

/// The side of the ground that an object lies on.
const SIDE: usize = 112;
const COLUMNS: usize = 10;
/// Objects that a picture has room for.
const MOST: usize = 500;
/// The side of a field of the ground, and its two greys.
const FIELD: usize = 8;
const GREYS: [u8; 2] = [120, 160];

/// The first objects by label, largest first, with their labels above.
pub(super) fn sheet(pool: &Pool) -> anyhow::Result<Image> {
    let mut order: Vec<usize> = (0..pool.objects.len()).collect();
    order.sort_by_key(|&at| {
        let entry = &pool.objects[at];
        (entry.label.clone(), std::cmp::Reverse(entry.pixels))
    });
    order.truncate(MOST);
    let columns = order.len().clamp(1, COLUMNS);
    let line = letters::HEIGHT * 2 + GAP / 2;
    let step = [SIDE + GAP, SIDE + line + GAP];
    let rows = order.len().div_ceil(columns);
    let mut canvas = Canvas::new(columns * step[0] + GAP, rows * step[1] + GAP);
    for (place, at) in order.into_iter().enumerate() {
        let left = GAP + place % columns * step[0];
        let top = GAP + place / columns * step[1];
        let label = pool.objects[at].label.to_lowercase();
        // Long labels are written small.
        let pixel = if letters::width(&label, 2) <= SIDE { 2 } else { 1 };
        let cut: String = label.chars().take(SIDE / 6).collect();
        canvas.write(&cut, left, top, pixel);
        canvas.show(&on_ground(&pool.cutout(at)?)?, left, top + line);
    }
    canvas.finish()
}

/// An object on its ground, scaled down where it is larger by area averaging: each pixel is the mean
/// of those that it covers.
fn on_ground(object: &Cutout) -> anyhow::Result<Image> {
    let width = object.image.width();
    let height = object.image.height();
    let longer = width.max(height).max(SIDE);
    let side = |side: usize| (side * SIDE / longer).max(1);
    let wide = side(width);
    let high = side(height);
    let left = (SIDE - wide) / 2;
    let top = (SIDE - high) / 2;
    let span = |at: usize, new: usize, old: usize| at * old / new..((at + 1) * old).div_ceil(new);
    let mut rgb = Vec::with_capacity(SIDE * SIDE * 3);
    for y in 0..SIDE {
        for x in 0..SIDE {
            let grey = GREYS[(x / FIELD + y / FIELD) % 2];
            let inside = (left..left + wide).contains(&x) && (top..top + high).contains(&y);
            if !inside {
                rgb.extend([grey; 3]);
                continue;
            }
            let rows = span(y - top, high, height);
            let columns = span(x - left, wide, width);
            let weight = 255 * rows.len() * columns.len();
            let mut sums = [0usize; 3];
            for at in rows.flat_map(|row| columns.clone().map(move |column| row * width + column)) {
                let alpha = usize::from(object.alpha[at]);
                for (sum, &own) in sums.iter_mut().zip(&object.image.rgb()[at * 3..at * 3 + 3]) {
                    *sum += usize::from(own) * alpha + usize::from(grey) * (255 - alpha);
                }
            }
            rgb.extend(sums.map(|sum| (sum / weight) as u8));
        }
    }
    Image::from_rgb(SIDE, SIDE, rgb).context("the ground has no pixels")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ground_shows_where_there_is_no_object() {
        let image = Image::from_rgb(2, 1, vec![255, 0, 0, 0, 255, 0]).unwrap();
        let text = String::new;
        let label = text();
        let source = text();
        let id = text();
        let object = Cutout { label, source, id, hash: 0, image, alpha: vec![255, 0] };
        let shown = on_ground(&object).unwrap();
        let row = (SIDE - 1) / 2;
        let column = (SIDE - 2) / 2;
        let pixel = |column: usize| &shown.rgb()[(row * SIDE + column) * 3..][..3];
        assert_eq!(pixel(column), [255, 0, 0]);
        assert!(GREYS.contains(&pixel(column + 1)[0]));
        // A large object is made to fit.
        let image = Image::from_rgb(448, 4, vec![9; 448 * 4 * 3]).unwrap();
        let label = text();
        let source = text();
        let id = text();
        let alpha = vec![255; 448 * 4];
        let wide = on_ground(&Cutout { label, source, id, hash: 0, image, alpha }).unwrap();
        let middle = &wide.rgb()[row * SIDE * 3..][..SIDE * 3];
        assert!(middle.iter().all(|&value| value == 9));
    }
}
