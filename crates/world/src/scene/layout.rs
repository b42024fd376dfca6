//! What a scene will show, before anything is drawn.

use super::SCENE_SIZE;
use super::actor::{Actor, Thing};
use super::road::{Camera, Road};
use crate::light::{Light, Weather};
use faultlens_core::{Seed, Stream};

/// The surroundings of the road.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scenery {
    /// Hills and meadows.
    Country,
    /// Woods.
    Forest,
    /// Houses.
    Town,
}

/// The plan of a scene. Change it and draw it again to study the effect of one change: add an
/// actor, make it night, bend the road; all else stays as it was, to the grain of the sensor.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// The time of day.
    pub light: Light,
    /// The air.
    pub weather: Weather,
    /// The surroundings.
    pub scenery: Scenery,
    /// The road and where the camera is on it.
    pub road: Road,
    /// The camera.
    pub camera: Camera,
    /// Everything that stands in it, in no order. What could hardly be seen is left out when the
    /// scene is drawn.
    pub actors: Vec<Actor>,
    /// Where colours, clouds and noise come from.
    pub seed: Seed,
}

impl Layout {
    /// A plan from a seed.
    pub fn random(seed: Seed) -> Self {
        let mut stream = seed.child("layout").stream();
        let mut between = |low: f64, high: f64| stream.between(low, high) as f32;
        let camera = Camera {
            focal: between(142.0, 158.0),
            height: between(1.35, 1.65),
            horizon: between(48.0, 60.0),
            centre: SCENE_SIZE as f32 / 2.0,
        };
        let road = Road { steering: between(-1.0, 1.0), offset: Road::LANE + between(-0.2, 0.2) };
        let mut layout = Self {
            light: Light::random(&mut stream),
            weather: Weather::random(&mut stream),
            scenery: [Scenery::Country, Scenery::Forest, Scenery::Town][stream.below(3)],
            road,
            camera,
            actors: Vec::new(),
            seed,
        };
        layout.furnish(&mut seed.child("props").stream());
        layout.populate(&mut seed.child("actors").stream());
        layout
    }

    /// Metres right of the camera at which an actor stands.
    pub fn right_of_camera(&self, actor: &Actor) -> f32 {
        self.road.middle(actor.depth) + actor.sideways
    }

    /// Trees and posts beside the road.
    fn furnish(&mut self, stream: &mut Stream) {
        let trees = [3, 9, 2][self.scenery as usize];
        for _ in 0..trees {
            let side = if stream.chance(0.5) { 1.0 } else { -1.0 };
            let sideways = side * stream.between(7.0, 16.0) as f32;
            let depth = stream.between(16.0, 60.0) as f32;
            let thing = Thing::Tree(self.seed.child("tree").at(stream.next_u64()));
            self.actors.push(Actor { thing, depth, sideways });
        }
        if stream.chance(0.6) {
            let start = stream.between(6.0, 12.0) as f32;
            for i in 0..5 {
                for side in [-1.0, 1.0] {
                    let depth = start + 12.0 * i as f32;
                    let sideways = side * (Road::HALF_WIDTH + 0.55);
                    self.actors.push(Actor { thing: Thing::Post, depth, sideways });
                }
            }
        }
    }

    /// Vehicles and signs, up to five.
    fn populate(&mut self, stream: &mut Stream) {
        let wanted = [0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5][stream.below(13)];
        let mut placed = 0;
        let mut tries = 0;
        while placed < wanted && tries < 40 {
            tries += 1;
            let actor =
                if stream.chance(0.5) { Actor::sign(stream) } else { Actor::vehicle(stream) };
            if self.fits(&actor) {
                self.actors.push(actor);
                placed += 1;
            }
        }
    }

    /// Whether an actor would be inside the picture and clear of all other objects; one that is
    /// mostly hidden may fit and still be left out of the drawing.
    pub fn fits(&self, actor: &Actor) -> bool {
        let right = self.right_of_camera(actor);
        let side = SCENE_SIZE as f32;
        let sprite = actor.thing.sprite(&self.camera, actor.depth, right, false);
        let Some(extent) = sprite.extent() else { return false };
        let mut objects = self.actors.iter().filter(|a| a.thing.class().is_some());
        let inside = extent[0] > -6.0 && extent[2] < side + 6.0 && extent[1] > 1.0;
        inside && extent[3] < side && objects.all(|other| are_clear(actor, other))
    }
}

/// Whether two actors stand far enough apart, sideways or in depth.
fn are_clear(actor: &Actor, other: &Actor) -> bool {
    let (near, far) = if other.depth < actor.depth { (other, actor) } else { (actor, other) };
    let gap = match near.thing {
        Thing::Vehicle(vehicle) => vehicle.length() + 2.0,
        _ => 5.0,
    };
    (other.sideways - actor.sideways).abs() > 1.2 || far.depth - near.depth > gap
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_have_objects_that_do_not_run_into_each_other() {
        for index in 0..60 {
            let layout = Layout::random(Seed::new(4).at(index));
            let objects: Vec<Actor> =
                layout.actors.iter().filter(|a| a.thing.class().is_some()).copied().collect();
            assert!(objects.len() <= 5);
            for (i, actor) in objects.iter().enumerate() {
                assert!(!layout.fits(actor), "an actor has no room for its own double");
                let mut without = layout.clone();
                without.actors.retain(|other| other != actor);
                without.actors.extend(&objects[..i]);
                assert!(without.fits(actor));
            }
        }
    }

    #[test]
    fn what_is_out_of_sight_does_not_fit() {
        let mut layout = Layout::random(Seed::new(4));
        layout.actors.clear();
        layout.road = Road { steering: 0.0, offset: Road::LANE };
        let thing = Thing::Sign { class: 0, diameter: 1.5, height: 2.4 };
        for (depth, sideways, wanted) in [(12.0, 4.5, true), (12.0, 9.0, false), (3.0, 4.5, false)]
        {
            assert_eq!(layout.fits(&Actor { thing, depth, sideways }), wanted);
        }
    }
}
