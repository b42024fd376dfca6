//! Objects fitted to a size and put onto an image.

use faultlens_core::{Bounds, Cutout, Image};

/// The object at another size: areas are averaged, so that edges get soft; `None` for a size of
/// nothing.
pub(super) fn fitted(object: Cutout, [width, height]: [usize; 2]) -> Option<Cutout> {
    let old = [object.image.width(), object.image.height()];
    let bytes = object.image.rgb().as_chunks::<3>().0.iter().zip(&object.alpha);
    let planes: Vec<[f32; 4]> = bytes.map(|(&[r, g, b], &a)| [r, g, b, a].map(f32::from)).collect();
    let planes = resized(&planes, old, [width, height]);
    let rgb = planes.iter().flat_map(|[r, g, b, _]| [*r, *g, *b].map(byte)).collect();
    let alpha: Vec<f32> = planes.iter().map(|[.., a]| *a).collect();
    let alpha = softened(&alpha, [width, height]).into_iter().map(byte).collect();
    Some(Cutout { image: Image::from_rgb(width, height, rgb).ok()?, alpha, ..object })
}

/// The image with the object in a box of the object's size.
pub(super) fn pasted(on: &Image, object: &Cutout, bounds: &Bounds) -> Image {
    let mut image = on.clone();
    let width = on.width();
    let height = on.height();
    let left = bounds.left as i64;
    let top = bounds.top as i64;
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
        // Alpha blending, rounded to the nearest level.
        *old = [0, 1, 2].map(|i| {
            ((u32::from(new[i]) * part + u32::from(old[i]) * (255 - part) + 127) / 255) as u8
        });
    }
    image
}

/// Values redrawn at another size, along one axis and then the other (a separable triangle filter).
fn resized(old: &[[f32; 4]], [width, height]: [usize; 2], new: [usize; 2]) -> Vec<[f32; 4]> {
    let [new_width, new_height] = new;
    let across = shares(width, new_width);
    let down = shares(height, new_height);
    let mut rows: Vec<[f32; 4]> = Vec::with_capacity(height * new_width);
    for y in 0..height {
        for shares in &across {
            rows.push(mixed(shares, |x| old[y * width + x]));
        }
    }
    let mut all = Vec::with_capacity(new_height * new_width);
    for shares in &down {
        for x in 0..new_width {
            all.push(mixed(shares, |y| rows[y * new_width + x]));
        }
    }
    all
}

/// The sum of values, each times its share.
fn mixed(shares: &[(usize, f32)], at: impl Fn(usize) -> [f32; 4]) -> [f32; 4] {
    let mut sum = [0.0; 4];
    for &(from, share) in shares {
        let value = at(from);
        for i in 0..4 {
            sum[i] += share * value[i];
        }
    }
    sum
}

/// For every new place along an axis, the old ones that it is made of: those that it covers where
/// things get smaller, the two nearest where they get larger.
fn shares(old: usize, new: usize) -> Vec<Vec<(usize, f32)>> {
    let pace = old as f64 / new as f64;
    let reach = pace.max(1.0);
    let mut all = Vec::with_capacity(new);
    for at in 0..new {
        let middle = (at as f64 + 0.5) * pace;
        let from = (middle - reach).floor().max(0.0) as usize;
        let to = ((middle + reach).ceil() as usize).min(old);
        let mut own: Vec<(usize, f32)> = Vec::new();
        for place in from..to {
            let away = (place as f64 + 0.5 - middle).abs() / reach;
            let share = (1.0 - away).max(0.0) as f32;
            if share > 0.0 {
                own.push((place, share));
            }
        }
        let sum: f32 = own.iter().map(|(_, share)| share).sum();
        own.iter_mut().for_each(|(_, share)| *share /= sum);
        all.push(own);
    }
    all
}

/// A level as a byte.
fn byte(level: f32) -> u8 {
    level.round().clamp(0.0, 255.0) as u8
}

/// Coverage with soft edges: every pixel the mean of its 3×3 neighbourhood, what lies outside of
/// the box counting as nothing, and never more than it was.
fn softened(alpha: &[f32], [width, height]: [usize; 2]) -> Vec<f32> {
    let mut soft = Vec::with_capacity(alpha.len());
    for y in 0..height {
        for x in 0..width {
            let mut sum = 0.0;
            for near_y in y as i64 - 1..=y as i64 + 1 {
                for near_x in x as i64 - 1..=x as i64 + 1 {
                    let inside =
                        (0..width as i64).contains(&near_x) && (0..height as i64).contains(&near_y);
                    sum +=
                        if inside { alpha[near_y as usize * width + near_x as usize] } else { 0.0 };
                }
            }
            soft.push((sum / 9.0f32).min(alpha[y * width + x]));
        }
    }
    soft
}
