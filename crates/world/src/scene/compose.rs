//! From a layout to a picture and its ground truth.

use super::actor::{Actor, Thing};
use super::layout::Layout;
use super::{MIN_SIDE, MIN_VISIBLE, SCENE_SIZE, Scene, road, sky};
use crate::light::{Ambience, Light};
use crate::paint::{Canvas, Coverage, Grain, Part, Path, Sprite, Transform};
use faultlens_core::{Case, Mask, Object};
use std::collections::BTreeMap;

const ROAD: u8 = 1;
const VEHICLE: u8 = 2;
const SIGN: u8 = 3;

/// An actor that will be drawn, with the pixels that it shows and hides.
struct Seen<'a> {
    actor: &'a Actor,
    sprite: Sprite,
    object: Option<Object>,
    solid: Vec<bool>,
}

impl Layout {
    /// Draws the scene.
    pub fn render(&self) -> Scene {
        render(self)
    }
}

fn render(layout: &Layout) -> Scene {
    let seed = layout.seed;
    let ambience =
        Ambience::random(layout.light, layout.weather, &mut seed.child("ambience").stream());
    let mut canvas = Canvas::new(SCENE_SIZE, SCENE_SIZE);
    let mut sky_stream = seed.child("sky").stream();
    sky::paint(&mut canvas, &layout.camera, layout.scenery, &ambience, &mut sky_stream);
    let mut ground = seed.child("ground").stream();
    let is_road = road::paint(&mut canvas, &layout.camera, &layout.road, &ambience, &mut ground);
    let mut segments: Vec<u8> = is_road.iter().map(|&road| if road { ROAD } else { 0 }).collect();
    let seen = visible(layout);
    for item in seen.iter().rev() {
        draw(&mut canvas, item, layout, &ambience);
        mark(&mut segments, item);
    }
    ambience.rain(&mut canvas, seed.child("rain"));
    finish(&mut canvas, layout);
    truth(layout, &canvas, segments, seen)
}

/// What can be seen well enough, nearest first, with its visible pixels. What cannot is not drawn,
/// so that every object in the picture is known.
fn visible(layout: &Layout) -> Vec<Seen<'_>> {
    let mut actors: Vec<&Actor> = layout.actors.iter().collect();
    actors.sort_by(|a, b| a.depth.total_cmp(&b.depth));
    let mut hidden = vec![false; SCENE_SIZE * SCENE_SIZE];
    let mut seen = Vec::new();
    for actor in actors {
        let right = layout.right_of_camera(actor);
        let lamps = layout.light != Light::Day;
        let sprite = actor.thing.sprite(&layout.camera, actor.depth, right, lamps);
        let stamp = sprite.stamp(SCENE_SIZE, SCENE_SIZE);
        let object = match actor.thing.class() {
            None => None,
            Some(class) => match shown(class, &stamp.object(), &hidden, inside(&sprite)) {
                None => continue,
                shown => shown,
            },
        };
        let solid = stamp.solid();
        hidden.iter_mut().zip(&solid).for_each(|(hidden, solid)| *hidden |= solid);
        seen.push(Seen { actor, sprite, object, solid });
    }
    seen
}

/// What can be seen of an object; `None` where it is too little to recognise it.
fn shown(class: usize, whole: &[bool], hidden: &[bool], inside: f32) -> Option<Object> {
    let bits: Vec<bool> = whole.iter().zip(hidden).map(|(&own, &hidden)| own && !hidden).collect();
    let mask = Mask::new(SCENE_SIZE, bits)?;
    let bounds = mask.bounds()?;
    let all = whole.iter().filter(|&&own| own).count() as f32;
    let part = mask.area() as f32 / all * inside;
    let side = (bounds.right - bounds.left).min(bounds.bottom - bounds.top);
    let enough = side >= MIN_SIDE && part >= MIN_VISIBLE;
    enough.then_some(Object { class, bounds, mask: Some(mask), crowd: false })
}

/// The part of a sprite's box that is inside the picture.
fn inside(sprite: &Sprite) -> f32 {
    let Some([left, top, right, bottom]) = sprite.extent() else { return 0.0 };
    let clip = |v: f32| v.clamp(0.0, SCENE_SIZE as f32);
    let kept = (clip(right) - clip(left)) * (clip(bottom) - clip(top));
    kept / ((right - left) * (bottom - top)).max(1e-6)
}

fn draw(canvas: &mut Canvas, item: &Seen<'_>, layout: &Layout, ambience: &Ambience) {
    let depth = item.actor.depth;
    let right = layout.right_of_camera(item.actor);
    let retro = match item.actor.thing {
        Thing::Vehicle(_) => 1.1,
        Thing::Sign { .. } => 1.5,
        Thing::Tree(_) => 0.45,
        Thing::Post => 1.2,
    };
    if let Thing::Vehicle(vehicle) = item.actor.thing {
        let place = layout.camera.place(depth, right);
        let eye = [-right, -layout.camera.height];
        let shade = contact(vehicle.width() * 0.56, eye, depth, vehicle.length());
        cast(canvas, &shade.moved(&place), if layout.light == Light::Day { 0.6 } else { 0.45 });
    }
    item.sprite.draw(canvas, &ambience.shade(depth, right, retro));
    if layout.light == Light::Night {
        halos(canvas, &item.sprite);
    }
}

/// The patch of ground under a vehicle, a little wider than it.
fn contact(half: f32, eye: [f32; 2], depth: f32, length: f32) -> Path {
    let shrink = depth / (depth + length);
    let back = Transform::IDENTITY
        .shifted(-eye[0], -eye[1])
        .scaled(shrink, shrink)
        .shifted(eye[0], eye[1]);
    let front = Path::ellipse([0.0, 0.0], half, 0.1);
    let behind = front.moved(&back);
    Path::hull(front.points().chain(behind.points()))
}

fn cast(canvas: &mut Canvas, path: &Path, strength: f32) {
    let coverage = Coverage::of(path, canvas.width(), canvas.height());
    for (x, y, part) in coverage.pixels() {
        canvas.blend(x, y, [0.02; 3], part * strength);
    }
}

fn halos(canvas: &mut Canvas, sprite: &Sprite) {
    for layer in sprite.layers.iter().filter(|l| l.glow > 0.5 && l.part == Part::Object) {
        for contour in layer.path.contours() {
            let Some([l, t, r, b]) = Path::polygon(contour.clone()).extent() else { continue };
            let red = layer.colour[1] < 0.5;
            let (reach, strength) = if red { (1.8, 0.4) } else { (2.7, 0.55) };
            let centre = [(l + r) / 2.0, (t + b) / 2.0];
            canvas.halo(centre, (r - l) * reach + 1.0, layer.colour, strength);
        }
    }
}

/// Marks what a drawn thing shows; scenery and poles are background.
fn mark(segments: &mut [u8], item: &Seen<'_>) {
    for (segment, _) in segments.iter_mut().zip(&item.solid).filter(|(_, solid)| **solid) {
        *segment = 0;
    }
    let Some(Object { mask: Some(mask), .. }) = &item.object else { return };
    let kind = if item.actor.thing.sign().is_some() { SIGN } else { VEHICLE };
    for (segment, _) in segments.iter_mut().zip(mask.bits()).filter(|(_, own)| **own) {
        *segment = kind;
    }
}

/// What the lens and the sensor do.
fn finish(canvas: &mut Canvas, layout: &Layout) {
    let mut stream = layout.seed.child("exposure").stream();
    let contrast = stream.between(0.9, 1.08) as f32;
    let brightness = stream.between(-0.03, 0.05) as f32;
    let half = SCENE_SIZE as f32 / 2.0;
    canvas.each(|x, y, colour| {
        let dx = (x as f32 - half) / half;
        let dy = (y as f32 - half) / half;
        let vignette = 1.0 - 0.08 * (dx * dx + dy * dy);
        colour.map(|c| ((c - 0.45) * contrast + 0.45 + brightness) * vignette)
    });
    let amount = stream.between(0.006, 0.02) as f32;
    Grain { amount, seed: layout.seed.child("grain") }.add(canvas);
}

/// Nearer than this many metres, an object is near.
const NEAR: f32 = 13.0;

fn truth(layout: &Layout, canvas: &Canvas, segments: Vec<u8>, seen: Vec<Seen<'_>>) -> Scene {
    let objects: Vec<Seen<'_>> = seen.into_iter().filter(|item| item.object.is_some()).collect();
    let distance = match objects.first() {
        None => "none",
        Some(item) if item.actor.depth < NEAR => "near",
        Some(_) => "far",
    };
    let density = match objects.len() {
        0 => "empty",
        1 | 2 => "sparse",
        _ => "dense",
    };
    let strata = [
        ("light", layout.light.name()),
        ("weather", layout.weather.name()),
        ("distance", distance),
        ("density", density),
    ];
    let mut case = Case::new("scene", canvas.image());
    case.segments = segments;
    case.values = vec![layout.road.steering];
    case.strata = BTreeMap::from(strata.map(|(k, v)| (k.to_owned(), v.to_owned())));
    let signs = objects.iter().map(|item| item.actor.thing.sign()).collect();
    case.objects = objects.into_iter().filter_map(|item| item.object).collect();
    Scene { case, signs }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(width: usize, height: usize) -> Vec<bool> {
        (0..SCENE_SIZE * SCENE_SIZE)
            .map(|i: usize| i % SCENE_SIZE < width && i / SCENE_SIZE < height)
            .collect()
    }

    #[test]
    fn too_little_of_an_object_is_nothing() {
        // Width and height of the object, rows hidden, part inside the picture, listed or not.
        let cases = [
            (20, 20, 0, 1.0, true),
            (7, 7, 0, 1.0, true),
            (6, 20, 0, 1.0, false),
            (20, 6, 0, 1.0, false),
            (20, 20, 12, 1.0, true),
            (20, 20, 13, 1.0, false),
            (20, 20, 4, 0.45, false),
            (20, 20, 0, 0.45, true),
        ];
        for (width, height, rows, inside, wanted) in cases {
            let object = shown(2, &area(width, height), &area(SCENE_SIZE, rows), inside);
            assert_eq!(object.is_some(), wanted, "{width}×{height}, {rows} rows hidden");
        }
    }
}
