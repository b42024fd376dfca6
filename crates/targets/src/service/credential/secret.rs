//! Secrets, and the trait of whatever authenticates requests with them.

use super::super::message::Request;
use std::fmt;
use std::time::SystemTime;

/// Text that must not be shown: it is printed as dots.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for signing and sending alone.
    pub(in super::super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// Authenticates requests.
pub trait Credential: Send + Sync {
    /// The headers (and, rarely, a query) that authenticate a request; `host` is the endpoint's, as
    /// in the `Host` header. Called for every attempt, since signatures and tokens expire. An error
    /// message says what to do, and must not contain the secret.
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
