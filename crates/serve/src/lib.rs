//! A local model behind the wire formats of vision services, so that a campaign can be rehearsed
//! without cost and connectors are tested over real HTTP.
//!
//! 1. [`ServedModel::open`] loads a model; [`Format::find`] names the service that it plays.
//! 2. [`Server::bind`] takes a port, [`Server::run`] answers until its [`Stopper`] is used.
//! 3. A [`Misbehaviour`] makes it throttle, fail, close connections, cut responses short or drift,
//!    drawn from a seed and the number of the call; [`CallCounts`] counts what was done.
//!
//! ```
//! use faultlens_core::Seed;
//! use faultlens_serve::{Format, Options, ServedModel, Server};
//! use std::path::Path;
//!
//! let model = ServedModel::open(Path::new("world:detector"), Default::default())?;
//! let server = Server::bind(
//!     model,
//!     Options {
//!         format: Format::find("google")?,
//!         address: "127.0.0.1:0".parse()?,
//!         threads: 2,
//!         keys: Vec::new(),
//!         misbehaviour: "throttle=0.1".parse()?,
//!         seed: Seed::new(7),
//!         log: None,
//!     },
//! )?;
//! let stopper = server.stopper();
//! let thread = std::thread::spawn(move || server.run());
//! // Clients would call `server.address()` here.
//! stopper.stop();
//! thread.join().expect("the server does not panic")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! To add a wire format, write one file in `wire/` with a [`Format`] constant and name it in
//! [`FORMATS`]. Nothing here knows the project's own connectors: both sides are written from the
//! providers' documentation, and the providers' own clients are the referees.

mod counts;
mod image_rules;
mod listening;
mod message;
mod misbehave;
mod model;
mod query;
mod server;
mod sigv4;
mod wire;

pub use counts::{CallCounts, Ending};
pub use listening::{ListenError, Listening, Stopper, wait_for_stop};
pub use misbehave::{Misbehaviour, MisbehaviourError};
pub use model::ServedModel;
pub use server::{Options, ServeError, Server};
pub use wire::{FORMATS, Format, UnknownFormat};
