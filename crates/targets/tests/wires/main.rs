//! Wire formats on the answers that providers document, and on answers that nobody should send.

#![expect(clippy::unwrap_used, reason = "tests")]

mod azure;
mod google;
mod hostile;
mod http;
mod ibm;
mod kserve;
mod opening;
mod rekognition;

use faultlens_core::{Image, Response, TargetError};
use faultlens_targets::service::credential::Environment;
use faultlens_targets::service::wire::{Answer, Picture, Problem, Request};
use faultlens_targets::service::{Connector, ServiceError, ServiceSpec, Task, open_in};
use std::collections::BTreeMap;
use std::path::Path;

const HERE: &str = "http://127.0.0.1:9";

/// A spec from JSON, as a campaign file has it in YAML.
fn spec(text: &str) -> ServiceSpec {
    let mut spec: ServiceSpec = serde_json::from_str(text).unwrap();
    spec.endpoint.get_or_insert_with(|| HERE.to_owned());
    spec
}

fn opened(text: &str) -> Connector {
    open_in(&spec(text), Path::new("."), &Environment::default()).unwrap()
}

fn refused(text: &str) -> String {
    let opened = open_in(&spec(text), Path::new("."), &Environment::default());
    opened.err().map(|error: ServiceError| error.to_string()).unwrap()
}

fn image(width: usize, height: usize) -> Image {
    Image::from_rgb(width, height, vec![7; width * height * 3]).unwrap()
}

fn asked(connector: &Connector, image: &Image) -> Result<Request, TargetError> {
    connector.wire.request(&Picture { bytes: b"PICTURE", media: "image/png", image })
}

fn answer(status: u16, body: &[u8]) -> Answer {
    Answer { status, headers: BTreeMap::new(), body: body.to_vec() }
}

fn said(connector: &Connector, body: &str, image: &Image) -> Response {
    connector.wire.read(&answer(200, body.as_bytes()), image).unwrap().response
}

fn problem(connector: &Connector, status: u16, body: &str) -> Problem {
    connector.wire.read(&answer(status, body.as_bytes()), &image(100, 100)).unwrap_err()
}

/// The ranked labels with their scores.
fn ranked(response: &Response) -> Vec<(&str, f32)> {
    let Response::Ranking(ranking) = response else { panic!("{response:?}") };
    ranking.places().iter().map(|place| (place.label.as_str(), place.score)).collect()
}

/// The objects: name, score, and left, top, right and bottom.
fn found(response: &Response) -> Vec<(String, f32, [f32; 4])> {
    let Response::Detections(detections) = response else { panic!("{response:?}") };
    let sides = |b: &faultlens_core::Bounds| [b.left, b.top, b.right, b.bottom];
    let one = |d: &faultlens_core::Detection| (detections.name(d.class), d.score, sides(&d.bounds));
    detections.found.iter().map(one).collect()
}

fn text(response: &Response) -> String {
    let Response::Text(text) = response else { panic!("{response:?}") };
    text.text()
}

fn body(request: &Request) -> serde_json::Value {
    serde_json::from_slice(&request.body).unwrap()
}

#[test]
fn every_service_is_listed_once_and_can_be_opened() {
    let names: Vec<&str> =
        faultlens_targets::service::SERVICES.iter().map(|service| service.name).collect();
    assert_eq!(names, ["rekognition", "google", "azure", "ibm", "kserve", "http"]);
    for service in faultlens_targets::service::SERVICES {
        assert!(!service.about.ends_with('.') && !service.tasks.is_empty(), "{}", service.name);
        for task in service.tasks {
            assert_eq!(serde_json::to_value(task).unwrap(), task.name());
        }
    }
    assert_eq!(opened(r#"{"of": "ibm"}"#).task, Task::Objects);
}
