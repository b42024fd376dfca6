//! Images redrawn from other places of themselves.

use super::edge::Edge;
use super::pixels::with_rgb;
use super::round::level_byte;
use faultlens_core::{
    Image, Motion, Parameter, ParameterKind, Setting, SettingError, Settings, Unset,
};
use std::borrow::Cow;

/// For faults that move an image and leave a part of it without content.
pub(crate) const FILL: Parameter = Parameter {
    name: "fill",
    about: "what fills the area that the image has left",
    kind: ParameterKind::Choice(&["black", "edge", "reflect"]),
    unset: Unset::Is(Setting::Word(Cow::Borrowed("black"))),
};

/// What stands where the image has moved away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fill {
    /// Nothing.
    Black,
    /// The image, going on beyond its edge.
    Beyond(Edge),
}

impl Fill {
    pub(crate) fn of(settings: &Settings) -> Result<Self, SettingError> {
        match settings.get(FILL.name) {
            None => Ok(Self::Black),
            Some(_) => match settings.word(FILL.name)? {
                "edge" => Ok(Self::Beyond(Edge::Repeat)),
                "reflect" => Ok(Self::Beyond(Edge::Reflect)),
                _ => Ok(Self::Black),
            },
        }
    }
}

/// Red, green, blue and nothing: four numbers are worked on at once.
type Pixel = [f32; 4];

/// The image with every pixel taken from where the motion says, between the four nearest.
pub(crate) fn moved(image: &Image, motion: &Motion, fill: Fill) -> Image {
    let [width, height] = [image.width(), image.height()];
    let canvas = Canvas::new(image, fill);
    let mut rgb = vec![0; image.rgb().len()];
    let (out, _) = rgb.as_chunks_mut::<3>();
    match motion {
        Motion::Affine([across, down]) => {
            for (y, out) in out.chunks_exact_mut(width).take(height).enumerate() {
                let start = [across, down].map(|[_, b, c]| b * (y as f64 + 0.5) + c - 0.5);
                for (x, out) in out.iter_mut().enumerate() {
                    let x = x as f64 + 0.5;
                    let [x, y] = [across[0] * x + start[0], down[0] * x + start[1]];
                    *out = canvas.at(x as f32, y as f32);
                }
            }
        }
        Motion::Field { points, .. } => {
            for (out, &[x, y]) in out.iter_mut().zip(points) {
                *out = canvas.at(x - 0.5, y - 0.5);
            }
        }
    }
    with_rgb(image, rgb)
}

/// An image with a border of one pixel on which points between pixels can be looked up.
struct Canvas {
    /// Columns and rows of the image.
    limit: [f32; 2],
    stride: usize,
    pixels: Vec<Pixel>,
    fill: Fill,
}

impl Canvas {
    fn new(image: &Image, fill: Fill) -> Self {
        let size = [image.width(), image.height()];
        let stride = size[0] + 2;
        let mut pixels = vec![[0.0; 4]; stride * (size[1] + 2)];
        let (from, _) = image.rgb().as_chunks::<3>();
        let rows = pixels.chunks_exact_mut(stride).skip(1).zip(from.chunks_exact(size[0]));
        for (out, row) in rows {
            for (out, pixel) in out[1..].iter_mut().zip(row) {
                *out = [0, 1, 2, 0].map(|i| f32::from(pixel[i]));
            }
        }
        if let Fill::Beyond(_) = fill {
            // Both ways of going on begin with the last pixel again.
            pixels.chunks_exact_mut(stride).for_each(|row| Edge::Repeat.pad(row, 1, 1));
            pixels.copy_within(stride..2 * stride, 0);
            pixels.copy_within(stride * size[1]..stride * (size[1] + 1), stride * (size[1] + 1));
        }
        Self { limit: size.map(|n| n as f32), stride, pixels, fill }
    }

    /// The colour at a point; whole numbers are the centres of pixels.
    #[inline(always)]
    fn at(&self, x: f32, y: f32) -> [u8; 3] {
        if x > -1.0 && y > -1.0 && x < self.limit[0] && y < self.limit[1] {
            self.between(x, y)
        } else {
            self.outside(x, y)
        }
    }

    #[cold]
    #[inline(never)]
    fn outside(&self, x: f32, y: f32) -> [u8; 3] {
        match self.fill {
            Fill::Black => [0; 3],
            Fill::Beyond(edge) => {
                self.between(beyond(x, self.limit[0], edge), beyond(y, self.limit[1], edge))
            }
        }
    }

    /// Mixes the four pixels around a point of the image or its border.
    #[inline(always)]
    fn between(&self, x: f32, y: f32) -> [u8; 3] {
        // From the border's first pixel, so that cutting off rounds down.
        let [x, y] = [x + 1.0, y + 1.0];
        let [left, top] = [x as u32, y as u32];
        let [across, down] = [x - left as f32, y - top as f32];
        let at = top as usize * self.stride + left as usize;
        let pair = |at: usize| self.pixels.get(at..at + 2);
        let (Some(&[a, b]), Some(&[c, d])) = (pair(at), pair(at + self.stride)) else {
            return [0; 3];
        };
        let mut mixed = [0.0; 4];
        for (i, mixed) in mixed.iter_mut().enumerate() {
            let upper = a[i] + across * (b[i] - a[i]);
            let lower = c[i] + across * (d[i] - c[i]);
            *mixed = upper + down * (lower - upper);
        }
        [level_byte(mixed[0]), level_byte(mixed[1]), level_byte(mixed[2])]
    }
}

/// A place outside, folded back to where its content comes from.
fn beyond(at: f32, length: f32, edge: Edge) -> f32 {
    match edge {
        Edge::Reflect => {
            let place = (at + 0.5).rem_euclid(2.0 * length);
            place.min(2.0 * length - place) - 0.5
        }
        _ => at.clamp(0.0, length - 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shifted(right: f64, fill: Fill) -> Vec<u8> {
        let image = Image::from_rgb(3, 1, [[40; 3], [80; 3], [120; 3]].concat()).unwrap();
        let motion = Motion::Affine([[1.0, 0.0, -right], [0.0, 1.0, 0.0]]);
        moved(&image, &motion, fill).rgb().iter().step_by(3).copied().collect()
    }

    #[test]
    fn what_moved_away_is_filled() {
        let edge = Fill::Beyond(Edge::Repeat);
        let reflect = Fill::Beyond(Edge::Reflect);
        let cases = [
            (0.0, Fill::Black, [40, 80, 120]),
            (1.0, Fill::Black, [0, 40, 80]),
            (-2.0, Fill::Black, [120, 0, 0]),
            (9.0, Fill::Black, [0, 0, 0]),
            (2.0, edge, [40, 40, 40]),
            (-1.0, edge, [80, 120, 120]),
            (2.0, reflect, [80, 40, 40]),
            (-4.0, reflect, [80, 40, 40]),
            (0.5, edge, [40, 60, 100]),
            (0.5, Fill::Black, [20, 60, 100]),
            (7.0, reflect, [40, 40, 80]),
        ];
        for (right, fill, wanted) in cases {
            assert_eq!(shifted(right, fill), wanted, "{right} {fill:?}");
        }
    }
}
