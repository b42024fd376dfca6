//! Services behind HTTP: asked politely, paid once, never trusted.
//!
//! A [`ServiceSpec`] names a service of [`SERVICES`]; its wire format makes requests of images and
//! answers of bytes, its credential signs them, and [`ServiceTarget`] does the rest: paces and
//! repeats calls, keeps to budgets, files raw answers and accounts for every call.

mod backoff;
mod budget;
mod cache;
mod caller;
mod client;
mod codec;
mod connector;
pub mod credential;
mod endpoint;
mod error;
mod hash;
mod ledger;
mod pace;
pub mod price;
mod redact;
mod registry;
pub mod spec;
mod target;
mod under_way;
pub mod wire;

pub use connector::Connector;
pub use error::ServiceError;
pub use ledger::Tally;
pub use registry::{SERVICES, Service, open, open_in};
pub use spec::{Codec, Corners, Manners, ServiceSpec, Template};
pub use target::{Account, ServiceTarget};
pub use wire::Task;
