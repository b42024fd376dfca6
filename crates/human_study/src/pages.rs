//! What the server sends: the page, its script and style, all from inside the program.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use serde::Serialize;

/// A page: the head that all of them share, and the rest of it.
macro_rules! page {
    ($rest:literal) => {
        concat!(include_str!("../page/head.html"), include_str!($rest))
    };
}

const PAGE: &str = page!("../page/page.html");
const INVITATION: &str = page!("../page/invitation.html");
const PLAIN: &str = page!("../page/plain.html");
/// Names and contents of what the pages load.
const FILES: [(&str, &str, &str); 5] = [
    ("icon.svg", "image/svg+xml", include_str!("../page/icon.svg")),
    ("study.css", "text/css; charset=utf-8", include_str!("../page/study.css")),
    ("page.js", SCRIPT, include_str!("../page/page.js")),
    ("stage.js", SCRIPT, include_str!("../page/stage.js")),
    ("wire.js", SCRIPT, include_str!("../page/wire.js")),
];
const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
/// Nothing from elsewhere, no script but the page's own, and no page around it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' blob:; connect-src 'self'; form-action 'self'; base-uri 'none'; \
    frame-ancestors 'none'";

/// An answer of the server.
pub(crate) struct Reply {
    status: u16,
    content_type: &'static str,
    location: Option<String>,
    body: Vec<u8>,
}

impl Reply {
    fn new(status: u16, content_type: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status, content_type, location: None, body: body.into() }
    }
}

/// The experiment; the same bytes for everybody.
pub(crate) fn page() -> Reply {
    Reply::new(200, HTML, PAGE)
}

/// The question whether somebody wants a link of their own.
pub(crate) fn invitation() -> Reply {
    Reply::new(200, HTML, INVITATION)
}

/// A page with one sentence of ours.
pub(crate) fn plain(status: u16, sentence: &str) -> Reply {
    Reply::new(status, HTML, PLAIN.replace("{sentence}", sentence))
}

/// What the pages load, by name.
pub(crate) fn file(name: &str) -> Option<Reply> {
    let found = FILES.iter().find(|(known, ..)| *known == name);
    found.map(|(_, kind, text)| Reply::new(200, kind, *text))
}

pub(crate) fn png(bytes: Vec<u8>) -> Reply {
    Reply::new(200, "image/png", bytes)
}

pub(crate) fn json(value: &impl Serialize) -> Reply {
    match serde_json::to_vec(value) {
        Ok(bytes) => Reply::new(200, "application/json", bytes),
        Err(_) => plain(500, "Something went wrong on the server."),
    }
}

/// Sends the browser to a page of ours.
pub(crate) fn seen_elsewhere(path: &str) -> Reply {
    Reply { location: Some(path.to_owned()), ..Reply::new(303, HTML, "") }
}

impl From<Reply> for Response {
    fn from(reply: Reply) -> Self {
        let mut response = Self::new(Body::from(reply.body));
        *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or_default();
        let headers = response.headers_mut();
        let location = reply.location.and_then(|path| HeaderValue::from_str(&path).ok());
        location.map(|path| headers.insert(header::LOCATION, path));
        for (name, value) in [
            (header::CONTENT_TYPE, reply.content_type),
            (header::CONTENT_SECURITY_POLICY, POLICY),
            // Links are secrets, and pictures must not be looked at twice.
            (header::CACHE_CONTROL, "no-store"),
            (header::REFERRER_POLICY, "no-referrer"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        response
    }
}
