//! Credentials from the providers' usual places, and how requests are signed with them.

mod aws;
mod aws_keys;
mod azure;
mod environment;
mod google;
mod google_key;
mod header;

pub use aws::{Keys, SigV4};
pub(super) use aws_keys::{keys as aws_keys, region as aws_region};
pub(super) use azure::{azure, usual_endpoint as azure_endpoint};
pub use environment::Environment;
pub use google::{Exchange, GoogleToken, Grant};
pub(super) use google_key::google;
pub use header::Headers;

use super::endpoint::Endpoint;
use super::wire::Request;
use std::fmt;
use std::time::SystemTime;

/// Whether this machine itself is asked, in the clear: a rehearsal, which the keys of a real
/// account have no business in.
pub(super) fn is_rehearsal(endpoint: &Endpoint) -> bool {
    endpoint.is_loopback() && endpoint.address().starts_with("http://")
}

/// Text that must not be shown: what prints it prints dots.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for signing and for the wire alone.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// Opens a service to a request.
pub trait Credential: Send + Sync {
    /// The headers (and, rarely, a query) that show who asks; `host` is the endpoint's, as the
    /// `Host` header has it. Asked for every attempt, since signatures and tokens age. An error
    /// says what to do, and nothing of the secret.
    fn sign(&self, request: &Request, host: &str, now: SystemTime) -> Result<Signed, String>;
}

/// What a credential adds to a request.
#[derive(Clone, Default)]
pub struct Signed {
    /// Headers, by name.
    pub headers: Vec<(String, Secret)>,
    /// What is appended to the query, such as `key=…`.
    pub query: Option<Secret>,
}
