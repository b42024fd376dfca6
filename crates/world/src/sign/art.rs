//! What each sign looks like: European shapes and colours, radius 1 about the origin.

use crate::paint::{Path, Point, Rgb, Sprite, Transform, hex, text};
use std::f32::consts::FRAC_PI_8;

const RED: Rgb = hex(0xc8141e);
const BLUE: Rgb = hex(0x1456b0);
const YELLOW: Rgb = hex(0xf7b500);
const WHITE: Rgb = hex(0xf6f6f2);
const BLACK: Rgb = hex(0x161616);
const STEEL: Rgb = hex(0x8c9196);

type Drawing = fn() -> Sprite;

/// The name of every sign and how it is drawn. Add yours here, in alphabetical order; models then
/// have to be trained again.
const SIGNS: [(&str, Drawing); 14] = [
    ("crossroads", crossroads),
    ("danger", danger),
    ("limit-30", || limit("30")),
    ("limit-50", || limit("50")),
    ("limit-80", || limit("80")),
    ("limit-end", limit_end),
    ("no-entry", no_entry),
    ("no-parking", no_parking),
    ("pedestrian-crossing", pedestrian_crossing),
    ("priority-road", priority_road),
    ("stop", stop),
    ("turn-left", || turn(-1.0)),
    ("turn-right", || turn(1.0)),
    ("yield", give_way),
];

/// The signs of this world, in the order of their classes.
pub const SIGN_CLASSES: [&str; SIGNS.len()] = {
    let mut names = [""; SIGNS.len()];
    let mut i = 0;
    while i < SIGNS.len() {
        names[i] = SIGNS[i].0;
        i += 1;
    }
    names
};

/// The plate of a sign alone, radius 1 about the origin; an empty drawing for an unknown class.
pub fn plate(class: usize) -> Sprite {
    SIGNS.get(class).map_or_else(Sprite::default, |(_, draw)| draw())
}

/// A sign on its pole, in metres: the ground is at 0, the plate's centre `height` above it.
pub fn posted(class: usize, diameter: f32, height: f32) -> Sprite {
    let pole = Path::rect(-0.06, -height, 0.06, 0.0);
    let place = Transform::IDENTITY.scaled(diameter / 2.0, diameter / 2.0).shifted(0.0, -height);
    let mut sprite = Sprite::default().support(pole, STEEL);
    sprite.layers.extend(plate(class).moved(&place).layers);
    sprite
}

fn disc(rim: Rgb, inner: f32, face: Rgb) -> Sprite {
    let centre = [0.0, 0.0];
    Sprite::default()
        .layer(Path::circle(centre, 1.0), WHITE)
        .layer(Path::circle(centre, 0.96), rim)
        .layer(Path::circle(centre, inner), face)
}

fn limit(number: &str) -> Sprite {
    disc(RED, 0.75, WHITE).layer(text(number, 0.82, 0.19), BLACK)
}

fn limit_end() -> Sprite {
    // Five parallel bars at 45°, each as long as the disc is wide there.
    let mut bars = Path::default();
    for bar in -2..=2 {
        let d = bar as f32 * 0.15;
        let half = (0.86 - d * d).sqrt() * 0.72;
        let x = d * 0.707;
        let y = d * 0.707;
        bars = bars.and(Path::stroke(&[[x - half, y + half], [x + half, y - half]], 0.075));
    }
    disc(hex(0x6a6a6a), 0.91, WHITE).layer(bars, BLACK)
}

fn no_entry() -> Sprite {
    disc(RED, 0.5, RED).layer(Path::rect(-0.7, -0.2, 0.7, 0.2), WHITE)
}

fn no_parking() -> Sprite {
    let slash = Path::stroke(&[[-0.62, -0.62], [0.62, 0.62]], 0.22);
    disc(RED, 0.76, BLUE).layer(slash, RED)
}

fn stop() -> Sprite {
    Sprite::default()
        .layer(Path::regular(8, 1.06, FRAC_PI_8), WHITE)
        .layer(Path::regular(8, 0.99, FRAC_PI_8), RED)
        .layer(text("STOP", 0.66, 0.19).moved(&Transform::IDENTITY.scaled(0.66, 1.0)), WHITE)
}

/// A triangle within a circle of a radius, standing (1) or on its head (-1).
fn triangle(radius: f32, up: f32) -> Path {
    let corner = |x: f32, y: f32| -> Point { [x * radius * 0.866, (y * radius + 0.25) * up] };
    Path::polygon([corner(0.0, -1.0), corner(1.0, 0.5), corner(-1.0, 0.5)]).rounded(radius * 0.16)
}

fn warning(up: f32) -> Sprite {
    Sprite::default()
        .layer(triangle(1.2, up), WHITE)
        .layer(triangle(1.13, up), RED)
        .layer(triangle(0.69, up), WHITE)
}

fn danger() -> Sprite {
    let bar = Path::polygon([[-0.11, -0.2], [0.11, -0.2], [0.06, 0.28], [-0.06, 0.28]]);
    warning(1.0).layer(bar.and(Path::circle([0.0, 0.42], 0.1)), BLACK)
}

fn crossroads() -> Sprite {
    let cross = Path::stroke(&[[-0.24, 0.0], [0.24, 0.48]], 0.15)
        .and(Path::stroke(&[[0.24, 0.0], [-0.24, 0.48]], 0.15));
    warning(1.0).layer(cross, BLACK)
}

fn give_way() -> Sprite {
    warning(-1.0)
}

fn priority_road() -> Sprite {
    let diamond = |r: f32| Path::regular(4, r, 0.0).rounded(r * 0.14);
    Sprite::default()
        .layer(diamond(1.12), BLACK)
        .layer(diamond(1.07), WHITE)
        .layer(diamond(0.72), YELLOW)
}

/// A white arrow that comes from below and turns to a side.
fn turn(side: f32) -> Sprite {
    let stem = [[-0.34, 0.62], [-0.34, 0.1], [-0.26, -0.08], [-0.1, -0.16], [0.3, -0.16]];
    let head = [[0.22, -0.56], [0.72, -0.16], [0.22, 0.24]];
    let mirrored =
        |points: &[Point]| points.iter().map(|p| [p[0] * side, p[1]]).collect::<Vec<_>>();
    disc(BLUE, 0.5, BLUE)
        .layer(Path::stroke(&mirrored(&stem), 0.26), WHITE)
        .layer(Path::polygon(mirrored(&head)), WHITE)
}

fn pedestrian_crossing() -> Sprite {
    let square = |r: f32| Path::rect(-r, -r, r, r).rounded(r * 0.12);
    let field = Path::polygon([[0.0, -0.74], [0.74, 0.62], [-0.74, 0.62]]);
    let hind = [[-0.3, 0.5], [-0.1, 0.28], [-0.02, 0.0]];
    let fore = [[0.28, 0.5], [0.14, 0.24], [0.02, 0.0]];
    let arms = [[-0.26, 0.12], [-0.08, -0.1], [0.1, -0.1], [0.26, 0.08]];
    let stripes = [-0.56, -0.2, 0.16].map(|x| Path::rect(x, 0.53, x + 0.24, 0.61));
    let walker = Path::stroke(&hind, 0.13)
        .and(Path::stroke(&fore, 0.13))
        .and(Path::stroke(&arms, 0.09))
        .and(Path::polygon([[-0.1, -0.16], [0.12, -0.16], [0.1, 0.12], [-0.1, 0.12]]))
        .and(Path::circle([0.02, -0.31], 0.12));
    Sprite::default()
        .layer(square(0.94), WHITE)
        .layer(square(0.89), BLUE)
        .layer(field, WHITE)
        .layer(stripes.into_iter().fold(walker, Path::and), BLACK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paint::{Canvas, Shade};

    fn drawn(class: usize) -> Canvas {
        let mut canvas = Canvas::new(32, 32);
        let place = Transform::IDENTITY.scaled(14.0, 14.0).shifted(16.0, 16.0);
        plate(class).moved(&place).draw(&mut canvas, &Shade::PLAIN);
        canvas
    }

    #[test]
    fn every_sign_fits_its_place_and_looks_like_no_other() {
        let mut sorted = SIGN_CLASSES;
        sorted.sort_unstable();
        assert_eq!(sorted, SIGN_CLASSES);
        for (a, name) in SIGN_CLASSES.iter().enumerate() {
            let [left, top, right, bottom] = plate(a).extent().unwrap();
            assert!(left > -1.2 && top > -1.2 && right < 1.2 && bottom < 1.2, "{name}");
            assert!((top + bottom).abs() < 0.4 && (left + right).abs() < 0.01, "{name} off centre");
            for (b, rival) in SIGN_CLASSES.iter().enumerate().take(a) {
                let mut one = drawn(a);
                let other = drawn(b);
                let mut differing = 0;
                one.each(|x, y, colour| {
                    let apart: f32 = (0..3).map(|c| (colour[c] - other.at(x, y)[c]).abs()).sum();
                    differing += usize::from(apart > 0.5);
                    colour
                });
                assert!(differing >= 15, "{name} and {rival} differ in {differing}");
            }
        }
        assert!(plate(SIGN_CLASSES.len()).layers.is_empty());
    }
}
