//! Keys and tokens that stand in a header as they are.

use super::super::wire::Request;
use super::{Credential, Environment, Secret, Signed};
use std::time::SystemTime;

/// The variable with the token of a service that has no usual place of its own.
pub(crate) const TOKEN: &str = "FAULTLENS_SERVICE_TOKEN";

/// What is sent instead of a key in a rehearsal, where any will do.
pub(crate) const REHEARSAL: &str = "rehearsal";

/// Headers that are the same for every request.
#[derive(Debug, Clone, Default)]
pub struct Headers(Vec<(String, Secret)>);

impl Headers {
    /// These headers.
    pub fn new(headers: Vec<(String, Secret)>) -> Self {
        Self(headers)
    }

    /// One header.
    pub fn one(name: &str, secret: impl Into<String>) -> Self {
        Self(vec![(name.to_owned(), Secret::new(secret))])
    }

    /// A bearer's token.
    pub fn bearer(token: &str) -> Self {
        Self::one("authorization", format!("Bearer {token}"))
    }

    /// The token of [`TOKEN`], where there is one. It is meant for this service wherever it is,
    /// so that it is sent to this machine too.
    pub(crate) fn token(environment: &Environment) -> Self {
        environment.get(TOKEN).map_or_else(Self::default, Self::bearer)
    }
}

impl Credential for Headers {
    fn sign(&self, _: &Request, _: &str, _: SystemTime) -> Result<Signed, String> {
        Ok(Signed { headers: self.0.clone(), query: None })
    }
}
