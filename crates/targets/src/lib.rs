//! Targets: whatever answers an image.
//!
//! 1. Implement [`Target`](faultlens_core::Target) for your own system: one method, `ask`. Nothing
//!    else is needed to put it under test.
//! 2. [`OnnxTarget::open`] loads an ONNX model, from a file or from the embedded world. A
//!    [`Description`] says how it is fed and what its output means: from a [`PartialDescription`],
//!    from the model's own metadata, or guessed with reasons. [`OnnxTarget::golden`] keeps every
//!    value inside, for faults to be injected into.
//! 3. [`ServiceTarget::open`] asks a vision service behind HTTP, described by a [`ServiceSpec`]:
//!    rate-limited, within budgets, and without paying for the same answer twice. Nothing is sent
//!    until it is asked.
//!
//! ```
//! use faultlens_core::{Image, Ranking, Response, Target, TargetError};
//! use faultlens_targets::{OnnxTarget, PartialDescription};
//! use std::path::Path;
//!
//! // Your own system: whatever can look at an image.
//! struct Brightness;
//!
//! impl Target for Brightness {
//!     fn ask(&self, image: &Image) -> Result<Response, TargetError> {
//!         let pixels = image.rgb();
//!         let sum: u64 = pixels.iter().map(|&value| u64::from(value)).sum();
//!         let light = sum as f32 / (255 * pixels.len()) as f32;
//!         let labels = [("bright".to_owned(), light), ("dark".to_owned(), 1.0 - light)];
//!         Ok(Response::Ranking(Ranking::of_names(labels)))
//!     }
//! }
//!
//! let image = Image::from_rgb(32, 32, vec![200; 32 * 32 * 3])?;
//! let model = OnnxTarget::open(Path::new("world:signs-shallow"), PartialDescription::default())?;
//! let targets: [&dyn Target; 2] = [&Brightness, &model];
//! for target in targets {
//!     target.ask(&image)?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A service needs credentials in the environment, as the provider's own tools do:
//!
//! ```no_run
//! use faultlens_core::{Image, Target};
//! use faultlens_targets::{ServiceSpec, ServiceTarget};
//! use std::path::Path;
//!
//! let mut spec = ServiceSpec::new("rekognition");
//! spec.region = Some("eu-west-1".to_owned());
//! spec.limits.calls = Some(100);
//! let service = ServiceTarget::open(&spec, Path::new("."))?;
//! // Answers are cached and calls are logged, so that a second run pays for nothing again.
//! service.attach(Path::new("answers"), Path::new("calls.jsonl"))?;
//! let image = Image::from_rgb(640, 480, vec![128; 640 * 480 * 3])?;
//! service.ask(&image)?;
//! println!("{} calls", service.call_stats().process.calls);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod hex;
pub mod onnx;
pub mod service;

pub use onnx::{
    Description, OnnxTarget, OpenError, PartialDescription, embedded_model, load_model,
};
pub use service::{ServiceError, ServiceSpec, ServiceTarget};
