//! The ground: a camera over a plane, and a road that bends on it.

use crate::light::{Ambience, Light, Weather};
use crate::paint::{Canvas, Rgb, Transform, ValueNoise, hex, mix, scaled};
use faultlens_core::Stream;

/// A camera that looks straight ahead over a plane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    /// Pixels per metre at a distance of one metre.
    pub focal: f32,
    /// Metres above the ground.
    pub height: f32,
    /// The row of the horizon.
    pub horizon: f32,
    /// The column straight ahead.
    pub centre: f32,
}

impl Camera {
    /// Where a drawing in metres, standing on the ground, lands in the picture.
    pub fn place(&self, depth: f32, sideways: f32) -> Transform {
        let scale = self.focal / depth;
        let x = self.centre + scale * sideways;
        let y = self.horizon + scale * self.height;
        Transform::IDENTITY.scaled(scale, scale).shifted(x, y)
    }
}

/// A road of constant curvature, seen from its right lane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Road {
    /// The steering angle that follows it: -1 hard left, 1 hard right.
    pub steering: f32,
    /// Metres that the camera is right of the road's middle.
    pub offset: f32,
}

/// Curvature per metre at full steering.
const MAX_BEND: f32 = 0.016;

impl Road {
    /// Metres from the road's middle to its edge.
    pub const HALF_WIDTH: f32 = 3.2;

    /// Metres from the road's middle to the middle of a lane.
    pub const LANE: f32 = 1.55;

    /// How far sideways of the camera the road's middle is, at a depth.
    pub fn middle(&self, depth: f32) -> f32 {
        self.steering * MAX_BEND * depth * depth / 2.0 - self.offset
    }
}

/// How much of a pixel each surface of the road takes.
#[derive(Default)]
struct Surface {
    road: f32,
    line: f32,
    verge: f32,
}

const SUBROWS: usize = 4;

/// Paints everything below the horizon and says which pixels are road.
pub(super) fn paint(
    canvas: &mut Canvas,
    camera: &Camera,
    road: &Road,
    ambience: &Ambience,
    stream: &mut Stream,
) -> Vec<bool> {
    let ground = Ground::random(ambience, stream);
    let mut is_road = Vec::with_capacity(canvas.width() * canvas.height());
    let mut rows = Vec::new();
    let mut row_painted = usize::MAX;
    canvas.each(|x, y, colour| {
        if y != row_painted {
            row_painted = y;
            rows = subrows(camera, road, y as f32);
        }
        let Some(depth) = rows.get(rows.len() / 2).map(|row: &Subrow| row.depth) else {
            is_road.push(false);
            return colour;
        };
        let column = x as f32 + 0.5 - camera.centre;
        let surface = surface(&rows, column, camera.focal);
        is_road.push(surface.road >= 0.5);
        let sideways = column * depth / camera.focal;
        let lit = ground.colour(&surface, sideways, depth, road.middle(depth), ambience);
        mix(colour, lit, rows.len() as f32 / SUBROWS as f32)
    });
    is_road
}

struct Subrow {
    depth: f32,
    middle: f32,
    dash: bool,
}

/// The parts of a pixel row that lie on the ground.
fn subrows(camera: &Camera, road: &Road, y: f32) -> Vec<Subrow> {
    let mut rows = Vec::new();
    for s in 0..SUBROWS {
        let below = y + (s as f32 + 0.5) / SUBROWS as f32 - camera.horizon;
        // Closer to the horizon, a row would reach too far into the distance.
        if below > 0.3 {
            // Pinhole camera over a flat ground: depth is inverse to the distance below the horizon.
            let depth = camera.focal * camera.height / below;
            let phase = (depth + 3.0 * road.offset) / 6.0;
            let dash = phase - phase.floor() < 0.55;
            rows.push(Subrow { depth, middle: road.middle(depth), dash });
        }
    }
    rows
}

fn surface(rows: &[Subrow], column: f32, focal: f32) -> Surface {
    let mut sum = Surface::default();
    for row in rows {
        let metre = focal / row.depth;
        let from = (column - 0.5) / metre - row.middle;
        // The part of the pixel, one pixel wide, between two places across the road.
        let between = |a: f32, b: f32| ((from + 1.0 / metre).min(b) - from.max(a)).max(0.0) * metre;
        let half = Road::HALF_WIDTH;
        sum.road += between(-half, half);
        sum.verge += between(-half - 0.7, half + 0.7);
        sum.line += between(0.2 - half, 0.36 - half) + between(half - 0.36, half - 0.2);
        if row.dash {
            sum.line += between(-0.08, 0.08);
        }
    }
    let n = rows.len() as f32;
    Surface { road: sum.road / n, line: sum.line / n, verge: sum.verge / n }
}

/// The colours of the ground of one picture.
struct Ground {
    noise: ValueNoise,
    grass: Rgb,
    dry: Rgb,
    asphalt: Rgb,
}

impl Ground {
    fn random(ambience: &Ambience, stream: &mut Stream) -> Self {
        const GRASS: [Rgb; 4] = [hex(0x5f8a3a), hex(0x6f8f42), hex(0x4f7a38), hex(0x8a8a4a)];
        let wet = if ambience.weather == Weather::Rain { 0.75 } else { 1.0 };
        let grey = stream.between(0.34, 0.46) as f32 * wet;
        Self {
            noise: ValueNoise::new(stream),
            grass: GRASS[stream.below(GRASS.len())],
            dry: mix(hex(0xa89a5c), hex(0x4c7030), stream.uniform() as f32),
            asphalt: [grey, grey * 1.01, grey * 1.04],
        }
    }

    fn colour(&self, s: &Surface, x: f32, depth: f32, middle: f32, ambience: &Ambience) -> Rgb {
        // Far away, bumps are finer than pixels and even out.
        let near = 1.0 / (1.0 + depth * depth / 300.0);
        let coarse = self.noise.rough(x * 0.35, depth * 0.12, 2);
        let fine = (self.noise.at(x * 5.0, depth * 2.0) - 0.5) * near;
        let meadow = scaled(mix(self.grass, self.dry, coarse * 0.6), 0.95 + fine * 0.5);
        let gravel = scaled(hex(0x9a917e), 0.95 + fine * 0.5);
        let track = ((x - middle).abs() - Road::LANE).abs();
        let worn = 1.0 - 0.10 * (1.0 - (track - 0.75).abs() * 2.5).clamp(0.0, 1.0);
        let asphalt = scaled(self.asphalt, worn * (0.94 + 0.12 * coarse + 0.22 * fine));
        let paint = scaled(hex(0xf0efe8), 0.92 + 0.2 * fine);
        let base = mix(meadow, gravel, (s.verge - s.road).clamp(0.0, 1.0));
        let colour = mix(mix(base, asphalt, s.road), paint, s.line.min(1.0) * 0.92);
        let retro = if ambience.light == Light::Night { 0.85 + 0.5 * s.line } else { 0.0 };
        ambience.shade(depth, x, retro).lit(colour, 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_road_bends_to_the_side_it_is_steered() {
        let road = |steering| Road { steering, offset: 1.5 };
        assert_eq!(road(0.0).middle(40.0), -1.5);
        assert!(road(0.5).middle(40.0) > 2.0 && road(-0.5).middle(40.0) < -5.0);
        assert!(road(1.0).middle(20.0) - road(1.0).middle(10.0) > 2.0);
    }

    #[test]
    fn things_shrink_toward_the_horizon() {
        let camera = Camera { focal: 150.0, height: 1.5, horizon: 50.0, centre: 64.0 };
        let foot = camera.place(15.0, 2.0).apply([0.0, 0.0]);
        let head = camera.place(15.0, 2.0).apply([0.0, -1.5]);
        assert!((foot[0] - 84.0).abs() < 1e-3 && (foot[1] - 65.0).abs() < 1e-3);
        assert!((head[1] - camera.horizon).abs() < 1e-3);
    }
}
