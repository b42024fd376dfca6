//! What is disturbed on purpose.
//!
//! 1. [`IMAGE_FAULTS`] change what a target sees, [`MODEL_FAULTS`] what a model computes.
//! 2. A [`Plugin`](faultlens_core::Plugin) of a registry builds a fault from settings.
//! 3. An image fault answers a changed image; a model fault answers changes at the [`Sites`] of a
//!    golden run, for the engine to replay.
//!
//! An [`Attack`] of [`ATTACKS`] searches for the change of an image that changes the answer.
//! A [`SceneFault`] of [`SCENE_FAULTS`] puts something into the scene or takes it out.
//! [`image::DOMAINS`] say how far an image fault can be turned up. [`DEFENCES`] try to undo what image faults do.
//!
//! To add a fault: one file, one line in its registry.

pub mod attack;
pub mod defence;
mod floyd;
pub mod image;
pub mod model;
pub mod scene;

pub use attack::{ATTACKS, Attack};
pub use defence::DEFENCES;
pub use image::{CONTROLS, DOMAINS, Domain, IMAGE_FAULTS, Range, SMALL_DOMAINS, domain};
pub use model::{
    Anatomy, Candidate, Injection, MODEL_FAULTS, ModelFault, Selection, SiteError, SitePlan, Sites,
    Strike, check, is_data,
};
pub use scene::{SCENE_FAULTS, SceneFault};
