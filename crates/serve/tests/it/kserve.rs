//! The Open Inference Protocol.

use crate::running_server::*;
use faultlens_core::Tensor;
use faultlens_targets::{OnnxTarget, PartialDescription};
use serde_json::{Value, json};
use std::path::Path;

const MODEL: &str = "/v2/models/signs-shallow";
const SIDE: usize = 48;

fn numbers() -> Vec<f32> {
    (0..3 * SIDE * SIDE).map(|at| (at % 255) as f32 / 255.0).collect()
}

/// What the model gives without any service between.
fn plain() -> (String, String, Vec<f32>) {
    let target = OnnxTarget::open(Path::new(CLASSIFIER), PartialDescription::default()).unwrap();
    let graph = target.model().graph();
    let input = graph.value_name(graph.inputs()[0]).to_owned();
    let output = graph.value_name(graph.outputs()[0]).to_owned();
    let tensor = Tensor::new(vec![1, 3, SIDE, SIDE], numbers()).unwrap();
    let outputs = target.model().run(&[(&input, tensor)]).unwrap();
    (input, output, outputs[0].as_f32().unwrap().to_vec())
}

fn binary(head: &Value, raw: &[u8]) -> (String, Vec<u8>) {
    let mut body = head.to_string().into_bytes();
    let headers = format!("Inference-Header-Content-Length: {}\r\n", body.len());
    body.extend(raw);
    (headers, body)
}

#[test]
fn tensors_come_back_bit_for_bit() {
    let server = RunningServer::of(CLASSIFIER, "kserve");
    let (input, output, wanted) = plain();
    let shape = [1, 3, SIDE, SIDE];
    let data = json!({"name": input, "shape": shape, "datatype": "FP32", "data": numbers()});
    let body = json!({"id": "42", "inputs": [data]}).to_string();
    let answer = server.post(&format!("{MODEL}/infer"), "", body.as_bytes()).json();
    assert_eq!((&answer["id"], &answer["model_name"]), (&json!("42"), &json!("signs-shallow")));
    let got = answer["outputs"][0]["data"].as_array().unwrap();
    let got: Vec<f32> = got.iter().map(|x| x.as_f64().unwrap() as f32).collect();
    assert_eq!(got, wanted);
    assert_eq!(answer["outputs"][0]["shape"], json!([1, wanted.len()]));

    let raw: Vec<u8> = numbers().iter().flat_map(|x| x.to_le_bytes()).collect();
    let data = json!({"name": input, "shape": shape, "datatype": "FP32",
        "parameters": {"binary_data_size": raw.len()}});
    let outputs = json!([{"name": output, "parameters": {"binary_data": true}}]);
    let (headers, body) = binary(&json!({"inputs": [data], "outputs": outputs}), &raw);
    let version = answer["model_version"].as_str().unwrap();
    let reply = server.post(&format!("{MODEL}/versions/{version}/infer"), &headers, &body);
    let length: usize = reply.header("inference-header-content-length").parse().unwrap();
    let head: Value = serde_json::from_slice(&reply.body[..length]).unwrap();
    assert_eq!(head["outputs"][0]["parameters"]["binary_data_size"], wanted.len() * 4);
    let got: Vec<f32> = reply.body[length..]
        .chunks(4)
        .map(|four| f32::from_le_bytes(four.try_into().unwrap()))
        .collect();
    assert_eq!(got, wanted);
}

#[test]
fn the_server_and_the_model_are_described() {
    let server = RunningServer::of(CLASSIFIER, "kserve");
    for path in ["/v2/health/live", "/v2/health/ready", &format!("{MODEL}/ready")] {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
    assert_eq!(server.get("/v2").json()["extensions"], json!(["binary_tensor_data"]));
    let about = server.get(MODEL).json();
    assert_eq!(about["inputs"][0]["datatype"], "FP32");
    assert_eq!(about["inputs"][0]["shape"], json!([-1, 3, SIDE, SIDE]));
    let version = about["versions"][0].as_str().unwrap();
    assert_eq!(server.get(&format!("{MODEL}/versions/{version}")).json(), about);
}

#[test]
fn errors_are_reported() {
    let server = RunningServer::of(CLASSIFIER, "kserve");
    let infer = format!("{MODEL}/infer");
    let (input, ..) = plain();
    let one = |name: &str, shape: Value, kind: &str, data: Value| {
        let input = json!({"name": name, "shape": shape, "datatype": kind, "data": data});
        json!({ "inputs": [input] })
    };
    for (body, wanted) in [
        (json!({}), "inputs"),
        (one("none", json!([1]), "FP32", json!([1])), "none"),
        (one(&input, json!([1, 3]), "FP32", json!([1])), "cannot hold 1 elements"),
        (one(&input, json!([1]), "BYTES", json!(["a"])), "BYTES"),
        (one(&input, json!([1]), "FP32", json!(["a"])), "is no FP32"),
        (one(&input, json!([1, 3, 48, 47]), "FP32", json!(vec![0; 3 * 48 * 47])), ""),
        (one(&input, json!([1]), "INT64", json!([1])), ""),
        (json!({"inputs": [{"name": input, "shape": [1], "datatype": "FP32"}]}), "no data"),
        (json!({"inputs": [], "outputs": [{"name": "none"}]}), "unexpected inference output"),
    ] {
        let reply = server.post(&infer, "", body.to_string().as_bytes());
        let error = reply.json()["error"].as_str().unwrap().to_owned();
        assert!(reply.status == 400 && error.contains(wanted), "{body}: {error}");
    }
    for length in ["999999", "-1", "many"] {
        let headers = format!("Inference-Header-Content-Length: {length}\r\n");
        assert_eq!(server.post(&infer, &headers, b"{}").status, 400, "{length}");
    }
    let data = json!({"name": input, "shape": [1], "datatype": "FP32",
        "parameters": {"binary_data_size": 8}});
    let (headers, body) = binary(&json!({"inputs": [data]}), &[0; 4]);
    assert_eq!(server.post(&infer, &headers, &body).status, 400);
    let (headers, body) = binary(&json!({"inputs": []}), &[0; 4]);
    assert_eq!(server.post(&infer, &headers, &body).status, 400);
    for (method, path, status) in [
        ("GET", "/v2/models/other", 404),
        ("GET", &format!("{MODEL}/versions/9"), 404),
        ("GET", &infer, 405),
        ("POST", MODEL, 405),
        ("POST", "/v2/health/live", 405),
        ("GET", "/v3", 404),
        ("GET", "/", 404),
    ] {
        let reply = server.send(method, path, "", b"");
        assert_eq!(reply.status, status, "{method} {path}");
        assert!(reply.json()["error"].is_string());
    }
    assert_eq!(server.send("GET", "/v3", "", b"").json()["error"], "Not Found");
}
