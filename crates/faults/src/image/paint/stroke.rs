//! Strokes drawn with soft edges.

/// How opaque every point is, from 0 to 1.
pub(crate) struct Opacity {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) values: Vec<f32>,
}

/// A straight line with round ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stroke {
    pub(crate) from: [f32; 2],
    pub(crate) to: [f32; 2],
    /// Half its thickness, in pixels; thinner than a pixel is fainter.
    pub(crate) radius: f32,
    /// How opaque it is, at its start and its end.
    pub(crate) opacity: [f32; 2],
}

/// Strokes are drawn in pieces of about this length, in pixels, so that little is looked at in
/// vain.
const PIECE: f32 = 12.0;

impl Opacity {
    /// Nothing drawn yet.
    pub(crate) fn new(width: usize, height: usize) -> Self {
        Self { width, height, values: vec![0.0; width * height] }
    }

    /// Draws a stroke; where something is there already, the more opaque stays.
    pub(crate) fn draw(&mut self, stroke: &Stroke) {
        let Stroke { from, to, radius, opacity } = *stroke;
        let way = [to[0] - from[0], to[1] - from[1]];
        let length = (way[0] * way[0] + way[1] * way[1]).sqrt();
        let margin = radius.max(0.5) + 0.5;
        let touches = |part: usize, n: usize| {
            from[part].max(to[part]) + margin > 0.0 && from[part].min(to[part]) - margin < n as f32
        };
        if !length.is_finite() || !touches(0, self.width) || !touches(1, self.height) {
            return;
        }
        let pieces = (length / PIECE).ceil().max(1.0) as usize;
        for piece in 0..pieces {
            let ends = [piece, piece + 1].map(|at| at as f32 / pieces as f32);
            let [from, to] = ends.map(|at| [from[0] + at * way[0], from[1] + at * way[1]]);
            let opacity = ends.map(|at| opacity[0] + at * (opacity[1] - opacity[0]));
            self.draw_piece(&Stroke { from, to, radius, opacity });
        }
    }

    fn draw_piece(&mut self, &Stroke { from, to, radius, opacity }: &Stroke) {
        let thin = (2.0 * radius).min(1.0);
        let radius = radius.max(0.5);
        let reach = |part: usize, n: usize| {
            let low = (from[part].min(to[part]) - radius - 0.5).max(0.0) as usize;
            let high = (from[part].max(to[part]) + radius + 1.5).max(0.0) as usize;
            low.min(n)..high.min(n)
        };
        let way = [to[0] - from[0], to[1] - from[1]];
        let square = (way[0] * way[0] + way[1] * way[1]).max(1e-6);
        for y in reach(1, self.height) {
            for x in reach(0, self.width) {
                let off = [x as f32 + 0.5 - from[0], y as f32 + 0.5 - from[1]];
                let along = ((off[0] * way[0] + off[1] * way[1]) / square).clamp(0.0, 1.0);
                let aside = [off[0] - along * way[0], off[1] - along * way[1]];
                let distance = (aside[0] * aside[0] + aside[1] * aside[1]).sqrt();
                let covered = (radius + 0.5 - distance).clamp(0.0, 1.0) * thin;
                let level = opacity[0] + along * (opacity[1] - opacity[0]);
                let value = &mut self.values[y * self.width + x];
                *value = value.max(covered * level);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(from: [f32; 2], to: [f32; 2], radius: f32) -> Opacity {
        let mut opacity = Opacity::new(40, 30);
        opacity.draw(&Stroke { from, to, radius, opacity: [1.0, 1.0] });
        opacity
    }

    #[test]
    fn a_stroke_covers_its_length_times_its_thickness() {
        for (from, to) in [([5.0, 10.0], [35.0, 10.0]), ([5.0, 5.0], [29.0, 23.0])] {
            for radius in [0.25, 0.5, 2.0] {
                let sum: f32 = drawn(from, to, radius).values.iter().sum();
                let wanted = 30.0 * 2.0 * radius;
                assert!((sum / wanted - 1.0).abs() < 0.25, "{radius}: {sum}, not {wanted}");
            }
        }
    }

    #[test]
    fn what_lies_outside_is_left_out() {
        let sum = |from, to| drawn(from, to, 1.0).values.iter().sum::<f32>();
        assert_eq!(sum([-9.0, -9.0], [-5.0, 50.0]), 0.0);
        assert!(sum([-500.0, 15.0], [500.0, 15.0]) > 70.0);
        assert_eq!(sum([f32::NAN, 15.0], [5.0, 15.0]), 0.0);
    }
}
