//! HTTP requests and responses as plain data.

use std::collections::BTreeMap;

/// A request before it is signed. It holds no secret: answers are cached under its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// `GET` or `POST`.
    pub method: &'static str,
    /// Path and query, relative to the endpoint.
    pub path: String,
    /// Headers, without those of the transport and of credentials.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// A response of any status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpResponse {
    /// The HTTP status.
    pub status: u16,
    /// Headers by their lower-case names; those that hold secrets are left out.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: Vec<u8>,
}
