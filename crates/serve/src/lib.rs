//! A local model behind the wire formats of vision services, so that a campaign can be rehearsed
//! without cost and connectors are tested over real HTTP.
//!
//! 1. [`Served::open`] loads a model; [`Format::find`] names the service that it plays.
//! 2. [`Server::bind`] takes a port, [`Server::run`] answers until its [`Stopper`] is told.
//! 3. A [`Misbehaviour`] makes it throttle, fail, hang up, cut answers short or drift, drawn from
//!    a seed and the number of the call; [`Account`] counts what was done.
//!
//! Nothing here knows the project's own connectors: the two sides are written from the providers'
//! documents, and the providers' own clients are the referees.

mod account;
mod exchange;
mod misbehave;
mod model;
mod picture;
mod query;
mod server;
mod sigv4;
mod wire;

pub use account::{Account, Ending};
pub use misbehave::{Misbehaviour, MisbehaviourError};
pub use model::Served;
pub use server::{Options, ServeError, Server, Stopper};
pub use wire::{FORMATS, Format, UnknownFormat};
