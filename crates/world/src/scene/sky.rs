//! Everything above the horizon: sky, clouds, sun, stars, hills, distant trees and houses.

use super::layout::Scenery;
use super::road::Camera;
use crate::light::{Ambience, Light, Weather};
use crate::paint::{Canvas, Coverage, Path, Rgb, Shade, ValueNoise, hex, mix, scaled};
use faultlens_core::Stream;

/// Paints the sky and what stands on the horizon.
pub(super) fn paint(
    canvas: &mut Canvas,
    camera: &Camera,
    scenery: Scenery,
    ambience: &Ambience,
    stream: &mut Stream,
) {
    air(canvas, camera, ambience, stream);
    match ambience.light {
        Light::Night if ambience.weather == Weather::Clear => stars(canvas, camera, stream),
        Light::Dusk if ambience.weather == Weather::Clear => sun(canvas, camera, stream),
        _ => {}
    }
    let (low, high) = if scenery == Scenery::Country { (4.0, 16.0) } else { (2.0, 8.0) };
    ridge(canvas, camera, &far(ambience, 260.0), hex(0x5d7a78), [low, high, 0.022], stream);
    match scenery {
        Scenery::Country => {
            ridge(canvas, camera, &far(ambience, 130.0), hex(0x587a48), [1.0, 6.0, 0.04], stream);
            ridge(canvas, camera, &far(ambience, 90.0), hex(0x34552c), [-3.0, 5.0, 0.22], stream);
        }
        Scenery::Forest => {
            ridge(canvas, camera, &far(ambience, 110.0), hex(0x3b5f36), [7.0, 14.0, 0.16], stream);
            ridge(canvas, camera, &far(ambience, 70.0), hex(0x2b4a27), [2.0, 9.0, 0.3], stream);
        }
        Scenery::Town => {
            houses(canvas, camera, ambience, stream);
            ridge(canvas, camera, &far(ambience, 60.0), hex(0x34552c), [-2.0, 4.0, 0.3], stream);
        }
    }
}

fn far(ambience: &Ambience, metres: f32) -> Shade {
    let shade = ambience.shade(metres, 0.0, 0.0);
    let min_haze = if ambience.light == Light::Night { 0.1 } else { metres / 500.0 };
    Shade { haze: shade.haze.max(min_haze).min(0.85), ..shade }
}

fn air(canvas: &mut Canvas, camera: &Camera, ambience: &Ambience, stream: &mut Stream) {
    let (zenith, low) = match (ambience.light, ambience.weather) {
        (Light::Day, Weather::Clear) => (hex(0x3f82cc), hex(0xcfe2ee)),
        (Light::Day, _) => (hex(0x8f9aa3), hex(0xc0c6c9)),
        (Light::Dusk, Weather::Clear) => (hex(0x3d4680), hex(0xf0a064)),
        (Light::Dusk, _) => (hex(0x5a5668), hex(0xb39a92)),
        (Light::Night, Weather::Clear) => (hex(0x050916), hex(0x1c2740)),
        (Light::Night, _) => (hex(0x0c0f16), hex(0x1d212b)),
    };
    let noise = ValueNoise::new(stream);
    let cover = stream.between(0.42, 0.7) as f32;
    let cloud = match ambience.light {
        Light::Day => hex(0xfafbfc),
        Light::Dusk => hex(0xe08f7a),
        Light::Night => hex(0x20283a),
    };
    let shift = stream.between(0.0, 50.0) as f32;
    canvas.each_above(camera.horizon as usize + 2, |x, y, _| {
        let up = ((camera.horizon - y as f32) / camera.horizon).clamp(0.0, 1.0);
        let base = mix(low, zenith, up * (2.0 - up));
        // Clouds lie in a plane overhead: flatter and closer together toward the horizon.
        let far = 1.0 / (up + 0.18);
        let u = (x as f32 - camera.centre) * far * 0.018 + shift;
        let v = far * 1.6;
        let puff = ((noise.rough(u, v, 3) - cover) * 5.0).clamp(0.0, 1.0);
        mix(base, cloud, puff * (0.25 + 0.6 * up))
    });
}

fn stars(canvas: &mut Canvas, camera: &Camera, stream: &mut Stream) {
    for _ in 0..60 {
        let x = stream.below(canvas.width());
        let y = stream.below(camera.horizon as usize);
        canvas.blend(x, y, hex(0xe8ecff), stream.between(0.1, 0.7) as f32);
    }
    if stream.chance(0.4) {
        let at = [stream.between(10.0, 118.0) as f32, stream.between(6.0, 22.0) as f32];
        canvas.halo(at, 14.0, hex(0x8090b0), 0.35);
        disc(canvas, at, 3.2, hex(0xf0eedc));
    }
}

fn sun(canvas: &mut Canvas, camera: &Camera, stream: &mut Stream) {
    let at = [stream.between(5.0, 123.0) as f32, camera.horizon - stream.between(4.0, 14.0) as f32];
    canvas.halo(at, 60.0, hex(0xff8a3c), 0.45);
    canvas.halo(at, 18.0, hex(0xffd08a), 0.6);
    disc(canvas, at, 4.0, hex(0xfff0c8));
}

fn disc(canvas: &mut Canvas, at: [f32; 2], radius: f32, colour: Rgb) {
    let path = Path::circle(at, radius);
    let coverage = Coverage::of(&path, canvas.width(), canvas.height());
    canvas.fill(&coverage, colour);
}

/// A ragged band on the horizon; `shape` is its minimum and maximum height and its bumps per pixel.
fn ridge(
    canvas: &mut Canvas,
    camera: &Camera,
    shade: &Shade,
    colour: Rgb,
    shape: [f32; 3],
    stream: &mut Stream,
) {
    let noise = ValueNoise::new(stream);
    let [low, high, bumps] = shape;
    let tops: Vec<f32> = (0..canvas.width())
        .map(|x| {
            let wave = noise.rough(x as f32 * bumps, 0.5, 3);
            camera.horizon - low - (high - low) * ((wave - 0.2) * 1.6).clamp(0.0, 1.0)
        })
        .collect();
    canvas.each_above(camera.horizon as usize + 2, |x, y, below| {
        let depth = y as f32 + 1.0 - tops[x];
        if depth <= 0.0 {
            return below;
        }
        let leaf = scaled(colour, 0.82 + 0.36 * noise.at(x as f32 * 0.6, y as f32 * 0.7 + 9.0));
        mix(below, shade.lit(leaf, 0.0), depth.min(1.0))
    });
}

const WALLS: [Rgb; 6] =
    [hex(0xc8b090), hex(0xa8604a), hex(0xd2cdc2), hex(0x8d9298), hex(0xd8c08a), hex(0xb58a7a)];

fn houses(canvas: &mut Canvas, camera: &Camera, ambience: &Ambience, stream: &mut Stream) {
    let shade = far(ambience, 75.0);
    let mut left = -4.0;
    while left < canvas.width() as f32 {
        let width = stream.between(9.0, 20.0) as f32;
        let height = stream.between(7.0, 22.0) as f32;
        let base = camera.horizon + 1.0;
        let wall = WALLS[stream.below(WALLS.len())];
        let right = left + width;
        let top = base - height;
        let mut fill = |path: Path, colour: Rgb, glow: f32| {
            let coverage = Coverage::of(&path, canvas.width(), canvas.height());
            canvas.fill(&coverage, shade.lit(colour, glow));
        };
        fill(Path::rect(left, top, right, base), wall, 0.0);
        if stream.chance(0.6) {
            let ridge = top - width * 0.3;
            let roof = [[left - 0.8, top], [(left + right) / 2.0, ridge], [right + 0.8, top]];
            fill(Path::polygon(roof), hex(0x7d4436), 0.0);
        }
        for row in 0..((height - 2.0) / 4.5) as usize {
            for column in 0..((width - 1.5) / 4.0) as usize {
                let x = left + 1.5 + 4.0 * column as f32;
                let y = top + 1.8 + 4.5 * row as f32;
                let lit = ambience.light != Light::Day && stream.chance(0.45);
                let glass = if lit { hex(0xe8b860) } else { hex(0x3c4854) };
                fill(Path::rect(x, y, x + 2.0, y + 2.6), glass, if lit { 0.8 } else { 0.0 });
            }
        }
        left = right + stream.between(-1.0, 7.0) as f32;
    }
}
