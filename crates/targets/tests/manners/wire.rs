//! A wire format of one number, and a credential with secrets worth stealing.

use crate::server::Server;
use faultlens_core::{Image, Response, TargetError};
use faultlens_targets::service::credential::{Credential, Secret, Signed};
use faultlens_targets::service::wire::{Answer, Picture, Problem, Request, Said, Wire};
use faultlens_targets::service::{Connector, Manners, ServiceSpec, ServiceTarget, Task};
use std::time::SystemTime;

pub(crate) const KEY: &str = "sk-very-secret-key-0123456789";
pub(crate) const QUERY: &str = "token=query-secret-987654321";

/// `{"value": 0.5, "version": "1"}`; errors by the HTTP status alone.
struct Number;

impl Wire for Number {
    fn request(&self, picture: &Picture<'_>) -> Result<Request, TargetError> {
        let headers = vec![("content-type".to_owned(), picture.media.to_owned())];
        Ok(Request {
            method: "POST",
            path: "/ask".to_owned(),
            headers,
            body: picture.bytes.to_vec(),
        })
    }

    fn read(&self, answer: &Answer, _image: &Image) -> Result<Said, Problem> {
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        match answer.status {
            200 => (),
            429 => return Err(Problem::Throttled(None)),
            401 | 403 => return Err(Problem::Denied(text)),
            400 => return Err(Problem::Refused(text)),
            _ => return Err(Problem::Unavailable(text)),
        }
        let json: serde_json::Value =
            serde_json::from_slice(&answer.body).map_err(|e| Problem::Broken(e.to_string()))?;
        let value = json["value"].as_f64().ok_or_else(|| Problem::Broken("no value".to_owned()))?;
        let version = json["version"].as_str().map(str::to_owned);
        Ok(Said { response: Response::Values(vec![value as f32]), version })
    }
}

/// Nobody in particular, or somebody with a key.
#[derive(Clone, Copy)]
pub(crate) struct Who(pub(crate) bool);

impl Credential for Who {
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

/// Manners that let tests end soon.
pub(crate) fn manners() -> Manners {
    Manners { timeout: 5.0, retries: 3, ..Manners::default() }
}

pub(crate) fn spec(manners: Manners) -> ServiceSpec {
    let spec = serde_json::json!({ "of": "number", "manners": manners });
    serde_json::from_value(spec).unwrap()
}

pub(crate) fn connector(endpoint: &str, who: Who) -> Connector {
    Connector {
        wire: Box::new(Number),
        credential: Box::new(who),
        endpoint: endpoint.to_owned(),
        task: Task::Labels,
        rate: None,
        price: Some(0.25),
    }
}

pub(crate) fn target(server: &Server, manners: Manners) -> ServiceTarget {
    ServiceTarget::new(&spec(manners), connector(&server.address, Who(false))).unwrap()
}

/// An image of its own for every number.
pub(crate) fn image(number: u8) -> Image {
    Image::from_rgb(4, 4, vec![number; 48]).unwrap()
}

pub(crate) fn said(value: f32) -> String {
    format!("{{\"value\": {value}, \"version\": \"1\"}}")
}
