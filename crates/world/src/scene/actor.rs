//! What can stand in a scene.

use super::road::{Camera, Road};
use super::vehicle::{Facing, Vehicle, VehicleKind};
use super::{SCENE_CLASSES, prop};
use crate::paint::Sprite;
use crate::sign::{SIGN_CLASSES, posted};
use faultlens_core::{Seed, Stream};

/// Something that stands at a place of a scene.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Actor {
    /// What it is.
    pub thing: Thing,
    /// Metres ahead of the camera.
    pub depth: f32,
    /// Metres right of the road's middle.
    pub sideways: f32,
}

impl Actor {
    /// A sign beside the road, more often on the right.
    pub fn sign(stream: &mut Stream) -> Self {
        let side = if stream.chance(0.75) { 1.0 } else { -1.0 };
        let thing = Thing::Sign {
            class: stream.below(SIGN_CLASSES.len()),
            diameter: stream.between(1.35, 1.65) as f32,
            height: stream.between(2.1, 2.7) as f32,
        };
        let sideways = side * (Road::HALF_WIDTH + stream.between(0.9, 1.7) as f32);
        Self { thing, depth: spread(8.0, 20.0, stream), sideways }
    }

    /// A vehicle ahead in our lane or oncoming in the other.
    pub fn vehicle(stream: &mut Stream) -> Self {
        let kind = if stream.chance(0.6) { VehicleKind::Car } else { VehicleKind::Truck };
        let facing = if stream.chance(0.5) { Facing::Rear } else { Facing::Front };
        let (near, far) = match (kind, facing) {
            (VehicleKind::Car, _) => (7.0, 22.0),
            (VehicleKind::Truck, Facing::Rear) => (13.0, 34.0),
            (VehicleKind::Truck, Facing::Front) => (10.0, 34.0),
        };
        let lane = if facing == Facing::Rear { Road::LANE } else { -Road::LANE };
        let sideways = lane + stream.between(-0.25, 0.25) as f32;
        let thing = Thing::Vehicle(Vehicle::random(kind, facing, stream));
        Self { thing, depth: spread(near, far, stream), sideways }
    }
}

/// What an actor is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Thing {
    /// A car or truck.
    Vehicle(Vehicle),
    /// A sign on a pole.
    Sign {
        /// Its position in `SIGN_CLASSES`.
        class: usize,
        /// Metres across the plate.
        diameter: f32,
        /// Metres from the ground to the plate's middle.
        height: f32,
    },
    /// A tree; scenery, not an object.
    Tree(Seed),
    /// A delineator at the road's edge; scenery, not an object.
    Post,
}

impl Thing {
    /// Its position in `SCENE_CLASSES`; `None` for scenery.
    pub fn class(&self) -> Option<usize> {
        let name = match self {
            Self::Vehicle(v) if v.kind == VehicleKind::Car => "car",
            Self::Vehicle(_) => "truck",
            Self::Sign { .. } => "sign",
            Self::Tree(_) | Self::Post => return None,
        };
        SCENE_CLASSES.iter().position(|&class| class == name)
    }

    /// Its position in `SIGN_CLASSES`, if it is a sign.
    pub fn sign(&self) -> Option<usize> {
        match *self {
            Self::Sign { class, .. } => Some(class),
            _ => None,
        }
    }

    /// Its drawing in pixels where a camera sees it, `depth` ahead and `right` of the camera.
    pub fn sprite(&self, camera: &Camera, depth: f32, right: f32, lamps: bool) -> Sprite {
        let metres = match *self {
            Self::Vehicle(vehicle) => vehicle.sprite([-right, -camera.height], depth, lamps),
            Self::Sign { class, diameter, height } => posted(class, diameter, height),
            Self::Tree(seed) => prop::tree(seed),
            Self::Post => prop::post(),
        };
        metres.moved(&camera.place(depth, right))
    }
}

/// A depth such that sizes in the picture, not metres, are evenly spread.
fn spread(near: f64, far: f64, stream: &mut Stream) -> f32 {
    let size = stream.between(1.0 / far, 1.0 / near);
    (1.0 / size) as f32
}
