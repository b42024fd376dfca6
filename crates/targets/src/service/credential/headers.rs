//! Keys and tokens that are sent in a header as they are.

use super::super::message::Request;
use super::environment::Environment;
use super::secret::{Credential, Secret, Signed};
use std::time::SystemTime;

/// The variable with the bearer token of services that have no convention of their own.
const TOKEN: &str = "FAULTLENS_SERVICE_TOKEN";

/// Headers that are the same for every request.
#[derive(Debug, Clone, Default)]
pub struct Headers(Vec<(String, Secret)>);

impl Headers {
    /// Several headers.
    pub fn new(headers: Vec<(String, Secret)>) -> Self {
        Self(headers)
    }

    /// One header.
    pub fn one(name: &str, secret: impl Into<String>) -> Self {
        Self(vec![(name.to_owned(), Secret::new(secret))])
    }

    /// A bearer token (RFC 6750).
    pub fn bearer(token: &str) -> Self {
        Self::one("authorization", format!("Bearer {token}"))
    }

    /// The bearer token of the variable `FAULTLENS_SERVICE_TOKEN`, where it is set. It is meant for
    /// this very service, so that a rehearsal gets it too.
    pub(crate) fn token(environment: &Environment) -> Self {
        environment.get(TOKEN).map_or_else(Self::default, Self::bearer)
    }
}

impl Credential for Headers {
    fn sign(&self, _: &Request, _: &str, _: SystemTime) -> Result<Signed, String> {
        Ok(Signed { headers: self.0.clone(), query: None })
    }
}
