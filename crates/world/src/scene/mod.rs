//! Road scenes: their layout, how they are drawn, and the ground truth of each picture.

mod actor;
mod compose;
mod layout;
mod prop;
mod road;
mod sky;
mod vehicle;

pub use actor::{Actor, Thing};
pub use layout::{Layout, Scenery};
pub use road::{Camera, Road};
pub use vehicle::{Facing, Vehicle, VehicleKind};

use faultlens_core::{Case, Seed};

/// The side of a scene in pixels.
pub const SCENE_SIZE: usize = 128;

/// What a detector finds in scenes, in the order of the classes.
pub const SCENE_CLASSES: [&str; 3] = ["car", "sign", "truck"];

/// What a pixel of a scene can show, in the order of the classes.
pub const SEGMENT_CLASSES: [&str; 4] = ["background", "road", "vehicle", "sign"];

/// The minimum width and height, in pixels, of the visible part of a listed object.
pub const MIN_SIDE: f32 = 7.0;

/// The minimum share of a listed object that is visible.
pub const MIN_VISIBLE: f32 = 0.4;

/// A scene with all that is known of it.
///
/// The case holds the objects with bounds and masks, the segments, the steering angle as its only
/// value (-1 hard left, 1 hard right), and the strata `light`, `weather`, `distance` and `density`.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// The picture and its ground truth.
    pub case: Case,
    /// For each object of the case, its position in `SIGN_CLASSES` if it is a sign.
    pub signs: Vec<Option<usize>>,
}

/// One scene of a set; the same whichever others are asked for.
pub fn scene(seed: Seed, index: u64) -> Scene {
    let mut scene = layout(seed, index).render();
    scene.case.name = format!("scene-{index:06}");
    scene
}

/// The plan of one scene of a set, to change before it is drawn.
pub fn layout(seed: Seed, index: u64) -> Layout {
    Layout::random(seed.child("scene").at(index))
}

/// The first `n` scenes of a set.
pub fn scenes(seed: Seed, n: usize) -> Vec<Scene> {
    (0..n as u64).map(|index| scene(seed, index)).collect()
}
