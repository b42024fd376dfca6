//! Wire formats on the answers that providers document, and on answers that nobody should send.

mod azure;
mod google;
mod http;
mod ibm;
mod kserve;
mod malformed;
mod open;
mod rekognition;

use faultlens_core::{Bounds, Image, Response, TargetError};
use faultlens_targets::service::credential::Environment;
use faultlens_targets::service::wire::{EncodedImage, HttpResponse, Request, WireError};
use faultlens_targets::service::{Connector, SERVICES, ServiceError, ServiceSpec, Task, open_in};
use std::collections::BTreeMap;
use std::path::Path;

const HERE: &str = "http://127.0.0.1:9";

/// A spec from JSON, as a campaign file has it in YAML.
fn spec(text: &str) -> ServiceSpec {
    let mut spec: ServiceSpec = serde_json::from_str(text).unwrap();
    spec.endpoint.get_or_insert_with(|| HERE.to_owned());
    spec
}

fn open(text: &str) -> Connector {
    open_in(&spec(text), Path::new("."), &Environment::default()).unwrap()
}

fn open_error(text: &str) -> String {
    let opened = open_in(&spec(text), Path::new("."), &Environment::default());
    opened.err().map(|error: ServiceError| error.to_string()).unwrap()
}

fn image(width: usize, height: usize) -> Image {
    Image::from_rgb(width, height, vec![7; width * height * 3]).unwrap()
}

fn request_for(connector: &Connector, image: &Image) -> Result<Request, TargetError> {
    connector.wire.request(&EncodedImage { bytes: b"PICTURE", media_type: "image/png", image })
}

fn response(status: u16, body: &[u8]) -> HttpResponse {
    HttpResponse { status, headers: BTreeMap::new(), body: body.to_vec() }
}

fn prediction(connector: &Connector, body: &str, image: &Image) -> Response {
    connector.wire.read(&response(200, body.as_bytes()), image).unwrap().response
}

fn error(connector: &Connector, status: u16, body: &str) -> WireError {
    connector.wire.read(&response(status, body.as_bytes()), &image(100, 100)).unwrap_err()
}

/// The ranked labels with their scores.
fn ranked(response: &Response) -> Vec<(&str, f32)> {
    let Response::Ranking(ranking) = response else { panic!("{response:?}") };
    ranking.places().iter().map(|place| (place.label.as_str(), place.score)).collect()
}

/// The objects: name, score, and left, top, right and bottom.
fn detections(response: &Response) -> Vec<(String, f32, [f32; 4])> {
    let Response::Detections(detections) = response else { panic!("{response:?}") };
    let mut all = Vec::new();
    for found in &detections.found {
        let Bounds { left, top, right, bottom } = found.bounds;
        all.push((detections.name(found.class), found.score, [left, top, right, bottom]));
    }
    all
}

fn text(response: &Response) -> String {
    let Response::Text(text) = response else { panic!("{response:?}") };
    text.text()
}

fn header(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

fn body(request: &Request) -> serde_json::Value {
    serde_json::from_slice(&request.body).unwrap()
}

#[test]
fn every_service_is_listed_once_and_can_be_opened() {
    let names: Vec<&str> = SERVICES.iter().map(|service| service.name).collect();
    assert_eq!(names, ["rekognition", "google", "azure", "ibm", "kserve", "http"]);
    for service in SERVICES {
        assert!(!service.about.ends_with('.') && !service.tasks.is_empty(), "{}", service.name);
        for task in service.tasks {
            assert_eq!(serde_json::to_value(task).unwrap(), task.name());
        }
    }
    assert_eq!(open(r#"{"provider": "ibm"}"#).task, Task::Objects);
}
