//! Vision services behind HTTP: rate-limited, never paid for twice, never trusted.
//!
//! A call goes through these modules, from the campaign file to the prediction:
//!
//! 1. `spec`: a [`ServiceSpec`] names a provider of [`SERVICES`], the task and the limits.
//! 2. `provider`: one file per provider builds a [`Connector`] from it: a [`wire`] format (image to
//!    request, response to prediction) and a [`credential`] that signs requests.
//! 3. `call`: what is the same for every provider. Requests are paced, retried with backoff, kept
//!    within budgets, cached by their hash, and each one is logged.
//! 4. `target`: [`ServiceTarget`] puts these together behind
//!    [`Target::ask`](faultlens_core::Target::ask).
//!
//! To add a provider, write one file in `provider/` with a [`Service`] constant and name it in
//! [`SERVICES`].

mod call;
mod codec;
mod connector;
pub mod credential;
mod definition;
mod endpoint;
mod error;
mod message;
mod provider;
mod registry;
mod spec;
mod sync;
mod target;
mod task;
mod wire_format;

/// Wire formats: what a service is sent, and what its responses mean.
pub mod wire {
    pub use super::message::{HttpResponse, Request};
    pub use super::wire_format::{EncodedImage, Prediction, Wire, WireError};
}

pub use call::CallCounts;
pub use connector::Connector;
pub use definition::{PRICES_AS_OF, Prices, Service};
pub use error::ServiceError;
pub use provider::SERVICES;
pub use registry::{open, open_in};
pub use spec::{Codec, Corners, Limits, RENAMED_KEYS, ServiceLabels, ServiceSpec, Template};
pub use target::{CallStats, ServiceTarget};
pub use task::Task;
