//! The trait of wire formats, and their entries in the registry.

use crate::message::{HttpRequest, HttpResponse};
use crate::model::ModelView;
use std::fmt;

/// A wire format: how a service is asked and how it responds.
pub(crate) trait Wire: Send + Sync {
    /// The largest request that is read, in bytes.
    fn max_bytes(&self) -> usize;

    /// Accepts a request, or responds as the provider does to wrong credentials. `keys` is never
    /// empty.
    fn admit(&self, http: &HttpRequest, keys: &[String]) -> Result<(), HttpResponse>;

    /// The response, or the provider's own error.
    fn answer(
        &self,
        http: &HttpRequest,
        model: ModelView<'_>,
    ) -> Result<HttpResponse, HttpResponse>;

    /// The provider's response when the request is not at fault.
    fn failure(&self, failure: Failure) -> HttpResponse;
}

/// Why a server does not answer a valid request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Too many requests; to be retried.
    Throttled,
    /// An internal error with this status; to be retried.
    Broken(u16),
    /// The request has more bytes than are read.
    TooLarge,
    /// The request did not arrive in time, or not whole.
    Incomplete,
}

/// The seconds that a throttled client is asked to wait.
pub(super) const RETRY_AFTER: &str = "1";

/// A wire format that a model can be served in.
pub struct Format {
    /// Its name for `--as`.
    pub name: &'static str,
    /// The service and what it can be asked for.
    pub about: &'static str,
    pub(crate) wire: &'static dyn Wire,
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Whether a request carries one of the keys as its bearer token.
pub(super) fn has_bearer_key(http: &HttpRequest, keys: &[String]) -> bool {
    http.bearer().is_some_and(|token| is_key(keys, token))
}

/// Whether a token is one of the keys, compared in constant time: the time does not depend on where
/// they differ.
pub(super) fn is_key(keys: &[String], token: &str) -> bool {
    let mut is_known = false;
    for key in keys {
        let mut difference = 0;
        for (a, b) in key.bytes().zip(token.bytes()) {
            difference |= a ^ b;
        }
        is_known |= key.len() == token.len() && difference == 0;
    }
    is_known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_key_opens() {
        let keys = ["secret".to_owned(), "other".to_owned()];
        assert!(is_key(&keys, "secret") && is_key(&keys, "other"));
        for wrong in ["", "secre", "secrets", "Secret"] {
            assert!(!is_key(&keys, wrong), "{wrong}");
        }
    }
}
