//! What stands behind a sign.

use crate::paint::{Canvas, Rgb, Shade, ValueNoise, hex, mix, scaled};
use faultlens_core::Stream;

/// Paints one of the backdrops over the whole canvas.
pub(super) fn paint(canvas: &mut Canvas, shade: &Shade, lamps: bool, stream: &mut Stream) {
    match stream.below(4) {
        0 => sky(canvas, shade, stream),
        1 => foliage(canvas, shade, stream),
        2 => wall(canvas, shade, lamps, stream),
        _ => skyline(canvas, shade, stream),
    }
}

fn sky(canvas: &mut Canvas, shade: &Shade, stream: &mut Stream) {
    let noise = ValueNoise::new(stream);
    let top = mix(hex(0x4f8fd0), hex(0x93a7b8), stream.uniform() as f32);
    let cover = stream.between(0.35, 0.65) as f32;
    let side = canvas.height() as f32;
    canvas.each(|x, y, _| {
        let u = x as f32 / side;
        let v = y as f32 / side;
        let cloud = ((noise.rough(u * 2.2, v * 4.0, 3) - cover) * 4.0).clamp(0.0, 1.0);
        shade.lit(mix(mix(top, hex(0xcfe0ea), v), hex(0xf3f5f6), cloud * 0.9), 0.0)
    });
}

const LEAVES: [Rgb; 4] = [hex(0x2f4f22), hex(0x3d6b2a), hex(0x5a6b2c), hex(0x6b5a2a)];

fn foliage(canvas: &mut Canvas, shade: &Shade, stream: &mut Stream) {
    let leaf = LEAVES[stream.below(LEAVES.len())];
    let paint = leaves(leaf, stream);
    let side = canvas.height() as f32;
    canvas.each(|x, y, _| shade.lit(paint(x as f32 / side, y as f32 / side), 0.0));
}

/// Clumps of leaves, light above and dark between.
fn leaves(leaf: Rgb, stream: &mut Stream) -> impl Fn(f32, f32) -> Rgb + use<> {
    let noise = ValueNoise::new(stream);
    let size = stream.between(4.0, 7.0) as f32;
    move |u, v| {
        let clump = noise.rough(u * size, v * size, 3);
        let relief = clump - noise.rough(u * size, v * size - 0.25, 3);
        scaled(leaf, (0.35 + clump + relief * 1.6).clamp(0.25, 1.7))
    }
}

/// Leaves below, sky above, a ragged line between.
fn skyline(canvas: &mut Canvas, shade: &Shade, stream: &mut Stream) {
    sky(canvas, shade, stream);
    let leaf = LEAVES[stream.below(LEAVES.len())];
    let paint = leaves(leaf, stream);
    let edge = ValueNoise::new(stream);
    let level = stream.between(0.3, 0.8) as f32;
    let side = canvas.height() as f32;
    canvas.each(|x, y, colour| {
        let u = x as f32 / side;
        let v = y as f32 / side;
        let line = level + (edge.rough(u * 5.0, 0.5, 3) - 0.5) * 0.35;
        let part = ((v - line) * side + 0.5).clamp(0.0, 1.0);
        mix(colour, shade.lit(paint(u, v), 0.0), part)
    });
}

const WALLS: [Rgb; 5] = [hex(0xb9a58a), hex(0x9c5a44), hex(0xc9c4b8), hex(0x7d7f85), hex(0xd0b070)];

/// A house with rows of windows, some of them lit in the dark.
fn wall(canvas: &mut Canvas, shade: &Shade, lamps: bool, stream: &mut Stream) {
    let plaster = WALLS[stream.below(WALLS.len())];
    let noise = ValueNoise::new(stream);
    let pitch = stream.between(0.28, 0.45) as f32;
    let dx = stream.uniform() as f32;
    let dy = stream.uniform() as f32;
    let side = canvas.height() as f32;
    let soft = |edge: f32| (edge * pitch * side + 0.5).clamp(0.0, 1.0);
    canvas.each(|x, y, _| {
        let u = x as f32 / side;
        let v = y as f32 / side;
        let a = u / pitch + dx;
        let b = v / (pitch * 1.3) + dy;
        let fa = a - a.floor() - 0.5;
        let fb = b - b.floor() - 0.5;
        let window = soft(0.27 - fa.abs()).min(soft(0.3 - fb.abs()));
        let frame = soft(0.33 - fa.abs()).min(soft(0.36 - fb.abs()));
        let lit = lamps && noise.at(a.floor() * 3.7, b.floor() * 5.3) > 0.6;
        let glass =
            if lit { hex(0xc79a4a) } else { scaled(hex(0x3a4a58), 0.7 + 0.6 * noise.at(a, b)) };
        let bare = scaled(plaster, 0.9 + 0.2 * noise.rough(u * 14.0, v * 14.0, 2));
        let framed = shade.lit(mix(bare, scaled(plaster, 1.25), frame), 0.0);
        mix(framed, shade.lit(glass, if lit { 0.8 } else { 0.0 }), window)
    });
}
