//! Any endpoint, by template.

use super::*;
use serde_json::json;

fn with(template: serde_json::Value) -> String {
    json!({"provider": "http", "template": template}).to_string()
}

#[test]
fn labels_come_from_paths() {
    let connector = open(&with(json!({
        "path": "/predict?top=5",
        "headers": {"X-Model": "resnet"},
        "body": r#"{"instances": [{"b64": "${image}"}]}"#,
        "answers": "predictions[0].classes",
        "label": "name", "score": "p", "model_version": "meta.version",
    })));
    assert_eq!(connector.task, Task::Labels);
    let request = request_for(&connector, &image(9, 9)).unwrap();
    assert_eq!(request.path, "/predict?top=5");
    let wanted = [header("x-model", "resnet"), header("content-type", "application/json")];
    assert_eq!(request.headers, wanted);
    assert_eq!(body(&request), json!({"instances": [{"b64": "UElDVFVSRQ=="}]}));
    let body = r#"{"predictions": [{"classes": [{"name": "cat", "p": 0.25},
        {"name": "dog", "p": 0.5}, {"name": 7, "p": 0.125}]}], "meta": {"version": 3}}"#;
    let read = connector.wire.read(&response(200, body.as_bytes()), &image(9, 9)).unwrap();
    assert_eq!(ranked(&read.response), [("dog", 0.5), ("cat", 0.25), ("7", 0.125)]);
    assert_eq!(read.version.as_deref(), Some("3"));
}

#[test]
fn boxes_come_in_every_form() {
    let list = r#"[{"l": "a", "s": 1, "b": [10, 20, 30, 40]}]"#;
    let shares = r#"[{"l": "a", "s": 1, "b": [0.1, 0.1, 0.3, 0.2]}]"#;
    let apart = r#"{"l": "a", "s": 1, "x": 10, "y": 20, "w": 30, "h": 40}"#;
    for (corners, bounds, body, wanted) in [
        ("pixels", json!(["b"]), list, [10.0, 20.0, 30.0, 40.0]),
        ("pixels_with_size", json!(["b"]), list, [10.0, 20.0, 40.0, 60.0]),
        ("pixels_with_size", json!(["x", "y", "w", "h"]), apart, [10.0, 20.0, 40.0, 60.0]),
        ("shares", json!(["b"]), shares, [10.0, 20.0, 30.0, 40.0]),
        ("shares_with_size", json!(["b"]), shares, [10.0, 20.0, 40.0, 60.0]),
    ] {
        let template = json!({"label": "l", "score": "s", "bounds": bounds, "corners": corners});
        let connector = open(&with(template));
        assert_eq!(connector.task, Task::Objects);
        let found = detections(&prediction(&connector, body, &image(100, 200)));
        assert_eq!(found, [("a".to_owned(), 1.0, wanted)], "{corners}");
    }
}

#[test]
fn text_comes_from_a_form() {
    let connector = open(&with(json!({"form": "file", "answers": "lines", "text": "t"})));
    let request = request_for(&connector, &image(9, 9)).unwrap();
    assert!(request.headers[0].1.starts_with("multipart/form-data; boundary="));
    let body = r#"{"lines": [{"t": "STOP"}, {"t": "SIGN"}]}"#;
    assert_eq!(text(&prediction(&connector, body, &image(9, 9))), "STOP\nSIGN");
    let plain = open(&with(json!({"text": "t"})));
    let request = request_for(&plain, &image(9, 9)).unwrap();
    assert_eq!((request.headers[0].1.as_str(), request.body), ("image/png", b"PICTURE".to_vec()));
}

#[test]
fn variables_stay_out_of_requests_and_words() {
    let of = with(json!({"label": "l", "headers": {"Authorization": "Key ${MY_KEY}"}}));
    let environment = Environment::of([("MY_KEY", "hunter2hunter2")]);
    let connector = open_in(&spec(&of), Path::new("."), &environment).unwrap();
    let request = request_for(&connector, &image(9, 9)).unwrap();
    assert!(!format!("{request:?}").contains("hunter2"));
    let signed = connector.credential.sign(&request, "h", std::time::SystemTime::now()).unwrap();
    assert_eq!(signed.headers[0].0, "authorization");
    assert!(!format!("{:?} {environment:?}", signed.headers).contains("hunter2"));
    assert!(open_error(&of).contains("the variable MY_KEY is not set"));
}

#[test]
fn templates_are_checked() {
    for (template, wanted) in [
        (json!({}), "needs label"),
        (json!({"label": "l", "path": "x"}), "begins with /"),
        (json!({"label": "l", "body": "{}"}), "without ${image}"),
        (json!({"label": "l", "body": "{\"a\": ${image}}"}), "between quotes"),
        (json!({"label": "l", "body": "\"${image}\"", "form": "f"}), "leave one out"),
        (json!({"label": "l", "bounds": ["a", "b"]}), "four paths"),
        (json!({"label": "a..b"}), "empty step"),
        (json!({"label": "l", "headers": {"a b": "c"}}), "is not the name of a header"),
        (json!({"label": "l", "headers": {"a": "${X"}}), "has no }"),
    ] {
        let error = open_error(&with(template));
        assert!(error.contains(wanted), "{error}");
    }
    assert!(open_error(r#"{"provider": "http"}"#).contains("needs a template"));
}
