//! The Open Inference Protocol, version 2, as KServe, Triton, TorchServe, MLServer and OpenVINO
//! Model Server speak it, with the binary tensor extension.

use super::format::{Failure, Format, RETRY_AFTER, Wire, has_bearer_key};
use super::tensors;
use crate::message::{HttpRequest, HttpResponse};
use crate::model::ModelView;
use crate::query::decoded;
use axum::http::Method;
use faultlens_core::Tensor;
use faultlens_engine::{Dim, Graph, ValueId};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The header with the length of the JSON in front of raw tensors.
const JSON_LENGTH: &str = "inference-header-content-length";

/// Open Inference Protocol.
pub(super) const KSERVE: Format = Format {
    name: "kserve",
    about: "Open Inference Protocol v2, tensors in JSON and binary",
    wire: &Kserve,
};

struct Kserve;

#[derive(Deserialize)]
struct Request {
    #[serde(default)]
    id: Option<String>,
    inputs: Vec<Input>,
    #[serde(default)]
    outputs: Vec<Output>,
    #[serde(default)]
    parameters: Map<String, Value>,
}

#[derive(Deserialize)]
struct Input {
    name: String,
    shape: Vec<usize>,
    datatype: String,
    #[serde(default)]
    data: Option<Value>,
    #[serde(default)]
    parameters: Map<String, Value>,
}

#[derive(Deserialize)]
struct Output {
    name: String,
    #[serde(default)]
    parameters: Map<String, Value>,
}

impl Wire for Kserve {
    fn max_bytes(&self) -> usize {
        256 << 20
    }

    fn admit(&self, http: &HttpRequest, keys: &[String]) -> Result<(), HttpResponse> {
        if has_bearer_key(http, keys) { Ok(()) } else { Err(error(401, "Unauthorized")) }
    }

    fn answer(
        &self,
        http: &HttpRequest,
        model: ModelView<'_>,
    ) -> Result<HttpResponse, HttpResponse> {
        let path = http.path.strip_prefix("/v2").unwrap_or("?");
        let parts: Vec<String> = path.split('/').skip(1).map(decoded).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let method = if http.method == Method::HEAD { &Method::GET } else { &http.method };
        match (method, path, &parts[..]) {
            (&Method::GET, "" | "/", _) => Ok(HttpResponse::json(200, &server())),
            (&Method::GET, _, ["health", "live" | "ready"]) => Ok(healthy()),
            (method, _, ["models", name, rest @ ..]) => {
                let task = versioned(name, rest, model)?;
                match (method, task) {
                    (&Method::GET, []) => Ok(HttpResponse::json(200, &metadata(model))),
                    (&Method::GET, ["ready"]) => Ok(healthy()),
                    (&Method::POST, ["infer"]) => infer(http, model),
                    (_, [] | ["ready"] | ["infer"]) => Err(error(405, "Method Not Allowed")),
                    _ => Err(error(404, "Not Found")),
                }
            }
            (_, _, ["health", "live" | "ready"]) => Err(error(405, "Method Not Allowed")),
            _ => Err(error(404, "Not Found")),
        }
    }

    fn failure(&self, failure: Failure) -> HttpResponse {
        match failure {
            Failure::Throttled => error(429, "too many requests").with("retry-after", RETRY_AFTER),
            Failure::Broken(503) => error(503, "the server is busy, try again"),
            Failure::Broken(status) => error(status, "internal error"),
            Failure::TooLarge => error(413, "the request is too large"),
            Failure::Incomplete => error(400, "the request is incomplete"),
        }
    }
}

fn error(status: u16, message: &str) -> HttpResponse {
    HttpResponse::json(status, &json!({"error": message}))
}

fn bad_request(message: &str) -> HttpResponse {
    error(400, message)
}

fn healthy() -> HttpResponse {
    HttpResponse { body: Vec::new(), ..HttpResponse::json(200, &Value::Null) }
}

fn server() -> Value {
    json!({"name": "faultlens", "version": env!("CARGO_PKG_VERSION"),
        "extensions": ["binary_tensor_data"]})
}

/// The rest of the path behind the model and its version, if both are served here.
fn versioned<'a, 'b>(
    name: &str,
    rest: &'a [&'b str],
    model: ModelView<'_>,
) -> Result<&'a [&'b str], HttpResponse> {
    if name != model.served.name() {
        return Err(error(404, &format!("Request for unknown model: '{name}' is not found")));
    }
    match rest {
        ["versions", version, ..] if *version != model.version() => {
            let why = format!("Request for unknown model: '{name}' version {version} is not found");
            Err(error(404, &why))
        }
        ["versions", _, rest @ ..] => Ok(rest),
        rest => Ok(rest),
    }
}

fn metadata(model: ModelView<'_>) -> Value {
    let graph = model.served.target().model().graph();
    json!({"name": model.served.name(), "versions": [model.version()], "platform": "onnx_faultlens",
        "inputs": tensor_metadata(graph, graph.inputs()),
        "outputs": tensor_metadata(graph, graph.outputs())})
}

fn tensor_metadata(graph: &Graph, ids: &[ValueId]) -> Vec<Value> {
    let tensors = ids.iter().map(|&id| {
        json!({"name": graph.value_name(id), "datatype": datatype(graph, id),
            "shape": shape(graph, id)})
    });
    tensors.collect()
}

fn datatype(graph: &Graph, id: ValueId) -> &'static str {
    graph.declared_dtype(id).map_or("FP32", tensors::name)
}

/// The shape; sizes that are not fixed are reported as -1.
fn shape(graph: &Graph, id: ValueId) -> Vec<i64> {
    let dims = graph.declared_shape(id).unwrap_or_default().iter();
    let sizes = dims.map(|dim| match dim {
        Dim::Fixed(size) => i64::try_from(*size).unwrap_or(-1),
        _ => -1,
    });
    sizes.collect()
}

fn infer(http: &HttpRequest, model: ModelView<'_>) -> Result<HttpResponse, HttpResponse> {
    let length = match http.header(JSON_LENGTH) {
        "" => http.body.len(),
        text => text
            .parse()
            .map_err(|_| bad_request("Inference-Header-Content-Length is not a number"))?,
    };
    let Some((head, mut raw)) = http.body.split_at_checked(length) else {
        return Err(bad_request("Inference-Header-Content-Length exceeds the request"));
    };
    let request: Request = serde_json::from_slice(head)
        .map_err(|why| bad_request(&format!("failed to parse the request JSON buffer: {why}")))?;
    let mut feeds: Vec<(&str, Tensor)> = Vec::new();
    for input in &request.inputs {
        let tensor = input_tensor(input, &mut raw);
        feeds.push((
            &input.name,
            tensor.map_err(|why| bad_request(&format!("input '{}': {why}", input.name)))?,
        ));
    }
    if !raw.is_empty() {
        return Err(bad_request(&format!("{} bytes belong to no input", raw.len())));
    }
    let graph = model.served.target().model().graph();
    let names: Vec<&str> = graph.outputs().iter().map(|&id| graph.value_name(id)).collect();
    let unknown = request.outputs.iter().find(|output| !names.contains(&output.name.as_str()));
    if let Some(output) = unknown {
        return Err(bad_request(&format!(
            "unexpected inference output '{}' for model",
            output.name
        )));
    }
    let outputs = model.run(&feeds).map_err(|why| bad_request(&why))?;
    let outputs: Vec<(&str, &Tensor)> = names.into_iter().zip(&outputs).collect();
    inference_response(&request, &outputs, model)
}

/// An input's tensor, from JSON or from the front of the raw bytes.
fn input_tensor(input: &Input, raw: &mut &[u8]) -> Result<Tensor, String> {
    let kind = tensors::kind(&input.datatype)
        .ok_or_else(|| format!("the datatype {} is not supported", input.datatype))?;
    let data = match (input.parameters.get("binary_data_size"), &input.data) {
        (Some(size), _) => {
            let size = size.as_u64().and_then(|size| usize::try_from(size).ok());
            let split = size.and_then(|size| raw.split_at_checked(size));
            let (own, rest) = split.ok_or("binary_data_size exceeds the request")?;
            *raw = rest;
            tensors::from_bytes(kind, own)?
        }
        (None, Some(data)) => tensors::from_json(kind, data)?,
        (None, None) => return Err("it has no data".to_owned()),
    };
    Tensor::new(input.shape.clone(), data).map_err(|error| error.to_string())
}

fn flag(parameters: &Map<String, Value>, key: &str) -> Option<bool> {
    parameters.get(key).and_then(Value::as_bool)
}

fn inference_response(
    request: &Request,
    outputs: &[(&str, &Tensor)],
    model: ModelView<'_>,
) -> Result<HttpResponse, HttpResponse> {
    let all_binary = flag(&request.parameters, "binary_data_output").unwrap_or(false);
    let mut entries = Vec::new();
    let mut raw = Vec::new();
    for (name, tensor) in outputs {
        let requested = request.outputs.iter().find(|output| output.name == *name);
        if requested.is_none() && !request.outputs.is_empty() {
            continue;
        }
        let binary = requested
            .and_then(|output| flag(&output.parameters, "binary_data"))
            .unwrap_or(all_binary);
        let mut entry = json!({"name": name, "shape": tensor.shape(),
            "datatype": tensors::name(tensor.dtype())});
        if binary {
            let before = raw.len();
            tensors::to_bytes(tensor.data(), &mut raw);
            entry["parameters"] = json!({"binary_data_size": raw.len() - before});
        } else {
            let why = "holds numbers that JSON cannot; ask for binary data";
            let data = tensors::to_json(tensor.data());
            entry["data"] = data.ok_or_else(|| error(400, &format!("output '{name}' {why}")))?;
        }
        entries.push(entry);
    }
    let mut head = json!({"model_name": model.served.name(), "model_version": model.version(),
        "outputs": entries});
    if let Some(id) = &request.id {
        head["id"] = id.as_str().into();
    }
    let mut answer = HttpResponse::json(200, &head);
    if !raw.is_empty() {
        let length = answer.body.len().to_string();
        answer.body.extend(raw);
        answer.content_type = "application/octet-stream";
        answer = answer.with(JSON_LENGTH, length);
    }
    Ok(answer)
}
