//! Responses that nobody should send: reported as malformed, never taken for an answer.

use super::*;
use faultlens_core::Seed;
use serde_json::{Value, json};

/// Every kind of answer, with one that is good.
fn good() -> Vec<(Connector, Value)> {
    let rectangle = json!({"x": 1, "y": 2, "w": 3, "h": 4});
    let corners = json!([{"x": 0.1, "y": 0.1}, {"x": 0.2, "y": 0.2}]);
    let share = json!({"Left": 0.1, "Top": 0.1, "Width": 0.2, "Height": 0.2});
    vec![
        (
            open(r#"{"provider": "rekognition"}"#),
            json!({"Labels": [{"Name": "a", "Confidence": 50.0}]}),
        ),
        (
            open(r#"{"provider": "rekognition", "task": "objects"}"#),
            json!({"Labels": [{"Name": "a", "Confidence": 50.0,
                "Instances": [{"BoundingBox": share, "Confidence": 50.0}]}]}),
        ),
        (
            open(r#"{"provider": "rekognition", "task": "text"}"#),
            json!({"TextDetections": [{"DetectedText": "a", "Type": "LINE", "Confidence": 50.0}]}),
        ),
        (
            open(r#"{"provider": "google"}"#),
            json!({"responses": [{"labelAnnotations": [{"description": "a", "score": 0.5}]}]}),
        ),
        (
            open(r#"{"provider": "google", "task": "objects"}"#),
            json!({"responses": [{"localizedObjectAnnotations": [{"name": "a", "score": 0.5,
                "boundingPoly": {"normalizedVertices": corners}}]}]}),
        ),
        (
            open(r#"{"provider": "azure"}"#),
            json!({"tagsResult": {"values": [{"name": "a", "confidence": 0.5}]}}),
        ),
        (
            open(r#"{"provider": "azure", "task": "objects", "version": "3.2"}"#),
            json!({"objects": [{"rectangle": rectangle, "object": "a", "confidence": 0.5}]}),
        ),
        (
            open(r#"{"provider": "ibm"}"#),
            json!({"status": "ok", "predictions": [{"label": "a", "probability": 0.5,
                "detection_box": [0.1, 0.1, 0.2, 0.2]}]}),
        ),
        (
            open(
                r#"{"provider": "http", "template": {"label": "l", "score": "s", "answers": "r"}}"#,
            ),
            json!({"r": [{"l": "a", "s": 0.5}]}),
        ),
        (
            open(
                r#"{"provider": "kserve", "model": "m", "input": {"size": [1, 1]},
                "output": {"kind": "probabilities"}}"#,
            ),
            json!({"outputs": [{"name": "y", "shape": [1, 2], "datatype": "FP32",
                "data": [0.5, 0.25]}]}),
        ),
    ]
}

fn read(connector: &Connector, body: &[u8]) -> Result<Response, WireError> {
    let prediction = connector.wire.read(&response(200, body), &image(100, 100));
    prediction.map(|prediction| prediction.response)
}

#[test]
fn truncated_responses_are_malformed() {
    for (connector, body) in good() {
        let text = body.to_string();
        assert!(read(&connector, text.as_bytes()).is_ok(), "{text}");
        for end in 0..text.len() {
            let cut = read(&connector, &text.as_bytes()[..end]);
            assert!(matches!(cut, Err(WireError::Malformed(_))), "{}", &text[..end]);
        }
    }
}

#[test]
fn nonsense_is_malformed() {
    for (connector, body) in good() {
        let text = body.to_string();
        let odd: Vec<Vec<u8>> = vec![
            b"<!DOCTYPE html><html></html>".to_vec(),
            b"null".to_vec(),
            b"{}".to_vec(),
            b"[]".to_vec(),
            b"7".to_vec(),
            vec![0xff, 0xfe, 0x00],
            text.replace("0.5", "NaN").replace("50.0", "NaN").into_bytes(),
            text.replace("0.5", "1e999").replace("50.0", "1e999").into_bytes(),
            text.replace("0.5", "null").replace("50.0", "null").into_bytes(),
            text.replace("0.5", "\"0.5\"").replace("50.0", "\"50\"").into_bytes(),
            text.replace("\"a\"", "17.5").replace("\"FP32\"", "\"BYTES\"").into_bytes(),
            "[".repeat(100_000).into_bytes(),
        ];
        for body in odd {
            // A class may be a number where a template has no names, and an empty list is one.
            let is_http = text.starts_with("{\"r\"");
            if is_http && body.windows(4).any(|four| four == b"17.5") {
                continue;
            }
            let shown = String::from_utf8_lossy(&body[..body.len().min(80)]).into_owned();
            let read = read(&connector, &body);
            assert!(matches!(read, Err(WireError::Malformed(_))), "{shown}: {read:?} of {text}");
        }
    }
}

#[test]
fn scores_and_boxes_out_of_range_are_malformed() {
    for (connector, body) in good() {
        let text = body.to_string();
        if text.starts_with("{\"outputs\"") {
            continue;
        }
        for (from, to) in [("0.5", "1.5"), ("0.5", "-0.5"), ("50.0", "150.0"), ("0.2", "1e30")] {
            let odd = text.replace(from, to);
            if odd != text {
                let read = read(&connector, odd.as_bytes());
                assert!(matches!(read, Err(WireError::Malformed(_))), "{odd}: {read:?}");
            }
        }
    }
}

#[test]
fn endless_lists_names_and_texts_are_malformed() {
    let labels: Vec<Value> = vec![json!({"Name": "a", "Confidence": 1.0}); 10_001];
    let long = "a".repeat(1001);
    let connector = open(r#"{"provider": "rekognition"}"#);
    for body in [
        json!({ "Labels": labels }),
        json!({"Labels": [{"Name": long, "Confidence": 1.0}]}),
        json!({"Labels": [{"Name": " ", "Confidence": 1.0}]}),
    ] {
        let read = read(&connector, body.to_string().as_bytes());
        assert!(matches!(read, Err(WireError::Malformed(_))), "{read:?}");
    }
    let text = open(r#"{"provider": "google", "task": "text"}"#);
    let body =
        json!({"responses": [{"textAnnotations": [{"description": "a".repeat(1_000_001)}]}]});
    assert!(matches!(read(&text, body.to_string().as_bytes()), Err(WireError::Malformed(_))));
}

/// Bytes changed at random: whatever comes of it, nothing panics, and what is read holds together.
#[test]
fn changed_bytes_never_panic() {
    let mut stream = Seed::new(11).stream();
    for (connector, body) in good() {
        let text = body.to_string().into_bytes();
        for _ in 0..2000 {
            let mut odd = text.clone();
            for _ in 0..=stream.below(3) {
                let at = stream.below(odd.len());
                odd[at] = stream.below(256) as u8;
            }
            for status in [200, 400, 500] {
                let prediction = connector.wire.read(&response(status, &odd), &image(100, 100));
                if let Ok(prediction) = prediction {
                    assert!(status == 200 && prediction.response.is_finite());
                }
            }
        }
    }
}
