//! Servers of the Open Inference Protocol.

use super::*;
use serde_json::json;

fn with(more: &str) -> String {
    format!(
        r#"{{"provider": "kserve", "model": "mymodel", "input": {{"size": [1, 2]}},
            "output": {{"kind": "probabilities"}}{more}}}"#
    )
}

/// A pixel's share of full light, which is 0.02745098 as a float.
const LIGHT: f32 = 7.0 / 255.0;

#[test]
fn asks_in_numbers() {
    let request = request_for(&open(&with(r#", "tensor": "x""#)), &image(2, 1)).unwrap();
    assert_eq!(request.path, "/v2/models/mymodel/infer");
    let request = body(&request);
    let input = &request["inputs"][0];
    assert_eq!((&input["name"], &input["datatype"]), (&json!("x"), &json!("FP32")));
    assert_eq!(input["shape"], json!([1, 3, 1, 2]));
    let data = input["data"].as_array().unwrap();
    assert!(data.len() == 6 && data.iter().all(|x| x.as_f64().unwrap() as f32 == LIGHT));
    assert!(request.get("outputs").is_none());
}

#[test]
fn asks_in_bytes() {
    let of = with(r#", "version": "binary""#).replace("mymodel", "mymodel/7");
    let request = request_for(&open(&of), &image(2, 1)).unwrap();
    assert_eq!(request.path, "/v2/models/mymodel/versions/7/infer");
    assert_eq!(request.headers[1].0, "inference-header-content-length");
    let (text, raw) = request.body.split_at(request.headers[1].1.parse().unwrap());
    let text: serde_json::Value = serde_json::from_slice(text).unwrap();
    assert_eq!(text["inputs"][0]["parameters"], json!({"binary_data_size": 24}));
    assert_eq!(text["inputs"][0].get("data"), None);
    assert_eq!(text["parameters"], json!({"binary_data_output": true}));
    assert_eq!(raw, LIGHT.to_le_bytes().repeat(6));
}

fn scores(response: &Response) -> &[f32] {
    let Response::Scores(scores) = response else { panic!("{response:?}") };
    &scores.scores
}

/// The example of an inference response in the protocol's text, with one image.
const EXAMPLE: &str = r#"{"model_name": "mymodel", "model_version": "1", "id": "42", "outputs":
    [{"name": "output0", "shape": [1, 2], "datatype": "FP32", "data": [1.0, 1.1]}]}"#;

#[test]
fn numbers_and_bytes_are_read_alike() {
    let connector = open(&with(""));
    let in_numbers = connector.wire.read(&response(200, EXAMPLE.as_bytes()), &image(2, 1)).unwrap();
    assert_eq!(in_numbers.version.as_deref(), Some("1"));
    assert_eq!(scores(&in_numbers.response), [1.0, 1.1]);
    let text = EXAMPLE.replace(r#""data": [1.0, 1.1]"#, r#""parameters": {"binary_data_size": 8}"#);
    let raw = [1.0f32.to_le_bytes(), 1.1f32.to_le_bytes()].concat();
    let mut in_bytes = response(200, &[text.as_bytes(), &raw].concat());
    let length = "inference-header-content-length";
    in_bytes.headers.insert(length.to_owned(), text.len().to_string());
    let read = connector.wire.read(&in_bytes, &image(2, 1)).unwrap();
    assert_eq!(read.response, in_numbers.response);
    for (length_says, cut) in [(text.len(), 1), (text.len() + 1, 0), (usize::MAX, 0)] {
        let mut odd = in_bytes.clone();
        odd.headers.insert(length.to_owned(), length_says.to_string());
        odd.body.truncate(odd.body.len() - cut);
        assert!(matches!(connector.wire.read(&odd, &image(2, 1)), Err(WireError::Malformed(_))));
    }
}

#[test]
fn answers_are_what_the_description_says() {
    let detector = with("").replace(
        r#""kind": "probabilities""#,
        r#""kind": "detections", "decoder": "ultraface", "threshold": 0.5"#,
    );
    let detector = open(&detector);
    let body = json!({"outputs": [
        {"name": "boxes", "shape": [1, 2, 4], "datatype": "FP32",
         "data": [[0.0, 0.0, 0.5, 0.5], [0.0, 0.0, 1.0, 1.0]]},
        {"name": "scores", "shape": [1, 2, 2], "datatype": "FP32", "data": [0.1, 0.9, 0.9, 0.1]}]});
    let faces = prediction(&detector, &body.to_string(), &image(40, 20));
    assert_eq!(detections(&faces)[0].2, [0.0, 0.0, 20.0, 10.0]);
    let other = body.to_string().replace("scores", "points");
    let missing = error(&detector, 200, &other);
    assert!(matches!(&missing, WireError::Malformed(why) if why.contains("scores")), "{missing:?}");
    let named = open(&with("").replace(r#""kind""#, r#""name": "output0", "kind""#));
    let outputs = body_of_outputs(&named);
    assert_eq!(outputs, json!([{"name": "output0", "parameters": {"binary_data": false}}]));
}

fn body_of_outputs(connector: &Connector) -> serde_json::Value {
    body(&request_for(connector, &image(2, 1)).unwrap())["outputs"].clone()
}

#[test]
fn errors_and_settings_are_reported() {
    let connector = open(&with(""));
    let wrong = error(&connector, 400, r#"{"error": "unexpected shape for input 'input'"}"#);
    assert!(matches!(wrong, WireError::Rejected(why) if why.contains("unexpected shape")));
    let unknown = error(&connector, 404, r#"{"error": "Request for unknown model"}"#);
    assert!(matches!(unknown, WireError::Denied(why) if why.contains("unknown model")));
    for (of, wanted) in [
        (r#"{"provider": "kserve"}"#.to_owned(), "needs model"),
        (r#"{"provider": "kserve", "model": "m"}"#.to_owned(), "needs input"),
        (with("").replace("mymodel", "a/b/c"), "NAME/VERSION"),
        (with("").replace("mymodel", "../x"), "NAME/VERSION"),
        (with(r#", "version": "grpc""#), "json and binary"),
        (with(r#", "min_confidence": 0.5"#), "leave min_confidence out"),
        (with(r#", "labels": ["a"]"#), "a file of class names"),
        (with(r#", "labels": "no-such-file.txt""#), "no-such-file.txt"),
        (with("").replace("[1, 2]}", r#"[1, 2], "dtype": "f16"}"#), "version to binary"),
    ] {
        let error = open_error(&of);
        assert!(error.contains(wanted), "{error}");
    }
}
