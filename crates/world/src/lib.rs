//! The embedded world: procedurally drawn road scenes and traffic signs with complete ground truth,
//! and small models trained on them. Nothing is downloaded.
//!
//! 1. Choose a seed; sets that must not share pictures use different children of it ([`TRAIN`],
//!    [`TEST`]).
//! 2. Draw crops of signs ([`signs`]) or road scenes ([`scenes`]), all or one by one.
//! 3. Look at them on a contact [`sheet`].
//! 4. Ask one of the embedded [`MODELS`] about them.
//!
//! ```
//! use faultlens_core::Seed;
//! use faultlens_world::{MODELS, SIGN_CLASSES, TRAIN, TEST, sign, scene};
//!
//! let seed = Seed::new(7);
//! let crop = sign(seed.child(TRAIN), 3);
//! assert!(crop.label.is_some_and(|class| class < SIGN_CLASSES.len()));
//! let road = scene(seed.child(TEST), 0);
//! assert_eq!(road.case.values.len(), 1); // the steering angle
//! assert!(MODELS.iter().any(|model| model.name == "detector"));
//! ```
//!
//! A picture depends on its seed and number only. To change one thing and keep the rest, plan a
//! scene with [`layout`], change the [`Layout`], and [`render`](Layout::render) it.

mod light;
mod models;
pub mod paint;
mod scene;
pub mod sheet;
mod sign;

pub use light::{Distance, Light, Weather};
pub use models::{EmbeddedModel, MODELS};
pub use scene::{
    Actor, Camera, Facing, Layout, MIN_SIDE, MIN_VISIBLE, Road, SCENE_CLASSES, SCENE_SIZE,
    SEGMENT_CLASSES, Scene, Scenery, Thing, Vehicle, VehicleKind, layout, scene, scenes,
};
pub use sign::{Conditions, SIGN_CLASSES, SIGN_SIZE, plate, posted, sign, sign_of, signs};

/// The prefix of the world's pictures and models, wherever a file could be named.
pub const PREFIX: &str = "world:";

/// The child of a seed that training pictures come from.
pub const TRAIN: &str = "train";

/// The child of a seed that held-out pictures come from.
pub const TEST: &str = "test";

/// The maximum number of pictures of a campaign: all are drawn before any is shown.
pub const MAX_PICTURES: usize = 200_000;
