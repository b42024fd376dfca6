//! A wire format of one number, and a credential with secrets worth stealing.

use super::server::Server;
use faultlens_core::{Image, Response, TargetError};
use faultlens_targets::service::credential::{Credential, Secret, Signed};
use faultlens_targets::service::wire::{
    EncodedImage, HttpResponse, Prediction, Request, Wire, WireError,
};
use faultlens_targets::service::{Connector, Limits, ServiceSpec, ServiceTarget, Task};
use std::time::SystemTime;

pub(crate) const KEY: &str = "sk-very-secret-key-0123456789";
pub(crate) const QUERY: &str = "token=query-secret-987654321";

/// `{"value": 0.5, "version": "1"}`; errors by the HTTP status alone.
struct NumberWire;

impl Wire for NumberWire {
    fn request(&self, encoded: &EncodedImage<'_>) -> Result<Request, TargetError> {
        Ok(Request {
            method: "POST",
            path: "/ask".to_owned(),
            headers: vec![("content-type".to_owned(), encoded.media_type.to_owned())],
            body: encoded.bytes.to_vec(),
        })
    }

    fn read(&self, response: &HttpResponse, _image: &Image) -> Result<Prediction, WireError> {
        let text = String::from_utf8_lossy(&response.body).into_owned();
        match response.status {
            200 => (),
            429 => return Err(WireError::Throttled(None)),
            401 | 403 => return Err(WireError::Denied(text)),
            400 => return Err(WireError::Rejected(text)),
            _ => return Err(WireError::Unavailable(text)),
        }
        let json: serde_json::Value = serde_json::from_slice(&response.body)
            .map_err(|error| WireError::Malformed(error.to_string()))?;
        let Some(value) = json["value"].as_f64() else {
            return Err(WireError::Malformed("no value".to_owned()));
        };
        let version = json["version"].as_str().map(str::to_owned);
        Ok(Prediction { response: Response::Values(vec![value as f32]), version })
    }
}

/// No credential, or one with a key.
#[derive(Clone, Copy)]
pub(crate) struct MaybeKey(pub(crate) bool);

impl Credential for MaybeKey {
    fn sign(&self, _: &Request, host: &str, _: SystemTime) -> Result<Signed, String> {
        if !self.0 {
            return Ok(Signed::default());
        }
        assert!(!host.is_empty());
        let key = Secret::new(format!("Bearer {KEY}"));
        let headers = vec![("authorization".to_owned(), key)];
        Ok(Signed { headers, query: Some(Secret::new(QUERY)) })
    }
}

/// A timeout that no working test reaches, on a busy machine either, and few retries.
pub(crate) fn limits() -> Limits {
    Limits { timeout: 60.0, retries: 3, ..Limits::default() }
}

pub(crate) fn spec(limits: Limits) -> ServiceSpec {
    ServiceSpec { limits, ..ServiceSpec::new("number") }
}

pub(crate) fn connector(endpoint: &str, key: MaybeKey) -> Connector {
    Connector {
        wire: Box::new(NumberWire),
        credential: Box::new(key),
        endpoint: endpoint.to_owned(),
        task: Task::Labels,
        rate: None,
        price: Some(0.25),
    }
}

pub(crate) fn target(server: &Server, limits: Limits) -> ServiceTarget {
    ServiceTarget::new(&spec(limits), connector(&server.address, MaybeKey(false))).unwrap()
}

/// A different image for every number.
pub(crate) fn image(number: u8) -> Image {
    Image::from_rgb(4, 4, vec![number; 48]).unwrap()
}

/// The body of a response with a number.
pub(crate) fn number_body(value: f32) -> String {
    format!("{{\"value\": {value}, \"version\": \"1\"}}")
}
