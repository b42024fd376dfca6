//! HTTP requests and responses as plain data.

use axum::http::{HeaderMap, Method};
use bytes::Bytes;
use serde_json::Value;

/// A request, read to its end.
pub(crate) struct HttpRequest {
    pub(crate) method: Method,
    /// The path as sent.
    pub(crate) path: String,
    /// The query string, as sent.
    pub(crate) query: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl HttpRequest {
    /// A header's text; empty where there is none, or where it is not text.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The token of `Authorization: Bearer …` (RFC 6750).
    pub(crate) fn bearer(&self) -> Option<&str> {
        self.header("authorization").strip_prefix("Bearer ").map(str::trim)
    }
}

/// A response.
pub(crate) struct HttpResponse {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

impl HttpResponse {
    /// A response in JSON.
    pub(crate) fn json(status: u16, value: &Value) -> Self {
        let body = value.to_string().into_bytes();
        Self { status, content_type: "application/json", headers: Vec::new(), body }
    }

    /// The same with one more header.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}
