//! A request and an answer, in plain types.

use axum::http::{HeaderMap, Method};
use bytes::Bytes;
use serde_json::Value;

/// What a client asks.
pub(crate) struct Asked {
    pub(crate) method: Method,
    /// The path as sent.
    pub(crate) path: String,
    /// What follows the question mark, as sent.
    pub(crate) query: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Asked {
    /// A header's text; empty where there is none, or where it is no text.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The token of `Authorization: Bearer …`.
    pub(crate) fn bearer(&self) -> Option<&str> {
        self.header("authorization").strip_prefix("Bearer ").map(str::trim)
    }
}

/// What goes back.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// An answer in JSON.
    pub(crate) fn json(status: u16, value: &Value) -> Self {
        let body = value.to_string().into_bytes();
        Self { status, content_type: "application/json", headers: Vec::new(), body }
    }

    /// The same with another header.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}
