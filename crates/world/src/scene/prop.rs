//! Scenery beside the road, which is not labelled.

use crate::paint::{Path, Rgb, Sprite, hex, mix, scaled};
use faultlens_core::{Seed, Stream};

/// A tree in metres, standing on the ground at the origin.
pub(super) fn tree(seed: Seed) -> Sprite {
    let mut stream = seed.stream();
    const LEAVES: [Rgb; 4] = [hex(0x3f6a2c), hex(0x4f7a30), hex(0x35592f), hex(0x6f7a30)];
    let leaf = LEAVES[stream.below(LEAVES.len())];
    let height = stream.between(4.5, 7.5) as f32;
    let trunk =
        Path::polygon([[-0.22, 0.0], [0.22, 0.0], [0.12, -height * 0.6], [-0.12, -height * 0.6]]);
    let sprite = Sprite::default().support(trunk, hex(0x4a3a2a));
    if stream.chance(0.3) {
        conifer(sprite, height, leaf)
    } else {
        crown(sprite, height, leaf, &mut stream)
    }
}

fn conifer(mut sprite: Sprite, height: f32, leaf: Rgb) -> Sprite {
    for tier in 0..4 {
        let base = -height * (0.18 + 0.2 * tier as f32);
        let half = 1.5 - 0.32 * tier as f32;
        let path = Path::polygon([[-half, base], [half, base], [0.0, base - height * 0.34]]);
        sprite = sprite.support(path, scaled(leaf, 0.62 + 0.08 * tier as f32));
    }
    sprite
}

fn crown(mut sprite: Sprite, height: f32, leaf: Rgb, stream: &mut Stream) -> Sprite {
    let mut between = |low: f32, high: f32| stream.between(f64::from(low), f64::from(high)) as f32;
    let size = height * 0.2;
    // Dark clumps first, then lighter and smaller ones above and to the left, where the light is.
    for (tone, spread, lift, radius) in
        [(0.62, 0.9, 0.0, 1.0), (0.85, 0.7, 0.25, 0.7), (1.1, 0.5, 0.5, 0.42)]
    {
        let mut path = Path::default();
        for _ in 0..8 {
            let x = between(-spread, spread) * size - lift * size * 0.4;
            let y = -height * 0.68 + between(-spread, spread) * size - lift * size;
            path = path.and(Path::circle([x, y], radius * size * between(0.6, 1.0)));
        }
        sprite = sprite.support(path, mix(scaled(leaf, tone), hex(0xd8d070), 0.06 * tone));
    }
    sprite
}

/// A white delineator with its black band, in metres.
pub(super) fn post() -> Sprite {
    let band = Path::polygon([[-0.07, -0.86], [0.07, -0.94], [0.07, -0.74], [-0.07, -0.66]]);
    Sprite::default()
        .support(Path::rect(-0.07, -1.05, 0.07, 0.0), hex(0xf0f0ee))
        .support(band, hex(0x1c1c1c))
}
