//! Objects fitted to a size and put onto an image.

use faultlens_core::{Bounds, Cutout, Image};

/// The object at another size: areas are averaged, so that edges get soft; `None` for a size of
/// nothing.
pub(super) fn fitted(object: Cutout, [width, height]: [usize; 2]) -> Option<Cutout> {
    let old = [object.image.width(), object.image.height()];
    let bytes = object.image.rgb().as_chunks::<3>().0.iter().zip(&object.alpha);
    let planes: Vec<[f32; 4]> = bytes.map(|(&[r, g, b], &a)| [r, g, b, a].map(f32::from)).collect();
    let planes = resized(&planes, old, [width, height]);
    let byte = |level: f32| level.round().clamp(0.0, 255.0) as u8;
    let rgb = planes.iter().flat_map(|[r, g, b, _]| [*r, *g, *b].map(byte)).collect();
    let alpha: Vec<f32> = planes.iter().map(|[.., a]| *a).collect();
    let alpha = softened(&alpha, [width, height]).into_iter().map(byte).collect();
    Some(Cutout { image: Image::from_rgb(width, height, rgb).ok()?, alpha, ..object })
}

/// The image with the object in a box of the object's size.
pub(super) fn pasted(on: &Image, object: &Cutout, bounds: &Bounds) -> Image {
    let mut image = on.clone();
    let (width, height) = (on.width(), on.height());
    let (left, top) = (bounds.left as i64, bounds.top as i64);
    let object_width = object.image.width();
    let pixels = object.image.rgb().as_chunks::<3>().0;
    let out = image.rgb_mut().as_chunks_mut::<3>().0;
    for (at, (new, &alpha)) in pixels.iter().zip(&object.alpha).enumerate() {
        let x = left + (at % object_width) as i64;
        let y = top + (at / object_width) as i64;
        if alpha == 0 || x < 0 || y < 0 || x >= width as i64 || y >= height as i64 {
            continue;
        }
        let old = &mut out[y as usize * width + x as usize];
        let part = u32::from(alpha);
        let mixed = |new: u8, old: u8| {
            ((u32::from(new) * part + u32::from(old) * (255 - part) + 127) / 255) as u8
        };
        *old = [0, 1, 2].map(|i| mixed(new[i], old[i]));
    }
    image
}

/// Values redrawn at another size, along one axis and then the other.
fn resized(old: &[[f32; 4]], [width, height]: [usize; 2], new: [usize; 2]) -> Vec<[f32; 4]> {
    let [new_width, new_height] = new;
    let (across, down) = (shares(width, new_width), shares(height, new_height));
    let mixed = |at: &dyn Fn(usize) -> [f32; 4], shares: &[(usize, f32)]| {
        shares.iter().fold([0.0; 4], |sum, &(from, share)| {
            let value = at(from);
            [0, 1, 2, 3].map(|i| sum[i] + share * value[i])
        })
    };
    let rows: Vec<[f32; 4]> = (0..height)
        .flat_map(|y| across.iter().map(move |shares| (y, shares)))
        .map(|(y, shares)| mixed(&|x| old[y * width + x], shares))
        .collect();
    (0..new_height)
        .flat_map(|y| (0..new_width).map(move |x| (x, y)))
        .map(|(x, y)| mixed(&|from| rows[from * new_width + x], &down[y]))
        .collect()
}

/// For every new place along an axis, the old ones that it is made of: those that it covers where
/// things get smaller, the two nearest where they get larger.
fn shares(old: usize, new: usize) -> Vec<Vec<(usize, f32)>> {
    let pace = old as f64 / new as f64;
    let reach = pace.max(1.0);
    let of = |at: usize| {
        let middle = (at as f64 + 0.5) * pace;
        let from = (middle - reach).floor().max(0.0) as usize;
        let to = ((middle + reach).ceil() as usize).min(old);
        let weigh = |place: usize| {
            let away = (place as f64 + 0.5 - middle).abs() / reach;
            (place, (1.0 - away).max(0.0) as f32)
        };
        let mut own: Vec<(usize, f32)> =
            (from..to).map(weigh).filter(|(_, share)| *share > 0.0).collect();
        let sum: f32 = own.iter().map(|(_, share)| share).sum();
        own.iter_mut().for_each(|(_, share)| *share /= sum);
        own
    };
    (0..new).map(of).collect()
}

/// Coverage with soft edges: every pixel the mean of its neighbourhood, what lies outside of the
/// box counting as nothing, and never more than it was.
fn softened(alpha: &[f32], [width, height]: [usize; 2]) -> Vec<f32> {
    let at = |x: i64, y: i64| {
        let inside = x >= 0 && y >= 0 && x < width as i64 && y < height as i64;
        if inside { alpha[y as usize * width + x as usize] } else { 0.0 }
    };
    let mean = |x: i64, y: i64| {
        let around = (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| (dx, dy)));
        around.map(|(dx, dy)| at(x + dx, y + dy)).sum::<f32>() / 9.0
    };
    let pixels = (0..height as i64).flat_map(|y| (0..width as i64).map(move |x| (x, y)));
    pixels.map(|(x, y)| mean(x, y).min(at(x, y))).collect()
}
