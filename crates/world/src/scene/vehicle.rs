//! Cars and trucks from behind and from the front, in metres, standing on the ground.

use crate::paint::{Path, Point, Rgb, Sprite, hex, mix, scaled};
use faultlens_core::Stream;

/// What kind of vehicle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VehicleKind {
    /// Low and rounded, with windows all around.
    Car,
    /// A tall box.
    Truck,
}

/// Which end is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Facing {
    /// It drives ahead.
    Rear,
    /// It comes toward the camera.
    Front,
}

/// A vehicle's looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Vehicle {
    /// Car or truck.
    pub kind: VehicleKind,
    /// Which end is seen.
    pub facing: Facing,
    /// The colour of its body.
    pub paint: Rgb,
    /// Height over that of the usual one of its kind.
    pub tall: f32,
}

const GLASS: Rgb = hex(0x222c36);
const TYRE: Rgb = hex(0x121212);
const DARK: Rgb = hex(0x26282b);
const PLATE: Rgb = hex(0xe8e6d8);
const CAR_PAINTS: [Rgb; 9] = [
    hex(0xb01c22),
    hex(0x1f4e9a),
    hex(0xd9dadb),
    hex(0x23262a),
    hex(0x8f969c),
    hex(0x2e6b4a),
    hex(0xe0a020),
    hex(0x5a2a5e),
    hex(0xd8641e),
];
const TRUCK_PAINTS: [Rgb; 7] = [
    hex(0xe6e6e2),
    hex(0xc9cdd0),
    hex(0x2a62a8),
    hex(0xb8342a),
    hex(0xd9b43a),
    hex(0x3f7d52),
    hex(0x8a9198),
];

impl Vehicle {
    /// A vehicle of a kind in one of its usual colours.
    pub fn random(kind: VehicleKind, facing: Facing, stream: &mut Stream) -> Self {
        let (paints, low, high): (&[Rgb], _, _) = match kind {
            VehicleKind::Car => (&CAR_PAINTS, 0.94, 1.18),
            VehicleKind::Truck => (&TRUCK_PAINTS, 0.94, 1.06),
        };
        let paint = scaled(paints[stream.below(paints.len())], stream.between(0.85, 1.1) as f32);
        Self { kind, facing, paint, tall: stream.between(low, high) as f32 }
    }

    /// Metres from its front to its rear.
    pub fn length(&self) -> f32 {
        match self.kind {
            VehicleKind::Car => 3.8,
            VehicleKind::Truck => 8.0,
        }
    }

    /// Metres from one side to the other.
    pub fn width(&self) -> f32 {
        match self.kind {
            VehicleKind::Car => 1.84,
            VehicleKind::Truck => 2.56,
        }
    }

    /// The drawing. `eye` is the camera's place in the drawing's metres and `depth` its distance;
    /// together they tell which flank is seen. With `lamps` its lights are on.
    pub fn sprite(&self, eye: Point, depth: f32, lamps: bool) -> Sprite {
        let shrink = depth / (depth + self.length());
        let flank = |outline: &Path| {
            Path::hull(outline.points().chain(outline.points().map(|p: Point| {
                [eye[0] + (p[0] - eye[0]) * shrink, eye[1] + (p[1] - eye[1]) * shrink]
            })))
        };
        let glow = if lamps { 1.0 } else { 0.0 };
        match self.kind {
            VehicleKind::Car => self.car(flank, glow),
            VehicleKind::Truck => self.truck(flank, glow),
        }
    }

    fn car(&self, flank: impl Fn(&Path) -> Path, glow: f32) -> Sprite {
        let t = self.tall;
        let body = Path::rect(-0.92, -0.96 * t, 0.92, -0.26).rounded(0.16);
        let cabin = |inset: f32, foot: f32| {
            let low = 0.80 - inset;
            let high = 0.60 - inset * 0.8;
            let y0 = -foot * t;
            let y1 = (-1.47 + inset * 0.8) * t;
            Path::polygon([[-low, y0], [-high, y1], [high, y1], [low, y0]]).rounded(0.09)
        };
        let wheel = |x: f32| Path::rect(x - 0.13, -0.5, x + 0.13, 0.0).rounded(0.05);
        let side = scaled(self.paint, 0.62);
        let sprite = Sprite::default()
            .layer(flank(&wheel(-0.74)).and(flank(&wheel(0.74))), TYRE)
            .layer(flank(&body), side)
            .layer(flank(&cabin(0.0, 0.93)), scaled(GLASS, 0.9))
            .layer(wheel(-0.74).and(wheel(0.74)), TYRE)
            .layer(cabin(0.0, 0.9), mix(self.paint, [1.0; 3], 0.12))
            .layer(body, self.paint)
            .layer(cabin(0.1, 0.98), GLASS)
            .layer(Path::rect(-0.92, -0.48, 0.92, -0.26).rounded(0.08), DARK);
        self.car_face(sprite, glow)
    }

    fn car_face(&self, sprite: Sprite, glow: f32) -> Sprite {
        let t = self.tall;
        let both = |inner: f32, outer: f32, top: f32, bottom: f32| {
            Path::rect(-outer, top * t, -inner, bottom * t).and(Path::rect(
                inner,
                top * t,
                outer,
                bottom * t,
            ))
        };
        match self.facing {
            Facing::Rear => sprite
                .layer(Path::rect(-0.86, -0.93 * t, 0.86, -0.9 * t), scaled(self.paint, 1.25))
                .lamp(both(0.6, 0.89, -0.88, -0.64), mix(hex(0xa01018), hex(0xff2a20), glow), glow)
                .layer(Path::rect(-0.28, -0.74 * t, 0.28, -0.58 * t), PLATE),
            Facing::Front => sprite
                .layer(Path::rect(-0.46, -0.76 * t, 0.46, -0.54 * t), DARK)
                .lamp(both(0.54, 0.88, -0.82, -0.62), mix(hex(0xe6ecee), hex(0xfffbe6), glow), glow)
                .layer(Path::rect(-0.26, -0.46, 0.26, -0.33), PLATE),
        }
    }

    fn truck(&self, flank: impl Fn(&Path) -> Path, glow: f32) -> Sprite {
        let top = -3.6 * self.tall;
        let cargo = Path::rect(-1.28, top, 1.28, -0.95);
        let wheel = |x: f32| Path::rect(x - 0.24, -0.95, x + 0.24, 0.0).rounded(0.06);
        let sprite = Sprite::default()
            .layer(flank(&wheel(-0.95)).and(flank(&wheel(0.95))), TYRE)
            .layer(flank(&cargo), scaled(self.paint, 0.66))
            .layer(wheel(-0.95).and(wheel(0.95)), TYRE)
            .layer(cargo, self.paint)
            .layer(Path::rect(-1.2, -1.05, 1.2, -0.7), DARK);
        match self.facing {
            Facing::Rear => self.tail(sprite, top, glow),
            Facing::Front => self.cab(sprite, glow),
        }
    }

    fn tail(&self, sprite: Sprite, top: f32, glow: f32) -> Sprite {
        let seam = scaled(self.paint, 0.55);
        let frame =
            Path::ring(&[[-1.2, top + 0.08], [1.2, top + 0.08], [1.2, -1.1], [-1.2, -1.1]], 0.12);
        let bars = [-0.6, 0.6].map(|x| Path::rect(x - 0.04, top + 0.1, x + 0.04, -1.1));
        let [left, right] = bars;
        let lamps = Path::rect(-1.2, -0.98, -0.8, -0.74).and(Path::rect(0.8, -0.98, 1.2, -0.74));
        sprite
            .layer(left.and(right), scaled(self.paint, 0.8))
            .layer(Path::rect(-0.05, top, 0.05, -1.05), seam)
            .layer(frame, scaled(self.paint, 0.72))
            .layer(Path::rect(-1.1, -0.55, 1.1, -0.4), hex(0x70757a))
            .lamp(lamps, mix(hex(0xa01018), hex(0xff2a20), glow), glow)
            .layer(Path::rect(-0.3, -0.96, 0.3, -0.78), PLATE)
    }

    fn cab(&self, sprite: Sprite, glow: f32) -> Sprite {
        let paint = scaled(mix(self.paint, hex(0x9a2a22), 0.5), 0.9);
        let cab = Path::rect(-1.22, -2.95, 1.22, -0.42).rounded(0.14);
        let screen = Path::polygon([[-1.08, -2.66], [1.08, -2.66], [1.14, -1.72], [-1.14, -1.72]]);
        let lamps =
            Path::rect(-1.14, -0.92, -0.74, -0.66).and(Path::rect(0.74, -0.92, 1.14, -0.66));
        let bars = [-1.5, -1.3, -1.1].map(|y| Path::rect(-0.6, y, 0.6, y + 0.1));
        sprite
            .layer(cab, paint)
            .layer(screen, GLASS)
            .layer(Path::rect(-0.7, -1.58, 0.7, -0.95), DARK)
            .layer(bars.into_iter().fold(Path::default(), Path::and), hex(0x8c9298))
            .layer(Path::rect(-1.22, -0.62, 1.22, -0.36).rounded(0.06), hex(0x55595d))
            .lamp(lamps, mix(hex(0xe6ecee), hex(0xfffbe6), glow), glow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Seed;

    #[test]
    fn kinds_and_ends_look_different() {
        let mut drawings = Vec::new();
        for kind in [VehicleKind::Car, VehicleKind::Truck] {
            for facing in [Facing::Rear, Facing::Front] {
                let vehicle = Vehicle { kind, facing, paint: hex(0x808080), tall: 1.0 };
                let sprite = vehicle.sprite([0.0, -1.5], 12.0, false);
                let [left, top, right, bottom] = sprite.extent().unwrap();
                assert!((right - left - vehicle.width()).abs() < 0.02);
                assert!(bottom.abs() < 1e-3);
                assert_eq!(-top > 2.5, kind == VehicleKind::Truck);
                assert!(!drawings.contains(&sprite));
                drawings.push(sprite);
            }
        }
    }

    #[test]
    fn the_flank_toward_the_road_ahead_is_seen_and_lamps_can_be_lit() {
        let vehicle =
            Vehicle::random(VehicleKind::Truck, Facing::Front, &mut Seed::new(1).stream());
        let [left, _, right, _] = vehicle.sprite([3.0, -1.5], 12.0, false).extent().unwrap();
        assert!(right > 1.6 && left > -1.3);
        let glowing = |lamps| {
            let sprite = vehicle.sprite([0.0, -1.5], 12.0, lamps);
            sprite.layers.iter().filter(|layer| layer.glow > 0.5).count()
        };
        assert_eq!((glowing(false), glowing(true)), (0, 1));
    }
}
