//! What is disturbed on purpose, and what defends against it.
//!
//! 1. [`IMAGE_FAULTS`] change what a target sees: `image::Fog::severity(3)?.apply(&image, seed)`.
//! 2. `MODEL_FAULTS` (feature `model`) change what a model computes: a fault answers changes at the
//!    `Sites` of a golden run, for the engine to replay.
//! 3. [`ATTACKS`] (feature `attack`) search for the change of an image that changes the answer.
//! 4. [`SCENE_FAULTS`] put an object into a scene or take one out.
//! 5. [`DEFENCES`] try to undo what image faults and attacks do.
//!
//! Each is one file, which states everything about it: name, text, parameters, hazard, ranges. A
//! [`Plugin`](faultlens_core::Plugin) of a registry builds one from settings; [`page`] is the
//! reference of them all.
//!
//! ```
//! use faultlens_core::Image;
//! use faultlens_faults::image::{Fault, Fog, ImageFault, named};
//!
//! let image = Image::from_rgb(32, 32, vec![90; 32 * 32 * 3])?;
//! let foggy = Fog::severity(3)?.apply(&image, 7);
//! assert_eq!(named("fog")?.severity(3)?.apply(&image, 7), foggy); // the same seed, the same pixels
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "attack")]
pub mod attack;
pub mod defence;
mod doc;
mod floyd;
pub mod image;
#[cfg(feature = "model")]
pub mod model;
mod page;
pub mod scene;

#[cfg(feature = "attack")]
pub use attack::{ATTACKS, Attack};
pub use defence::DEFENCES;
pub use image::{CONTROLS, Domain, IMAGE_FAULTS, Range, domain};
#[cfg(feature = "model")]
pub use model::{
    Anatomy, Candidate, Injection, MODEL_FAULTS, ModelFault, Selection, SiteError, SitePlan, Sites,
    Strike, check, is_data,
};
pub use page::page;
pub use scene::{SCENE_FAULTS, SceneFault};
