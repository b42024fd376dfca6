//! What services answer.

use crate::{FuzzTarget, mutate};
use faultlens_core::Image;
use faultlens_targets::service::credential::Environment;
use faultlens_targets::service::wire::HttpResponse;
use faultlens_targets::service::{Connector, ServiceSpec, open_in};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

/// Bodies of HTTP responses.
pub const TARGET: FuzzTarget =
    FuzzTarget { name: "service", run, fixtures: &[], mutate: mutate::json };

/// Every wire format, as campaign files name them.
const SPECS: &[&str] = &[
    r#"{"provider": "rekognition"}"#,
    r#"{"provider": "rekognition", "task": "objects"}"#,
    r#"{"provider": "rekognition", "task": "text"}"#,
    r#"{"provider": "google"}"#,
    r#"{"provider": "google", "task": "objects"}"#,
    r#"{"provider": "google", "task": "text"}"#,
    r#"{"provider": "azure"}"#,
    r#"{"provider": "azure", "task": "objects", "version": "3.2"}"#,
    r#"{"provider": "ibm"}"#,
    r#"{"provider": "http", "template": {"label": "l", "score": "s", "answers": "r"}}"#,
    r#"{"provider": "kserve", "model": "m", "input": {"size": [1, 1]}, "output": {"kind": "probabilities"}}"#,
];

fn connectors() -> &'static [Connector] {
    static OPENED: OnceLock<Vec<Connector>> = OnceLock::new();
    OPENED.get_or_init(|| {
        let specs = SPECS.iter().filter_map(|text| {
            let mut spec: ServiceSpec = serde_json::from_str(text).ok()?;
            spec.endpoint = Some("http://127.0.0.1:9".to_owned());
            open_in(&spec, Path::new("."), &Environment::default()).ok()
        });
        specs.collect()
    })
}

/// Reads the bytes as the body that each service answers with, as a success and as errors.
pub fn run(bytes: &[u8]) {
    let Ok(image) = Image::from_rgb(10, 10, vec![7; 300]) else { return };
    for connector in connectors() {
        for status in [200, 400, 429, 500] {
            let headers = BTreeMap::from([("retry-after".to_owned(), "7".to_owned())]);
            let response = HttpResponse { status, headers, body: bytes.to_vec() };
            drop(connector.wire.read(&response, &image));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wire_format_is_there() {
        assert_eq!(connectors().len(), SPECS.len());
    }
}
